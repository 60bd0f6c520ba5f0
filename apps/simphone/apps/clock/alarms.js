// The alarms: a card for each; a touch opens it to be changed.
import { ask, h, iconButton, snackbar } from "/common/elements.js";
import { icon } from "/common/icons.js";

const DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
let open = null; // the id of the alarm whose card is open

export const tick = () => null;

const minutes = (time) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
const written = ({ hours, minutes }) => `${String(hours).padStart(2, "0")}:${String(minutes).padStart(2, "0")}`;

function when({ days, time, enabled }) {
  if (days.length === 7) return "Every day";
  if (days.length)
    return days.join() === "1,2,3,4,5"
      ? "Weekdays"
      : days.join() === "6,7"
        ? "Weekends"
        : days.map((day) => DAYS[day - 1].slice(0, 3)).join(", ");
  const now = new Date(phone.now());
  const later = minutes(time) > now.getHours() * 60 + now.getMinutes();
  return enabled ? (later ? "Today" : "Tomorrow") : "Not scheduled";
}

// Minutes until an alarm rings next.
function untilNext({ time, days }) {
  const now = new Date(phone.now());
  const today = (now.getDay() + 6) % 7;
  const present = now.getHours() * 60 + now.getMinutes();
  let ahead = minutes(time) > present ? 0 : 1; // days
  while (days.length && !days.includes(((today + ahead) % 7) + 1)) ahead += 1;
  return ahead * 1440 + minutes(time) - present;
}

function announce(alarm) {
  const wait = untilNext(alarm);
  const parts = [
    [Math.floor(wait / 1440), "day"],
    [Math.floor(wait / 60) % 24, "hour"],
    [wait % 60, "minute"],
  ];
  const said = parts.filter(([count]) => count).map(([count, unit]) => `${count} ${unit}${count === 1 ? "" : "s"}`);
  const last = said.pop();
  phone.toast(`Alarm set for ${said.length ? `${said.join(", ")} and ${last}` : last} from now`);
}

async function add({ hours, minutes }, { label = "", days = [] } = {}) {
  const alarm = { id: phone.state.next_id++, time: written({ hours, minutes }), days, enabled: true, label };
  phone.state.alarms.push(alarm);
  open = alarm.id;
  await phone.save();
  announce(alarm);
}

// An alarm that another app, or the command line, asks for.
export async function requested(extras, render) {
  const hours = extras["android.intent.extra.alarm.HOUR"];
  if (hours === undefined) return;
  phone.state.tab = "alarm";
  await add(
    { hours, minutes: extras["android.intent.extra.alarm.MINUTES"] ?? 0 },
    { label: extras["android.intent.extra.alarm.MESSAGE"] },
  );
  render();
}

export function content(render) {
  const change = async (alarm, values, { says = false } = {}) => {
    Object.assign(alarm, values);
    render();
    await phone.save();
    if (says && alarm.enabled) announce(alarm);
  };

  const setTime = async (alarm) => {
    const chosen = await phone.pickTime({
      hours: Number(alarm.time.slice(0, 2)),
      minutes: Number(alarm.time.slice(3)),
    });
    if (chosen) await change(alarm, { time: written(chosen), enabled: true }, { says: true });
  };
  const setLabel = async (alarm) => {
    const answer = await ask({
      title: "Label",
      fields: [{ id: "label_text", label: "Label", value: alarm.label }],
    });
    if (answer) await change(alarm, { label: answer.label_text.trim() });
  };
  const remove = async (alarm) => {
    phone.state.alarms = phone.state.alarms.filter((each) => each !== alarm);
    await phone.save();
    render();
    const restore = async () => {
      phone.state.alarms.push(alarm);
      await phone.save();
      render();
    };
    snackbar("Alarm deleted", { action: "Undo", onaction: restore });
  };
  const repeat = (alarm, day) => {
    const days = alarm.days.includes(day)
      ? alarm.days.filter((each) => each !== day)
      : [...alarm.days, day].sort((a, b) => a - b);
    return change(alarm, { days, enabled: true });
  };

  const details = (alarm) => [
    h(
      "div",
      { class: "days", role: "group", "aria-label": "Repeat" },
      DAYS.map((name, at) =>
        h(
          "button",
          {
            id: `alarm_${alarm.id}_${name.toLowerCase()}`,
            class: "chip",
            "aria-label": name,
            "aria-pressed": String(alarm.days.includes(at + 1)),
            onclick: () => repeat(alarm, at + 1),
          },
          name[0],
        ),
      ),
    ),
    h(
      "button",
      { id: `alarm_${alarm.id}_label`, class: "text", onclick: () => setLabel(alarm) },
      icon("tag"),
      alarm.label || "Add label",
    ),
    h(
      "button",
      { id: `alarm_${alarm.id}_delete`, class: "text", onclick: () => remove(alarm) },
      icon("delete"),
      "Delete",
    ),
  ];

  const card = (alarm) => {
    const opened = open === alarm.id;
    const toggle = h("input", {
      id: `alarm_${alarm.id}_enabled`,
      type: "checkbox",
      class: "switch",
      role: "switch",
      "aria-label": `Alarm ${alarm.time}`,
    });
    toggle.checked = alarm.enabled;
    toggle.addEventListener("change", () => change(alarm, { enabled: toggle.checked }, { says: true }));
    const unfold = () => {
      open = opened ? null : alarm.id;
      render();
    };
    return h(
      "li",
      { class: "card", "data-id": `alarm_${alarm.id}` },
      h(
        "div",
        { class: "line" },
        h(
          "button",
          {
            id: `alarm_${alarm.id}_time`,
            class: alarm.enabled ? "time" : "time off",
            onclick: () => setTime(alarm),
          },
          alarm.time,
        ),
        iconButton({
          id: `alarm_${alarm.id}_expand`,
          icon: opened ? "minus" : "more",
          label: opened ? "Collapse alarm" : "Expand alarm",
          onclick: unfold,
        }),
      ),
      h(
        "div",
        { class: "line" },
        h(
          "span",
          { id: `alarm_${alarm.id}_when`, class: "quiet" },
          [when(alarm), !opened && alarm.label].filter(Boolean).join(" · "),
        ),
        toggle,
      ),
      opened && details(alarm),
    );
  };

  const start = async () => {
    const chosen = await phone.pickTime({ hours: 8, minutes: 0 });
    if (!chosen) return;
    await add(chosen);
    render();
  };
  const sorted = [...phone.state.alarms].sort((a, b) => a.time.localeCompare(b.time) || a.id - b.id);
  return {
    main: sorted.length ? h("ul", {}, sorted.map(card)) : h("p", { id: "empty", class: "empty" }, "No alarms"),
    fab: h("button", { id: "add_alarm", class: "fab", "aria-label": "Add alarm", onclick: start }, icon("plus")),
  };
}
