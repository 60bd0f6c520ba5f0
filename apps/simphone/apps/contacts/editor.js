// Contacts: create or edit one.
import { bar, field, h, show } from "/common/elements.js";

const TYPES = ["Mobile", "Home", "Work", "Other"];
const known = () => phone.state.contacts.find((each) => each.id === phone.extras.contact);
const { name = "", phone: number = "", email: mail = "" } = phone.extras;
const given = known() ?? { first: name, last: "", phone: number, phone_type: "Mobile", email: mail };
const before = {
  first: given.first,
  last: given.last,
  phone: given.phone,
  phone_type: given.phone_type,
  email: given.email,
};

const type = h(
  "select",
  { id: "phone_type", "aria-label": "Phone type" },
  TYPES.map((each) => h("option", { value: each }, each)),
);
type.value = given.phone_type;

const value = (id) => document.getElementById(id).value.trim();
const entered = () => ({
  first: value("first"),
  last: value("last"),
  phone: value("phone"),
  phone_type: type.value,
  email: value("email"),
});
const changed = () => JSON.stringify(entered()) !== JSON.stringify(before);

// In Chinese, Japanese and Korean the family name comes first.
function shown({ first, last, phone: number, email }) {
  const eastern = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u.test(first + last);
  return (eastern ? last + first : `${first} ${last}`.trim()) || number || email;
}

function wrong({ first, last, phone: number, email }) {
  if (!first && !last && !number && !email) return ["first", "Enter a name, a number or an e-mail address"];
  if (number && !/^\+?[\d\s()/-]{3,}$/.test(number)) return ["phone", "This is no phone number"];
  if (email && !/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(email)) return ["email", "This is no e-mail address"];
  return null;
}

async function save() {
  const data = entered();
  const problem = wrong(data);
  document.querySelector(".error")?.remove();
  if (problem) {
    const input = document.getElementById(problem[0]);
    input.closest(".field").append(h("p", { id: `${problem[0]}_error`, class: "error", role: "alert" }, problem[1]));
    input.focus();
    return;
  }
  const old = known();
  const contact = {
    id: old?.id ?? phone.state.next_id++,
    name: shown(data),
    ...data,
    favourite: old?.favourite ?? false,
  };
  if (old) Object.assign(old, contact);
  else phone.state.contacts.push(contact);
  await phone.save();
  phone.toast("Contact saved");
  if (!old) await phone.start(".ContactDetailsActivity", { contact: contact.id });
  phone.finish();
}

async function leave() {
  if (changed()) {
    const answer = await phone.dialog({ title: "Discard your changes?", buttons: ["Keep editing", "Discard"] });
    if (answer !== 1) return;
  }
  phone.finish();
}

phone.onBack = () => {
  if (!changed()) return false;
  leave();
  return true;
};
show(
  bar({
    title: known() ? "Edit contact" : "Create contact",
    up: leave,
    actions: [h("button", { id: "save", class: "primary", onclick: save }, "Save")],
  }),
  h(
    "main",
    {},
    field({ id: "first", label: "First name", value: given.first }),
    field({ id: "last", label: "Last name", value: given.last }),
    field({ id: "phone", label: "Phone", type: "tel", value: given.phone }),
    h("label", { class: "field" }, h("span", {}, "Phone type"), type),
    field({ id: "email", label: "E-mail", type: "email", value: given.email }),
  ),
);
