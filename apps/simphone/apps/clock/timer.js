// One timer: a length is typed, then it runs down.
import { h, iconButton } from "/common/elements.js";
import { icon } from "/common/icons.js";

let typed = ""; // up to six digits: hhmmss

export const tick = ({ timer }) => (timer.ends_at !== null && left(timer) > 0 ? left(timer) % 1000 || 1000 : null);

const left = (timer) => (timer.ends_at === null ? timer.left_ms : Math.max(0, timer.ends_at - Date.now()));

function shown(ms) {
  const seconds = Math.ceil(ms / 1000);
  const two = (number) => String(number).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  return `${hours ? `${hours}:` : ""}${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}

export function refresh(render) {
  const rest = left(phone.state.timer);
  if (rest === 0) return render();
  document.getElementById("timer_left").textContent = shown(rest);
}

export function content(render) {
  const { timer } = phone.state;
  const change = async (values) => {
    Object.assign(timer, values);
    render();
    await phone.save();
  };
  return timer.length_ms ? running(timer, change) : entry(change, render);
}

function entry(change, render) {
  const padded = typed.padStart(6, "0");
  const [hours, minutes, seconds] = [padded.slice(0, 2), padded.slice(2, 4), padded.slice(4)];
  const length = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000;
  const press = (key) => {
    if (key === "⌫") typed = typed.slice(0, -1);
    else typed = (typed + key).replace(/^0+/, "").slice(0, 6);
    render();
  };
  const key = (name) =>
    h(
      "button",
      {
        id: name === "⌫" ? "timer_delete" : `timer_${name}`,
        class: "key",
        "aria-label": name === "⌫" && "Delete",
        onclick: () => press(name),
      },
      name,
    );
  const start = () => {
    typed = "";
    change({ length_ms: length, left_ms: length, ends_at: Date.now() + length });
  };
  return {
    main: [
      h("p", { id: "timer_setup", class: "big" }, `${hours}h ${minutes}m ${seconds}s`),
      h("div", { class: "keys" }, ["1", "2", "3", "4", "5", "6", "7", "8", "9", "00", "0", "⌫"].map(key)),
    ],
    fab:
      length > 0 &&
      h("button", { id: "timer_start", class: "fab", "aria-label": "Start", onclick: start }, icon("play")),
  };
}

function running(timer, change) {
  const rest = left(timer);
  const over = rest === 0;
  const runs = timer.ends_at !== null && !over;
  const pause = () => change(runs ? { left_ms: left(timer), ends_at: null } : { ends_at: Date.now() + timer.left_ms });
  const addMinute = () =>
    runs
      ? change({ ends_at: timer.ends_at + 60_000 })
      : change({ left_ms: rest + 60_000, ends_at: over ? Date.now() + 60_000 : null });
  const reset = () => change({ left_ms: timer.length_ms, ends_at: null });
  const remove = () => change({ length_ms: 0, left_ms: 0, ends_at: null });
  return {
    main: [
      h("p", { id: "timer_state", class: "date" }, over ? "Time’s up" : runs ? "Running" : "Paused"),
      h("p", { id: "timer_left", class: "big" }, shown(rest)),
      h("p", { class: "date quiet" }, `${shown(timer.length_ms)} timer`),
      h(
        "div",
        { class: "buttons centre" },
        h("button", { id: "timer_add_minute", onclick: addMinute }, "+1:00"),
        h("button", { id: "timer_reset", onclick: reset }, "Reset"),
        iconButton({ id: "timer_remove", icon: "delete", label: "Delete timer", onclick: remove }),
      ),
    ],
    fab:
      !over &&
      h(
        "button",
        { id: "timer_pause", class: "fab", "aria-label": runs ? "Pause" : "Start", onclick: pause },
        icon(runs ? "pause" : "play"),
      ),
  };
}
