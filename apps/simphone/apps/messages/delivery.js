// What is being sent is on its way for a moment, whichever window is in front when it arrives.
let timer = null;

// Calls `then` once every message that is being sent has arrived, or has failed.
export function deliver(then) {
  clearTimeout(timer);
  const pending = () =>
    phone.state.conversations.flatMap((each) => each.messages).filter((each) => each.status === "sending");
  if (!pending().length) return;
  timer = setTimeout(async () => {
    for (const message of pending()) message.status = message.fails ? "failed" : "sent";
    await phone.save();
    then();
  }, phone.state.send_delay_ms);
}
