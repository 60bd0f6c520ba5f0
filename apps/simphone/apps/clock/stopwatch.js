// The stopwatch, with laps.
import { h } from "/common/elements.js";
import { icon } from "/common/icons.js";

export const tick = ({ stopwatch }) => (stopwatch.started_at === null ? null : 100);

const elapsed = ({ elapsed_ms: before, started_at: start }) => before + (start === null ? 0 : Date.now() - start);

function shown(ms) {
  const two = (number) => String(Math.floor(number)).padStart(2, "0");
  return `${two(ms / 60_000)}:${two((ms / 1000) % 60)}.${two((ms / 10) % 100)}`;
}

export function refresh() {
  document.getElementById("stopwatch_time").textContent = shown(elapsed(phone.state.stopwatch));
}

export function content(render) {
  const { stopwatch } = phone.state;
  const runs = stopwatch.started_at !== null;
  const change = async (values) => {
    Object.assign(stopwatch, values);
    render();
    await phone.save();
  };
  const toggle = () => change(runs ? { elapsed_ms: elapsed(stopwatch), started_at: null } : { started_at: Date.now() });
  const lap = () => change({ laps: [...stopwatch.laps, elapsed(stopwatch)] });
  const reset = () => change({ elapsed_ms: 0, started_at: null, laps: [] });
  const used = runs || stopwatch.elapsed_ms > 0;
  const laps = stopwatch.laps.map((at, number) => [number + 1, at - (stopwatch.laps[number - 1] ?? 0), at]).reverse();
  return {
    main: [
      h("p", { id: "stopwatch_time", class: "big" }, shown(elapsed(stopwatch))),
      used &&
        h(
          "div",
          { class: "buttons centre" },
          h("button", { id: "stopwatch_reset", onclick: reset }, icon("reset"), "Reset"),
          runs && h("button", { id: "stopwatch_lap", onclick: lap }, icon("lap"), "Lap"),
        ),
      h(
        "ul",
        { class: "list" },
        laps.map(([number, length, at]) =>
          h(
            "li",
            { class: "row", "data-id": `lap_${number}` },
            h("span", { class: "title" }, `Lap ${number}`),
            h("span", { class: "summary" }, shown(length)),
            h("span", { class: "end" }, shown(at)),
          ),
        ),
      ),
    ],
    fab: h(
      "button",
      { id: "stopwatch_start", class: "fab", "aria-label": runs ? "Pause" : "Start", onclick: toggle },
      icon(runs ? "pause" : "play"),
    ),
  };
}
