// Contacts: one contact.
import { avatar, bar, h, iconButton, row, show } from "/common/elements.js";
import { icon } from "/common/icons.js";

const contact = () => phone.state.contacts.find((each) => each.id === phone.extras.contact);

const call = () => phone.start(".CallActivity", { number: contact().phone });
const message = () => phone.start("com.android.messaging/.ConversationActivity", { address: contact().phone });

async function favour() {
  contact().favourite = !contact().favourite;
  await phone.save();
  phone.toast(contact().favourite ? "Added to favourites" : "Removed from favourites");
  render();
}

async function remove() {
  const answer = await phone.dialog({
    title: "Delete contact?",
    text: `${contact().name} will be removed from this phone.`,
    buttons: ["Cancel", "Delete"],
  });
  if (answer !== 1) return;
  phone.state.contacts = phone.state.contacts.filter((each) => each.id !== phone.extras.contact);
  await phone.save();
  phone.toast("Contact deleted");
  phone.finish();
}

function render() {
  const { id, name, phone: number, phone_type: type, email, favourite } = contact();
  const nothing = !number && !email;
  show(
    bar({
      title: "Contact",
      actions: [
        iconButton({
          id: "favourite",
          icon: "star",
          filled: favourite,
          label: favourite ? "Remove from favourites" : "Add to favourites",
          "aria-pressed": String(favourite),
          onclick: favour,
        }),
        iconButton({
          id: "edit",
          icon: "edit",
          label: "Edit contact",
          onclick: () => phone.start(".ContactEditorActivity", { contact: id }),
        }),
        iconButton({ id: "delete", icon: "delete", label: "Delete contact", onclick: remove }),
      ],
    }),
    h(
      "main",
      {},
      h("div", { class: "portrait" }, avatar(name), h("h2", { id: "name" }, name)),
      number
        ? h(
            "div",
            { class: "buttons actions" },
            h("button", { id: "call", onclick: call }, icon("call"), "Call"),
            h("button", { id: "message", onclick: message }, icon("message"), "Message"),
          )
        : null,
      h(
        "div",
        { class: "card" },
        h("h3", {}, "Contact info"),
        number ? row({ id: "phone", lead: icon("call"), title: number, summary: type, onclick: call }) : null,
        email
          ? h(
              "div",
              { id: "email", class: "row" },
              icon("mail"),
              h("span", { class: "title" }, email),
              h("span", { class: "summary" }, "E-mail"),
            )
          : null,
        nothing ? h("p", { class: "quiet" }, "No phone number and no e-mail address") : null,
      ),
    ),
  );
}

phone.onresume = () => (contact() ? render() : phone.finish());
if (contact()) render();
else phone.finish();
