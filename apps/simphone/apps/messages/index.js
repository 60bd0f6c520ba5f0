// Messages: the conversations.
//
// State: {minute, send_delay_ms, send_failures, next_conversation, next_message,
//         conversations: [{id, number, unread, messages: [{id, mine, text, time, status, fails}]}]}.
// `status` is received, sending, sent or failed. The next `send_failures` messages fail; each one that does not is in the
// record as {kind: "sent", data: {to, text}}. `minute` counts the minutes of the day at which something was sent.
import { avatar, bar, h, iconButton, row, show } from "/common/elements.js";
import { icon } from "/common/icons.js";
import { deliver } from "./delivery.js";
import { nameOf, people } from "./people.js";

let query = null; // null: nothing is searched

const last = (conversation) => conversation.messages.at(-1);

function conversationRow(conversation, known) {
  const { mine, text, time, status } = last(conversation);
  const said = { sending: "Sending… ", failed: "Not sent: " }[status] ?? (mine ? "You: " : "");
  const name = nameOf(conversation.number, known);
  const unread = conversation.unread;
  return h(
    "li",
    {},
    row({
      id: `conversation_${conversation.id}`,
      class: unread ? "row unread" : "row",
      lead: avatar(name),
      title: name,
      summary: said + text.replace(/\s+/g, " "),
      end: h(
        "span",
        { class: "end" },
        h("span", {}, time),
        unread > 0 && h("span", { class: "badge", "aria-label": `${unread} unread` }, String(unread)),
      ),
      onclick: () => phone.start(".ConversationActivity", { address: conversation.number }),
    }),
  );
}

function list() {
  const known = people();
  const words = (query ?? "").trim().toLocaleLowerCase();
  const matches = (each) =>
    `${nameOf(each.number, known)}\n${each.messages.map((one) => one.text).join("\n")}`
      .toLocaleLowerCase()
      .includes(words);
  const found = phone.state.conversations
    .filter((each) => last(each) && matches(each))
    .sort((a, b) => last(b).id - last(a).id);
  if (!found.length)
    return h("p", { id: "empty", class: "empty" }, words ? `Nothing matches “${query}”` : "No conversations yet");
  return h(
    "ul",
    { class: "list" },
    found.map((each) => conversationRow(each, known)),
  );
}

function header() {
  if (query === null)
    return bar({
      title: "Messages",
      up: null,
      actions: [iconButton({ id: "open_search", icon: "search", label: "Search", onclick: () => search("") })],
    });
  const input = h("input", {
    id: "search",
    type: "search",
    placeholder: "Search messages",
    value: query,
    autocomplete: "off",
  });
  input.addEventListener("input", () => {
    query = input.value;
    document.querySelector("main").replaceChildren(list());
  });
  return h(
    "header",
    { class: "bar" },
    iconButton({ id: "close_search", icon: "back", label: "Close search", onclick: () => search(null) }),
    input,
  );
}

function search(text) {
  query = text;
  render();
  document.getElementById("search")?.focus();
}

function render() {
  show(
    header(),
    h("main", {}, list()),
    h(
      "button",
      {
        id: "start_chat",
        class: "fab",
        "aria-label": "Start chat",
        onclick: () => phone.start(".NewConversationActivity"),
      },
      icon("message"),
      "Start chat",
    ),
  );
}

phone.onBack = () => {
  if (query === null) return false;
  search(null);
  return true;
};
phone.onresume = () => {
  render();
  deliver(render);
};
phone.onresume();
