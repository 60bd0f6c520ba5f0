// Contacts: the list.
//
// State: {next_id, contacts: [{id, name, first, last, phone, phone_type, email, favourite}]}. `name` is how the contact
// is shown, everywhere: also in messages, which read this state.
import { avatar, bar, h, iconButton, row, show } from "/common/elements.js";
import { icon } from "/common/icons.js";

let query = "";

const byName = (a, b) => a.name.localeCompare(b.name, "en");
const digits = (text) => text.replace(/\D/g, "");

function letter(contact) {
  const first = contact.name.normalize("NFD")[0].toUpperCase();
  return /[A-Z]/.test(first) ? first : "#";
}

function found() {
  const wanted = query.trim().toLocaleLowerCase();
  const plain = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLocaleLowerCase();
  return phone.state.contacts
    .filter(
      (contact) =>
        plain(`${contact.name} ${contact.first} ${contact.last} ${contact.email}`).includes(plain(wanted)) ||
        (digits(wanted) !== "" && digits(contact.phone).includes(digits(wanted))),
    )
    .sort(byName);
}

function contactRow(contact, section) {
  return h(
    "li",
    {},
    row({
      id: `${section}_${contact.id}`,
      lead: avatar(contact.name),
      title: contact.name,
      onclick: () => phone.start(".ContactDetailsActivity", { contact: contact.id }),
    }),
  );
}

function list() {
  const contacts = found();
  if (!contacts.length)
    return [h("p", { id: "empty", class: "empty" }, query ? `No contacts match “${query}”` : "No contacts yet")];
  if (query)
    return [
      h(
        "ul",
        { class: "list" },
        contacts.map((each) => contactRow(each, "contact")),
      ),
    ];
  const favourites = contacts.filter((each) => each.favourite);
  const letters = Map.groupBy(contacts, letter);
  const order = [...letters.keys()].sort((a, b) => (a === "#") - (b === "#") || a.localeCompare(b));
  return [
    favourites.length > 0 && [
      h("h2", {}, "Favourites"),
      h(
        "ul",
        { class: "list" },
        favourites.map((each) => contactRow(each, "favourite")),
      ),
    ],
    order.map((each) => [
      h("h2", {}, each),
      h(
        "ul",
        { class: "list" },
        letters.get(each).map((one) => contactRow(one, "contact")),
      ),
    ]),
  ].flat(3);
}

function refresh() {
  document.querySelector("main").replaceChildren(...list().filter(Boolean));
  document.getElementById("clear_search").hidden = query === "";
}

const input = h("input", {
  id: "search",
  type: "search",
  placeholder: "Search contacts",
  "aria-label": "Search contacts",
  autocomplete: "off",
});
function search(text) {
  query = input.value = text;
  refresh();
}
input.addEventListener("input", () => search(input.value));
const clear = iconButton({
  id: "clear_search",
  icon: "close",
  label: "Clear search",
  hidden: true,
  onclick: () => search(""),
});

phone.onBack = () => {
  if (!query) return false;
  search("");
  return true;
};
phone.onresume = refresh;
show(
  bar({ title: "Contacts", up: null }),
  h("div", { class: "bar search" }, input, clear),
  h("main", {}),
  h(
    "button",
    {
      id: "new_contact",
      class: "fab",
      "aria-label": "Create contact",
      onclick: () => phone.start(".ContactEditorActivity"),
    },
    icon("plus"),
  ),
);
refresh();
