// Shop: the basket.
import { bar, h, iconButton, show, snackbar } from "/common/elements.js";
import { DELIVERIES, available, fee, pounds, product, subtotal } from "./model.js";
import { stepper, sum } from "./parts.js";

async function change(line, quantity) {
  line.quantity = quantity;
  await phone.save();
  render();
}

async function remove(line) {
  const at = phone.state.basket.indexOf(line);
  phone.state.basket.splice(at, 1);
  await phone.save();
  render();
  const restore = async () => {
    phone.state.basket.splice(at, 0, line);
    await phone.save();
    render();
  };
  snackbar(`${line.name} removed`, { action: "Undo", onaction: restore });
}

function card(line) {
  const id = `line_${line.id}`;
  return h(
    "li",
    { class: "card", "data-id": id },
    h(
      "div",
      { class: "line" },
      h("span", { class: "name" }, line.name, line.variant && h("span", { class: "quiet" }, ` · ${line.variant}`)),
      iconButton({
        id: `${id}_remove`,
        icon: "delete",
        label: `Remove ${line.name}`,
        onclick: () => remove(line),
      }),
    ),
    h(
      "div",
      { class: "line" },
      stepper({
        id: `${id}_quantity`,
        label: "Quantity",
        value: line.quantity,
        max: line.quantity + available(product(line.product)),
        change: (value) => change(line, value),
      }),
      h("span", { id: `${id}_price`, class: "price" }, pounds(line.price * line.quantity)),
    ),
  );
}

function render() {
  const before = subtotal();
  const delivery = DELIVERIES.standard.cents(before);
  const full = phone.state.basket.length > 0;
  show(
    bar({ title: "Basket" }),
    h(
      "main",
      {},
      full
        ? [
            h("ul", {}, phone.state.basket.map(card)),
            h(
              "div",
              { class: "card" },
              sum("subtotal", "Subtotal", pounds(before)),
              sum("delivery", "Delivery", fee(delivery)),
              sum("total", "Total", pounds(before + delivery), "total"),
            ),
          ]
        : h("p", { id: "empty", class: "empty" }, "Your basket is empty"),
    ),
    full &&
      h(
        "footer",
        { class: "foot" },
        h(
          "button",
          { id: "checkout", class: "primary", onclick: () => phone.start(".CheckoutActivity") },
          "Go to checkout",
        ),
      ),
  );
}

phone.onresult = async ({ placed }) => {
  await phone.start(".OrderActivity", { number: placed, placed: true });
  phone.finish();
};
phone.onresume = render;
render();
