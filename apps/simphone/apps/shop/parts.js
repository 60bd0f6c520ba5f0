// What several pages of the shop are made of.
import { avatar, h, iconButton } from "/common/elements.js";
import { items } from "./model.js";

export const tile = ({ name, category }, size = "") => avatar(name, `tile ${category} ${size}`);

export function basketButton() {
  const count = items();
  const label = count ? `Basket, ${count} ${count === 1 ? "item" : "items"}` : "Basket, empty";
  const button = iconButton({
    id: "basket",
    class: "icon basket",
    icon: "basket",
    label,
    onclick: () => phone.start(".BasketActivity"),
  });
  if (count) button.append(h("span", { id: "basket_count", class: "badge" }, String(count)));
  return button;
}

// A number between two buttons. `id` is that of the number; `change` gets the new one.
export function stepper({ id, label, value, max, change }) {
  return h(
    "div",
    { class: "stepper", role: "group", "aria-label": label },
    iconButton({
      id: `${id}_less`,
      icon: "minus",
      label: `Decrease ${label.toLowerCase()}`,
      disabled: value <= 1,
      onclick: () => change(value - 1),
    }),
    h("output", { id }, String(value)),
    iconButton({
      id: `${id}_more`,
      icon: "plus",
      label: `Increase ${label.toLowerCase()}`,
      disabled: value >= max,
      onclick: () => change(value + 1),
    }),
  );
}

export const sum = (id, title, text, more = "") =>
  h("div", { class: `line ${more}` }, h("span", {}, title), h("span", { id }, text));
