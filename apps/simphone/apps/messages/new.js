// Messages: to whom a new conversation goes.
import { avatar, bar, h, row, show } from "/common/elements.js";
import { people } from "./people.js";

const known = people();
const to = h("input", {
  id: "recipient",
  placeholder: "Type a name or phone number",
  "aria-label": "To",
  autocomplete: "off",
});

async function choose(number) {
  await phone.start(".ConversationActivity", {
    address: number,
    body: phone.extras["android.intent.extra.TEXT"] ?? "",
  });
  phone.finish();
}

function list() {
  const wanted = to.value.trim();
  const plain = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLocaleLowerCase();
  const number = /^\+?[\d\s()/-]{3,}$/.test(wanted);
  const digits = wanted.replace(/\D/g, "");
  const found = known.filter(
    (each) => plain(each.name).includes(plain(wanted)) || (number && each.phone.replace(/\D/g, "").includes(digits)),
  );
  return [
    number &&
      row({ id: "send_to_number", lead: avatar("#"), title: `Send to ${wanted}`, onclick: () => choose(wanted) }),
    !number && !found.length && h("p", { id: "empty", class: "empty" }, "No contact has this name"),
    found.length > 0 && h("h2", {}, "Contacts"),
    h(
      "ul",
      { class: "list" },
      found.map((each) =>
        h(
          "li",
          {},
          row({
            id: `contact_${each.id}`,
            lead: avatar(each.name),
            title: each.name,
            summary: `${each.phone} · ${each.phone_type}`,
            onclick: () => choose(each.phone),
          }),
        ),
      ),
    ),
  ];
}

const refresh = () => document.querySelector("main").replaceChildren(...list().filter(Boolean));
to.addEventListener("input", refresh);
show(bar({ title: "New conversation" }), h("label", { class: "field" }, h("span", {}, "To"), to), h("main", {}));
refresh();
to.focus();
