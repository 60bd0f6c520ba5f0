// Notes: one note. It is saved with every change; a note without any text is none.
import { bar, clock, h, iconButton, show } from "/common/elements.js";

let id = phone.extras.note ?? null;
let edited = false;
let saving = Promise.resolve(); // one after the other: the last state is the one that stays

const note = () => phone.state.notes.find((each) => each.id === id);
const title = h("input", {
  id: "title",
  placeholder: "Title",
  "aria-label": "Title",
  autocomplete: "off",
  value: note()?.title ?? phone.extras.title ?? "",
});
const body = h("textarea", {
  id: "body",
  placeholder: "Note",
  "aria-label": "Note",
  value: note()?.body ?? phone.extras.text ?? "",
});

function change() {
  if (!note()) {
    id = phone.state.next_id++;
    phone.state.notes.push({ id, title: "", body: "", pinned: false, edited: "", changed: 0 });
  }
  if (!edited) {
    edited = true;
    phone.state.minute += 1;
    Object.assign(note(), { edited: clock(phone.state.minute), changed: phone.state.minute });
  }
  Object.assign(note(), { title: title.value, body: body.value });
  saving = saving.then(() => phone.save());
}

// Everything is saved, or there was nothing to save.
async function settle() {
  await saving;
  if (note() && !note().title.trim() && !note().body.trim()) {
    phone.state.notes = phone.state.notes.filter((each) => each.id !== id);
    await phone.save();
    phone.toast("Empty note discarded");
  }
}

async function leave() {
  await settle();
  phone.finish();
}

async function remove() {
  const answer = await phone.dialog({
    title: "Delete note?",
    text: "You can undo this for a short time.",
    buttons: ["Cancel", "Delete"],
  });
  if (answer !== 1) return;
  await saving;
  const deleted = note();
  phone.state.notes = phone.state.notes.filter((each) => each.id !== id);
  await phone.save();
  phone.finish(deleted ? { deleted } : null);
}

async function pin() {
  if (!note()) change();
  note().pinned = !note().pinned;
  saving = saving.then(() => phone.save());
  phone.toast(note().pinned ? "Pinned" : "Unpinned");
  header();
}

function header() {
  const pinned = Boolean(note()?.pinned);
  document.querySelector("header").replaceWith(
    bar({
      title: id === null ? "New note" : "Edit note",
      up: leave,
      actions: [
        iconButton({
          id: "pin",
          icon: "pin",
          label: pinned ? "Unpin" : "Pin",
          filled: pinned,
          "aria-pressed": String(pinned),
          onclick: pin,
        }),
        iconButton({ id: "delete", icon: "delete", label: "Delete", onclick: remove }),
      ],
    }),
  );
}

title.addEventListener("input", change);
body.addEventListener("input", change);
phone.onBack = async () => {
  await settle();
  return false;
};
show(h("header"), h("main", { class: "editor" }, title, body));
header();
if (id === null) {
  body.focus();
  if (title.value || body.value) change();
}
