// Messages: one conversation, with a contact or a number.
import { bar, clock, h, iconButton, show } from "/common/elements.js";
import { deliver } from "./delivery.js";
import { nameOf, same } from "./people.js";

const { address, data = "", body, sms_body } = phone.extras;
const number = address ?? decodeURIComponent(data.replace(/^sms(to)?:/, "").split("?")[0]);

const conversation = () => phone.state.conversations.find((each) => same(each.number, number));

const text = h("textarea", {
  id: "compose_message_text",
  rows: 1,
  placeholder: "Text message",
  "aria-label": "Text message",
  value: body ?? sms_body ?? "",
});
const button = iconButton({ id: "send_message", icon: "send", label: "Send message", onclick: send });
const enable = () => (button.disabled = text.value.trim() === "");
text.addEventListener("input", enable);

async function send() {
  const message = { id: phone.state.next_message++, mine: true, text: text.value.trim() };
  text.value = "";
  enable();
  if (!conversation())
    phone.state.conversations.push({ id: phone.state.next_conversation++, number, unread: 0, messages: [] });
  conversation().messages.push(message);
  await hand(message);
}

// Gives a message to the network, for the first time or again.
async function hand(message) {
  phone.state.minute += 1;
  const fails = phone.state.send_failures > 0;
  if (fails) phone.state.send_failures -= 1;
  Object.assign(message, { time: clock(phone.state.minute), status: "sending", fails });
  render();
  await Promise.all([fails || phone.log("sent", { to: number, text: message.text }), phone.save()]);
  deliver(render);
}

async function remove() {
  const answer = await phone.dialog({
    title: "Delete this conversation?",
    text: "It cannot be undone.",
    buttons: ["Cancel", "Delete"],
  });
  if (answer !== 1) return;
  phone.state.conversations = phone.state.conversations.filter((each) => !same(each.number, number));
  await phone.save();
  phone.toast("Conversation deleted");
  phone.finish();
}

function bubble(message) {
  const attributes = { id: `message_${message.id}`, class: message.mine ? "bubble mine" : "bubble" };
  if (message.status !== "failed") return h("div", attributes, message.text);
  return h("button", { ...attributes, onclick: () => hand(message) }, message.text);
}

const STATUS = { sending: "Sending…", sent: "Sent", failed: "Not sent. Tap to try again." };

function messages() {
  const all = conversation()?.messages ?? [];
  return all.map((message, at) => {
    const state = message.mine && (at === all.length - 1 || message.status !== "sent") && STATUS[message.status];
    return [
      message.time !== all[at - 1]?.time && h("p", { class: "time quiet" }, message.time),
      bubble(message),
      state &&
        h(
          "p",
          {
            id: `status_${message.id}`,
            class: message.status === "failed" ? "status error" : "status quiet",
          },
          state,
        ),
    ];
  });
}

function render() {
  const main = document.querySelector("main");
  main.replaceChildren(...messages().flat().filter(Boolean));
  main.scrollTop = main.scrollHeight;
}

async function appear() {
  render();
  deliver(render);
  if (conversation()?.unread) {
    conversation().unread = 0;
    await phone.save();
  }
}

const call = () => phone.start("android.intent.action.CALL", { number });
show(
  bar({
    title: nameOf(number),
    actions: [
      iconButton({ id: "call", icon: "call", label: "Call", onclick: call }),
      iconButton({ id: "delete", icon: "delete", label: "Delete conversation", onclick: remove }),
    ],
  }),
  h("main", { class: "thread" }),
  h("footer", { class: "compose" }, text, button),
);
enable();
phone.onresume = appear;
appear();
// The keyboard takes half of the screen: what was said last stays in sight.
addEventListener("resize", () => (document.querySelector("main").scrollTop = 1e6));
