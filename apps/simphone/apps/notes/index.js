// Notes: the list.
//
// State: {minute, next_id, notes: [{id, title, body, pinned, edited, changed}]}. `minute` counts the minutes of the day
// at which something was edited; `edited` is that time as text, `changed` as a number that orders the list.
import { bar, h, iconButton, onLongPress, row, show, snackbar } from "/common/elements.js";
import { icon } from "/common/icons.js";

let query = "";
let searching = false;
let removed = null; // what the editor deleted, until the list has said so
const selected = new Set();

const firstLine = (note) => note.body.split("\n").find((line) => line.trim()) ?? "";

function found() {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return phone.state.notes
    .filter((note) => words.every((word) => `${note.title}\n${note.body}`.toLowerCase().includes(word)))
    .sort((a, b) => b.pinned - a.pinned || b.changed - a.changed);
}

function noteRow(note) {
  const open = () => (selected.size ? toggle(note.id) : phone.start(".EditorActivity", { note: note.id }));
  const element = row({
    id: `note_${note.id}`,
    class: selected.has(note.id) ? "row selected" : "row",
    "aria-selected": selected.size > 0 && String(selected.has(note.id)),
    title: note.title || firstLine(note),
    summary: note.title ? firstLine(note) : "",
    end: h(
      "span",
      { class: "end" },
      note.pinned && h("span", { role: "img", "aria-label": "Pinned" }, icon("pin")),
      note.edited,
    ),
    onclick: open,
  });
  onLongPress(element, () => toggle(note.id));
  return h("li", {}, element);
}

function list() {
  const notes = found();
  const pinned = notes.filter((note) => note.pinned);
  const others = notes.filter((note) => !note.pinned);
  if (!notes.length)
    return [h("p", { id: "empty", class: "empty" }, query ? `No notes match “${query}”` : "No notes yet")];
  return [
    pinned.length > 0 && [h("h2", {}, "Pinned"), h("ul", { class: "list" }, pinned.map(noteRow))],
    others.length > 0 && [pinned.length > 0 && h("h2", {}, "Others"), h("ul", { class: "list" }, others.map(noteRow))],
  ].flat();
}

function header() {
  if (selected.size) {
    const allPinned = chosen().every((note) => note.pinned);
    return bar({
      title: `${selected.size} selected`,
      up: clearSelection,
      actions: [
        iconButton({
          id: "pin_selected",
          icon: "pin",
          label: allPinned ? "Unpin" : "Pin",
          filled: allPinned,
          onclick: () => pin(!allPinned),
        }),
        iconButton({ id: "delete_selected", icon: "delete", label: "Delete", onclick: removeSelected }),
      ],
    });
  }
  if (searching) {
    const input = h("input", {
      id: "search",
      type: "search",
      placeholder: "Search notes",
      value: query,
      autocomplete: "off",
    });
    input.addEventListener("input", () => {
      query = input.value;
      document.querySelector("main").replaceChildren(...list().flat().filter(Boolean));
    });
    return h(
      "header",
      { class: "bar" },
      iconButton({ id: "close_search", icon: "back", label: "Close search", onclick: closeSearch }),
      input,
    );
  }
  return bar({
    title: "Notes",
    up: null,
    actions: [iconButton({ id: "open_search", icon: "search", label: "Search", onclick: openSearch })],
  });
}

function render() {
  show(
    header(),
    h("main", {}, list().flat()),
    selected.size === 0 &&
      h(
        "button",
        {
          id: "new_note",
          class: "fab",
          "aria-label": "New note",
          onclick: () => phone.start(".EditorActivity"),
        },
        icon("plus"),
      ),
  );
}

function openSearch() {
  searching = true;
  render();
  document.getElementById("search").focus();
}

function closeSearch() {
  searching = false;
  query = "";
  render();
}

const chosen = () => phone.state.notes.filter((note) => selected.has(note.id));

function toggle(id) {
  if (!selected.delete(id)) selected.add(id);
  render();
}

function clearSelection() {
  selected.clear();
  render();
}

async function pin(pinned) {
  for (const note of chosen()) note.pinned = pinned;
  await phone.save();
  clearSelection();
}

async function removeSelected() {
  const count = selected.size;
  const title = count === 1 ? "Delete note?" : `Delete ${count} notes?`;
  if ((await phone.dialog({ title, text: "You can undo this for a short time.", buttons: ["Cancel", "Delete"] })) !== 1)
    return;
  const notes = chosen();
  phone.state.notes = phone.state.notes.filter((note) => !selected.has(note.id));
  await phone.save();
  clearSelection();
  offerUndo(notes);
}

function offerUndo(notes) {
  const restore = async () => {
    phone.state.notes.push(...notes);
    await phone.save();
    render();
  };
  snackbar(notes.length === 1 ? "Note deleted" : `${notes.length} notes deleted`, {
    action: "Undo",
    onaction: restore,
  });
}

phone.onBack = () => {
  if (selected.size) clearSelection();
  else if (searching) closeSearch();
  else return false;
  return true;
};
phone.onresult = (result) => (removed = result.deleted);
phone.onresume = () => {
  render();
  if (removed) offerUndo([removed]);
  removed = null;
};
render();
