// Shop: one product.
import { bar, h, show, snackbar } from "/common/elements.js";
import { add, available, pounds, product } from "./model.js";
import { basketButton, stepper, tile } from "./parts.js";

let variant = null;
let quantity = 1;
let missing = false; // whether a variant has to be chosen before it can be bought

async function buy() {
  const each = product(phone.extras.product);
  if (each.variant && variant === null) {
    missing = true;
    return render();
  }
  await add(each, variant ?? "", quantity);
  quantity = 1;
  render();
  snackbar("Added to basket", { action: "View basket", onaction: () => phone.start(".BasketActivity") });
}

function variants({ name, options, sold_out: gone }) {
  const choose = (option) => {
    variant = option;
    missing = false;
    render();
  };
  return [
    h("h2", { id: "variant_name" }, name),
    h(
      "div",
      { class: "chips", role: "group", "aria-label": name },
      options.map((option) =>
        h(
          "button",
          {
            id: `variant_${option.toLowerCase().replace(/[^a-z0-9]+/g, "_")}`,
            class: "chip",
            "aria-pressed": String(variant === option),
            disabled: gone.includes(option),
            onclick: () => choose(option),
          },
          gone.includes(option) ? `${option} (sold out)` : option,
        ),
      ),
    ),
    missing && h("p", { id: "variant_error", class: "error", role: "alert" }, `Choose a ${name.toLowerCase()}`),
  ];
}

function render() {
  const each = product(phone.extras.product);
  const left = available(each);
  const change = (value) => {
    quantity = value;
    render();
  };
  show(
    bar({ title: each.category, actions: [basketButton()] }),
    h(
      "main",
      {},
      tile(each, "large"),
      h("p", { id: "name", class: "total" }, each.name),
      h(
        "p",
        {},
        h("span", { id: "price", class: "price" }, pounds(each.price)),
        " · ",
        h("span", { id: "rating", class: "rating" }, `★ ${each.rating.toFixed(1)}`),
      ),
      h(
        "p",
        { id: "stock", class: left > 0 ? "quiet" : "error" },
        left > 0
          ? `${each.stock} in stock`
          : each.stock > 0
            ? "No more in stock: the rest is in your basket"
            : "Out of stock",
      ),
      each.variant && variants(each.variant),
      h("h2", {}, "Description"),
      h("p", { id: "description" }, each.description),
      left > 0 && [
        h("h2", {}, "Quantity"),
        h(
          "div",
          { class: "card line" },
          stepper({ id: "quantity", label: "Quantity", value: Math.min(quantity, left), max: left, change }),
        ),
      ],
    ),
    h(
      "footer",
      { class: "foot" },
      h(
        "button",
        { id: "add_to_basket", class: "primary", disabled: left <= 0, onclick: buy },
        left > 0 ? "Add to basket" : "Out of stock",
      ),
    ),
  );
}

phone.onresume = render;
if (product(phone.extras.product)) render();
else phone.finish();
