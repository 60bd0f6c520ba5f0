// Shop: address, delivery, payment.
import { bar, field, h, radioRow, show } from "/common/elements.js";
import { DELIVERIES, fee, order, pounds, subtotal } from "./model.js";
import { sum } from "./parts.js";
import { PROBLEMS } from "./validation.js";

const PAYMENTS = { card: "Credit or debit card", on_delivery: "Pay on delivery" };
const { signed_in: known, account } = phone.state;

let delivery = "standard";
let payment = "card";
let bill = null; // the subtotal that is being paid, while the answer is awaited: the basket is empty by then
let errors = {};
let declined = false;
const entered = {
  name: "",
  street: "",
  city: "",
  postcode: "",
  phone: "",
  ...(known && account.address),
  card_number: "",
  expiry: "",
  cvc: "",
};

const goods = () => bill ?? subtotal();
const cost = () => DELIVERIES[delivery].cents(goods());
const required = () =>
  Object.keys(PROBLEMS).filter((id) => payment === "card" || !["card_number", "expiry", "cvc"].includes(id));

// One tap is one payment: the button is off before anything else happens, and what happened is on record before the
// answer, which takes its time.
async function pay() {
  if (bill !== null) return;
  const problems = required().map((id) => [id, PROBLEMS[id](entered[id].trim())]);
  errors = Object.fromEntries(problems.filter(([, problem]) => problem));
  declined = false;
  if (Object.keys(errors).length) {
    render();
    document.querySelector(".error").closest(".field").scrollIntoView({ block: "center" });
    return;
  }
  bill = subtotal();
  render();
  const accepted = await charge();
  const placed = accepted ? await place() : null;
  setTimeout(() => answer(placed), phone.state.payment_delay_ms);
}

async function charge() {
  if (payment !== "card") return true;
  const accepted = phone.state.payment_declines <= 0;
  if (!accepted) phone.state.payment_declines -= 1;
  const card = entered.card_number.replace(/\D/g, "").slice(-4);
  await phone.log("payment", {
    method: "card",
    amount: goods() + cost(),
    card,
    status: accepted ? "accepted" : "declined",
  });
  if (!accepted) await phone.save();
  return accepted;
}

async function place() {
  const { name, street, city, postcode, phone: number } = entered;
  const placed = order({ address: { name, street, city, postcode, phone: number }, delivery, payment });
  await Promise.all([phone.log("order", placed), phone.save()]);
  return placed.number;
}

function answer(placed) {
  if (placed) return phone.finish({ placed });
  bill = null;
  declined = true;
  render();
  document.querySelector("main").scrollTop = 1e6;
}

const input = (id, label, attributes = {}) =>
  field({
    id,
    label,
    value: entered[id],
    error: errors[id],
    disabled: bill !== null,
    oninput: (event) => (entered[id] = event.target.value),
    ...attributes,
  });

function radio(group, id, title, rest) {
  return radioRow({ id: `${group}_${id}`, name: group, title, ...rest });
}

function render() {
  if (!goods()) return phone.finish();
  show(
    bar({ title: "Checkout" }),
    h(
      "main",
      {},
      h("h2", {}, "Delivery address"),
      input("name", "Full name"),
      input("street", "Street and number"),
      h("div", { class: "pair" }, input("city", "City"), input("postcode", "Postcode")),
      input("phone", "Phone", { type: "tel" }),
      h("h2", {}, "Delivery"),
      Object.entries(DELIVERIES).map(([id, { title, summary, cents }]) =>
        radio("delivery", id, title, {
          summary,
          checked: delivery === id,
          end: h("span", { class: "price" }, fee(cents(goods()))),
          onchange: () => choose(() => (delivery = id)),
        }),
      ),
      h("h2", {}, "Payment"),
      Object.entries(PAYMENTS).map(([id, title]) =>
        radio("payment", id, title, { checked: payment === id, onchange: () => choose(() => (payment = id)) }),
      ),
      payment === "card" && [
        input("card_number", "Card number", { inputmode: "numeric" }),
        h(
          "div",
          { class: "pair" },
          input("expiry", "Expiry (MM/YY)"),
          input("cvc", "Security code", { inputmode: "numeric" }),
        ),
      ],
      h(
        "div",
        { class: "card" },
        sum("subtotal", "Subtotal", pounds(goods())),
        sum("delivery_cost", "Delivery", fee(cost())),
        sum("total", "Total", pounds(goods() + cost()), "total"),
      ),
      declined &&
        h(
          "p",
          { id: "declined", class: "banner", role: "alert" },
          "Your card was declined. You have not been charged. Try again or use another card.",
        ),
    ),
    h(
      "footer",
      { class: "foot" },
      h("button", { id: "pay", class: "primary", disabled: bill !== null, onclick: pay }, label()),
    ),
  );
}

function label() {
  if (bill !== null) return "Processing…";
  return `${payment === "card" ? "Pay" : "Place order ·"} ${pounds(goods() + cost())}`;
}

function choose(act) {
  if (bill === null) act();
  render();
}

phone.onBack = () => {
  if (bill !== null) phone.toast("Your order is being processed");
  return bill !== null;
};
phone.onresume = render;
render();
