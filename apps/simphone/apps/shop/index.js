// Shop: the products.
//
// State: {popup_shown, payment_delay_ms, payment_declines, signed_in,
//         account: {name, email, pin, address: {name, street, city, postcode, phone}},
//         next_line, basket: [{id, product, name, variant, price, quantity}],
//         next_order, orders: [{number, date, status, lines, subtotal, delivery, delivery_cents, total, payment, address}],
//         products: [{id, name, category, price, rating, stock, variant?: {name, options, sold_out}, description}]}.
// Prices are in cents. The next `payment_declines` payments by card are declined; an answer takes `payment_delay_ms`.
// The record has, for each tap on the pay button that arrived with valid fields, one {kind: "payment", data: {method,
// amount, card, status: accepted | declined}} if it was by card, and one {kind: "order", data: the order} if it went through.
import { bar, field, h, iconButton, modal, row, show } from "/common/elements.js";
import { icon } from "/common/icons.js";
import { CATEGORIES, pounds } from "./model.js";
import { basketButton, tile } from "./parts.js";

const ORDERS = {
  Featured: (a, b) => a.id - b.id,
  "Price: low to high": (a, b) => a.price - b.price,
  "Price: high to low": (a, b) => b.price - a.price,
  "Customer rating": (a, b) => b.rating - a.rating,
  Name: (a, b) => a.name.localeCompare(b.name, "en"),
};
const NOTHING = { in_stock: false, most: "", rating: "0" };
let query = "";
let category = null;
let order = "Featured";
let filter = { ...NOTHING };

function found() {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return phone.state.products
    .filter(
      (each) =>
        (category === null || each.category === category) &&
        words.every((word) => `${each.name} ${each.category} ${each.description}`.toLowerCase().includes(word)) &&
        (!filter.in_stock || each.stock > 0) &&
        (filter.most === "" || each.price <= Number(filter.most) * 100) &&
        each.rating >= Number(filter.rating),
    )
    .sort((a, b) => ORDERS[order](a, b) || a.id - b.id);
}

function productRow(each) {
  return h(
    "li",
    {},
    row({
      id: `product_${each.id}`,
      lead: tile(each),
      title: each.name,
      summary: `★ ${each.rating.toFixed(1)} · ${each.stock > 0 ? (each.stock <= 5 ? `Only ${each.stock} left` : "In stock") : "Out of stock"}`,
      end: h("span", { class: "price" }, pounds(each.price)),
      onclick: () => phone.start(".ProductActivity", { product: each.id }),
    }),
  );
}

function refresh() {
  const products = found();
  document
    .getElementById("products")
    .replaceChildren(
      h("p", { id: "count", class: "quiet" }, `${products.length} ${products.length === 1 ? "product" : "products"}`),
      products.length
        ? h("ul", { class: "list" }, products.map(productRow))
        : h("p", { id: "empty", class: "empty" }, "Nothing matches. Try fewer words or filters."),
    );
  document.querySelector("main").scrollTop = 0;
}

async function chooseFilter() {
  const answer = await modal("Filter", (close) => {
    const stock = h("input", { id: "in_stock", type: "checkbox", "aria-label": "In stock only" });
    stock.checked = filter.in_stock;
    const rating = h(
      "select",
      { id: "rating", "aria-label": "Customer rating" },
      ["0", "3.5", "4", "4.5"].map((each) => h("option", { value: each }, each === "0" ? "Any" : `${each} and up`)),
    );
    rating.value = filter.rating;
    const most = field({
      id: "most",
      label: "Highest price (£)",
      type: "number",
      inputmode: "numeric",
      value: filter.most,
    });
    const entered = () => ({
      in_stock: stock.checked,
      most: most.querySelector("input").value,
      rating: rating.value,
    });
    return [
      h("label", { class: "check" }, stock, "In stock only"),
      h("label", { class: "field" }, h("span", {}, "Customer rating"), rating),
      most,
      h(
        "div",
        { class: "buttons" },
        h("button", { id: "reset_filter", class: "text", onclick: () => close({ ...NOTHING }) }, "Reset"),
        h("button", { id: "apply_filter", class: "primary", onclick: () => close(entered()) }, "Apply"),
      ),
    ];
  });
  if (answer) filter = answer;
  render();
}

async function promote() {
  phone.state.popup_shown = true;
  await phone.save();
  const offers = await modal("Spring sale", (close) => [
    h("p", {}, "Free standard delivery on every order of £50 or more. Today only: look at what is new in Audio."),
    h(
      "div",
      { class: "buttons" },
      h("button", { id: "no_thanks", class: "text", onclick: () => close(false) }, "No thanks"),
      h("button", { id: "show_offers", class: "primary", onclick: () => close(true) }, "Show offers"),
    ),
  ]);
  if (offers) chooseCategory("Audio");
}

function chooseCategory(name) {
  category = name;
  render();
}

function chip(name, label) {
  const id = `category_${label.toLowerCase()}`;
  return h(
    "button",
    { id, class: "chip", "aria-pressed": String(category === name), onclick: () => chooseCategory(name) },
    label,
  );
}

function render() {
  const scrolled = document.querySelector(".strip")?.scrollLeft ?? 0;
  const input = h("input", {
    id: "search",
    type: "search",
    placeholder: "Search the shop",
    "aria-label": "Search the shop",
    value: query,
    autocomplete: "off",
  });
  input.addEventListener("input", () => {
    query = input.value;
    refresh();
  });
  const sort = h(
    "select",
    { id: "sort", "aria-label": "Sort by" },
    Object.keys(ORDERS).map((each) => h("option", { value: each }, each)),
  );
  sort.value = order;
  sort.addEventListener("change", () => {
    order = sort.value;
    refresh();
  });
  const filtered = JSON.stringify(filter) !== JSON.stringify(NOTHING);
  const position = document.querySelector("main")?.scrollTop ?? 0;
  show(
    bar({
      title: "Shop",
      up: null,
      actions: [
        iconButton({
          id: "account",
          icon: "person",
          label: "Account",
          onclick: () => phone.start(".AccountActivity"),
        }),
        basketButton(),
      ],
    }),
    h(
      "main",
      {},
      h("div", { class: "tools" }, input),
      h(
        "div",
        { class: "strip" },
        chip(null, "All"),
        CATEGORIES.map((each) => chip(each, each)),
      ),
      h(
        "div",
        { class: "tools" },
        sort,
        h(
          "button",
          { id: "filter", "aria-pressed": String(filtered), onclick: chooseFilter },
          icon("filter"),
          filtered ? "Filtered" : "Filter",
        ),
      ),
      h("div", { id: "products" }),
    ),
  );
  refresh();
  document.querySelector(".strip").scrollLeft = scrolled;
  document.querySelector("main").scrollTop = position;
}

phone.onBack = () => {
  if (!query && category === null) return false;
  query = "";
  chooseCategory(null);
  return true;
};
phone.onresume = render;
render();
if (!phone.state.popup_shown) promote();
