// Shop: an order, just placed or long ago.
import { bar, h, show } from "/common/elements.js";
import { icon } from "/common/icons.js";
import { DELIVERIES, fee, pounds } from "./model.js";
import { sum } from "./parts.js";

const { number, placed } = phone.extras;
const order = phone.state.orders.find((each) => each.number === number);

function content({ date, status, lines, subtotal, delivery, delivery_cents: cost, total, address }) {
  return [
    placed &&
      h(
        "div",
        { class: "empty" },
        icon("check"),
        h("p", { id: "thanks", class: "total" }, "Thank you for your order!"),
      ),
    h("div", { class: "card" }, sum("order_number", "Order number", number), sum("order_status", status, date)),
    h("h2", {}, "Items"),
    h(
      "ul",
      { class: "card" },
      lines.map((line) =>
        h(
          "li",
          { class: "line", "data-id": `line_${line.id}` },
          h("span", { class: "name" }, `${line.quantity} × ${line.name}${line.variant ? ` · ${line.variant}` : ""}`),
          h("span", { class: "price" }, pounds(line.price * line.quantity)),
        ),
      ),
    ),
    h(
      "div",
      { class: "card" },
      sum("subtotal", "Subtotal", pounds(subtotal)),
      sum("delivery", DELIVERIES[delivery].title, fee(cost)),
      sum("total", "Total", pounds(total), "total"),
    ),
    h("h2", {}, "Delivered to"),
    h("p", { id: "address" }, `${address.name}, ${address.street}, ${address.postcode} ${address.city}`),
  ];
}

if (order) {
  show(
    bar({ title: placed ? "Order confirmed" : `Order ${number}` }),
    h("main", {}, content(order)),
    placed &&
      h(
        "footer",
        { class: "foot" },
        h("button", { id: "continue_shopping", class: "primary", onclick: () => phone.finish() }, "Continue shopping"),
      ),
  );
} else phone.finish();
