// Contacts: a call. It is only ever dialled; the record says to whom.
import { avatar, h, show } from "/common/elements.js";

const { data = "", number = decodeURIComponent(data.replace(/^tel:/, "")) } = phone.extras;
const known = phone.state.contacts.find((each) => each.phone === number);

show(
  h(
    "main",
    {},
    h("p", { id: "call_state", class: "empty" }, "Calling…"),
    h(
      "div",
      { class: "portrait" },
      avatar(known?.name ?? number),
      h("h2", { id: "name" }, known?.name ?? number),
      known && h("p", { id: "number" }, number),
    ),
    h(
      "div",
      { class: "buttons actions" },
      h("button", { id: "end_call", class: "danger", onclick: () => phone.finish() }, "End call"),
    ),
  ),
);
phone.log("call", { to: number });
