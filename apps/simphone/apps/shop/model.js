// What the shop sells and what is in the basket. Money is in cents.
export const CATEGORIES = ["Audio", "Phones", "Kitchen", "Home", "Sports", "Books"];
const FREE_FROM = 5000;

export const DELIVERIES = {
  standard: {
    title: "Standard delivery",
    summary: "3–5 working days",
    cents: (subtotal) => (subtotal >= FREE_FROM ? 0 : 399),
  },
  express: { title: "Express delivery", summary: "Next working day", cents: () => 799 },
  pickup: { title: "Collect in store", summary: "Harbour Street, from tomorrow", cents: () => 0 },
};

// What is asked for delivery.
export const fee = (cents) => (cents === 0 ? "Free" : pounds(cents));
export const pounds = (cents) => `£${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, "0")}`;

export const product = (id) => phone.state.products.find((each) => each.id === id);
export const items = () => phone.state.basket.reduce((sum, line) => sum + line.quantity, 0);
export const subtotal = () => phone.state.basket.reduce((sum, line) => sum + line.price * line.quantity, 0);
// How many more of a product can be bought, whatever variant the basket holds of it.
export const available = ({ id, stock }) =>
  stock - phone.state.basket.filter((line) => line.product === id).reduce((sum, line) => sum + line.quantity, 0);

export function add({ id, name, price }, variant, quantity) {
  const line = phone.state.basket.find((each) => each.product === id && each.variant === variant);
  if (line) line.quantity += quantity;
  else phone.state.basket.push({ id: phone.state.next_line++, product: id, name, variant, price, quantity });
  return phone.save();
}

// The basket becomes an order, which is returned.
export function order({ address, delivery, payment }) {
  const lines = phone.state.basket;
  const before = subtotal();
  const delivery_cents = DELIVERIES[delivery].cents(before);
  const placed = {
    number: `S-${phone.state.next_order++}`,
    date: "2 Mar 2026",
    status: "Confirmed",
    lines,
    subtotal: before,
    delivery,
    delivery_cents,
    total: before + delivery_cents,
    payment,
    address,
  };
  for (const line of lines) product(line.product).stock -= line.quantity;
  phone.state.orders.push(placed);
  phone.state.basket = [];
  return placed;
}
