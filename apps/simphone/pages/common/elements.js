// Building blocks of the apps' pages, in the vocabulary of phone.css. What is given as text stays text.
import { icon } from "./icons.js";

// An element: `h("button", {id: "save", class: "primary", onclick: save}, "Save")`. Attributes that are false, null or
// undefined are left out, true makes an empty one; children may be lists and null.
export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "value") element.value = value;
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat(9).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

// The page's whole content; what is scrolled stays scrolled.
export function show(...children) {
  const scrolled = document.querySelector("main")?.scrollTop ?? 0;
  document.body.replaceChildren(...children.flat().filter(Boolean));
  const main = document.querySelector("main");
  if (main) main.scrollTop = scrolled;
}

export function iconButton({ icon: name, label, filled, ...attributes }) {
  return h("button", { class: "icon", "aria-label": label, ...attributes }, icon(name, { filled }));
}

// The bar at the top. `up` is what its arrow does, null for the first page of an app, which has none.
export function bar({ title, up = () => phone.finish(), actions = [] }) {
  return h(
    "header",
    { class: "bar" },
    up && iconButton({ id: "up", class: "icon back", icon: "back", label: "Navigate up", onclick: up }),
    h("h1", { id: "page_title" }, title),
    actions,
  );
}

// A row of a list. `lead` and `end` are elements or text before and after it.
export function row({ lead, title, summary, end, ...attributes }) {
  return h(
    "button",
    { class: "row", ...attributes },
    lead,
    h("span", { class: "title" }, title),
    summary ? h("span", { class: "summary" }, summary) : null,
    typeof end === "string" ? h("span", { class: "end" }, end) : end,
  );
}

// `onchange` gets the new value. The switch has the id, the row what belongs to it.
export function switchRow({ id, lead, title, summary, checked, disabled, onchange }) {
  const input = h("input", { id, type: "checkbox", class: "switch", role: "switch", disabled, "aria-label": title });
  input.checked = checked;
  input.addEventListener("change", () => onchange(input.checked));
  return h(
    "label",
    { class: "row", id: `${id}_row` },
    lead,
    h("span", { class: "title" }, title),
    summary ? h("span", { class: "summary" }, summary) : null,
    input,
  );
}

// A radio button with its text; `end` stands after it.
export function radioRow({ id, name, title, summary, checked, end, onchange }) {
  const input = h("input", { id, type: "radio", name, "aria-label": title, onchange });
  input.checked = checked;
  return h(
    "label",
    { class: "row", id: `${id}_row` },
    h("span", { class: "lead" }, input),
    h("span", { class: "title" }, title),
    summary ? h("span", { class: "summary" }, summary) : null,
    end,
  );
}

// A labelled input; `error` stands below it.
export function field({ label, tag = "input", error, ...attributes }) {
  return h(
    "label",
    { class: "field" },
    h("span", {}, label),
    h(tag, { "aria-invalid": Boolean(error) && "true", autocomplete: "off", ...attributes }),
    error ? h("p", { id: `${attributes.id}_error`, class: "error", role: "alert" }, error) : null,
  );
}

// A letter in a disc. It is drawn by the style sheet: it is no text of the row that it adorns.
export const avatar = (name, more = "") =>
  h("span", { class: `avatar ${more}`, "aria-hidden": "true", "data-letter": [...name][0]?.toUpperCase() ?? "?" });

// A note at the bottom with at most one action; it goes after ten seconds, or when the next comes.
let gone;
export function snackbar(text, { action, onaction } = {}) {
  document.querySelector(".snackbar")?.remove();
  clearTimeout(gone);
  const note = h("div", { class: "snackbar", role: "status" }, h("span", { id: "snackbar_text" }, text));
  if (action) {
    const act = () => {
      note.remove();
      onaction();
    };
    note.append(h("button", { id: "snackbar_action", onclick: act }, action));
  }
  document.body.append(note);
  gone = setTimeout(() => note.remove(), 10_000);
}

// A finger that rests on `element` for half a second. It counts once, whatever stands below the finger by then, and no
// click follows it.
let pressed = false;
addEventListener("pointerdown", () => (pressed = false), true);
addEventListener(
  "click",
  (event) => {
    if (!pressed) return;
    pressed = false;
    event.stopImmediatePropagation();
    event.preventDefault();
  },
  true,
);

export function onLongPress(element, act) {
  let timer = null;
  const fire = () => {
    clearTimeout(timer);
    if (pressed) return;
    pressed = true;
    act();
  };
  element.addEventListener("pointerdown", () => (timer = setTimeout(fire, 450)));
  for (const end of ["pointerup", "pointercancel", "pointerleave"])
    element.addEventListener(end, () => clearTimeout(timer));
  element.addEventListener("contextmenu", (event) => {
    event.preventDefault();
    fire();
  });
}

// A dialog over the page. `build(close)` gives its content; resolves to what `close` was called with, null after back.
export function modal(title, build) {
  return new Promise((resolve) => {
    const before = phone.onBack;
    const box = h("dialog", { "aria-label": title }, h("h2", { id: "dialog_title" }, title));
    const close = (result) => {
      phone.onBack = before;
      box.close();
      box.remove();
      resolve(result);
    };
    box.append(...build(close));
    box.addEventListener("cancel", (event) => event.preventDefault());
    phone.onBack = () => {
      close(null);
      return true;
    };
    document.body.append(box);
    box.showModal();
  });
}

// A dialog with fields: `[{id, label, type, value, minlength}]`. Resolves to {id: text} or null. The button can be
// tapped as soon as every field is long enough.
export function ask({ title, fields, button = "OK" }) {
  return modal(title, (close) => {
    const inputs = fields.map(({ label, ...rest }) => [label, h("input", { autocomplete: "off", ...rest })]);
    const values = () => Object.fromEntries(inputs.map(([, input]) => [input.id, input.value]));
    const enough = () =>
      inputs.every(([, input]) => input.value.trim().length >= Number(input.getAttribute("minlength") ?? 0));
    const done = h("button", { id: "dialog_ok", class: "text", onclick: () => close(values()) }, button);
    const check = () => (done.disabled = !enough());
    check();
    return [
      ...inputs.map(([label, input]) => {
        input.addEventListener("input", check);
        return h("label", { class: "field" }, h("span", {}, label), input);
      }),
      ...inputs.filter(([, input]) => input.type === "password").map(([, input]) => revealed(input)),
      h(
        "div",
        { class: "buttons" },
        h("button", { id: "dialog_cancel", class: "text", onclick: () => close(null) }, "Cancel"),
        done,
      ),
    ];
  });
}

function revealed(input) {
  const box = h("input", { id: `${input.id}_show`, type: "checkbox", "aria-label": "Show password" });
  box.addEventListener("change", () => (input.type = box.checked ? "text" : "password"));
  return h("label", { class: "check" }, box, "Show password");
}

// Minutes of the day as a clock shows them.
export const clock = (minutes) =>
  `${String(Math.floor(minutes / 60) % 24).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`;
