// Clock: four tabs.
//
// State: {tab, next_id, alarms: [{id, time: "HH:MM", days: [1 Monday … 7 Sunday], enabled, label}], cities: [name],
//         timer: {length_ms, left_ms, ends_at}, stopwatch: {elapsed_ms, started_at, laps: [ms]}}.
// `ends_at` and `started_at` are milliseconds of the machine's clock while the timer or stopwatch runs, else null: these
// two run on also where the phone's clock is held still.
import { bar, h, show } from "/common/elements.js";
import { icon } from "/common/icons.js";
import * as alarms from "./alarms.js";
import * as cities from "./cities.js";
import * as stopwatch from "./stopwatch.js";
import * as timer from "./timer.js";

// Each has `content(render)`, which gives {main, fab}; `tick(state)`, milliseconds until it changes by itself, or null;
// and `refresh(render)`, which then shows it.
const TABS = {
  alarm: { label: "Alarm", symbol: "alarm", ...alarms },
  clock: { label: "Clock", symbol: "clock", ...cities },
  timer: { label: "Timer", symbol: "timer", ...timer },
  stopwatch: { label: "Stopwatch", symbol: "stopwatch", ...stopwatch },
};
let ticking = null;

async function choose(name) {
  phone.state.tab = name;
  render();
  await phone.save();
}

function render() {
  const current = TABS[phone.state.tab];
  const { main, fab } = current.content(render);
  show(
    bar({ title: current.label, up: null }),
    h("main", { role: "tabpanel" }, main),
    h(
      "nav",
      { class: "tabs bottom", role: "tablist" },
      Object.entries(TABS).map(([name, { label, symbol }]) =>
        h(
          "button",
          {
            id: `tab_${name}`,
            role: "tab",
            "aria-selected": String(name === phone.state.tab),
            onclick: () => choose(name),
          },
          h("span", { class: "tab" }, icon(symbol), label),
        ),
      ),
    ),
    fab,
  );
  schedule();
}

// What runs changes in its place: a button that is made anew between the two halves of a touch would miss it.
function schedule() {
  clearTimeout(ticking);
  const { tick, refresh } = TABS[phone.state.tab];
  const next = tick(phone.state);
  if (next === null) return;
  ticking = setTimeout(() => {
    refresh(render);
    schedule();
  }, next);
}

phone.onresume = render;
render();
alarms.requested(phone.extras, render);
