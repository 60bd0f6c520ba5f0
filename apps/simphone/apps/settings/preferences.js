// Preferences as they are declared in screens.js, drawn as rows:
//   {section}                              a heading
//   {id, title, open, summary}             opens an activity
//   {id, title, toggle, on, off, summary}  a switch; `on` and `off` are its values, "1" and "0" unless they are given
//   {id, title, choice, options}           a dialog of `[[value, label], …]`; the summary is the one that is chosen
//   {id, title, slider, min, max}
//   {id, title, text}                      a dialog with a field
//   {id, title, info}                      only to be read
//   {id, title, act, summary}              `act(redraw)` when it is tapped
// `toggle`, `choice`, `slider`, `text` and `info` are values of values.js. `summary` is text or a function that gives
// some; `hidden`, if there is one, a function that says whether the preference is left out.
import { ask, h, row, switchRow } from "/common/elements.js";
import { icon } from "/common/icons.js";

const said = (summary) => (typeof summary === "function" ? summary() : summary);
const lead = ({ icon: name }) => name && icon(name);

export const labelOf = (options, value) => options.find(([each]) => each === value)?.[1] ?? value;

const KINDS = {
  section: ({ section }) => h("h2", {}, section),

  open: async (each) =>
    row({
      id: each.id,
      lead: lead(each),
      title: each.title,
      summary: await said(each.summary),
      onclick: () => phone.start(each.open),
    }),

  async toggle(each, redraw) {
    const { on = "1", off = "0" } = each;
    const change = async (checked) => {
      await each.toggle.put(checked ? on : off);
      await each.changed?.(checked);
      redraw();
    };
    const value = await each.toggle.get();
    return switchRow({
      id: each.id,
      lead: lead(each),
      title: each.title,
      summary: await said(each.summary),
      checked: value !== off,
      onchange: change,
    });
  },

  async choice(each, redraw) {
    const options = await said(each.options);
    const value = await each.choice.get();
    const choose = async () => {
      const selected = options.findIndex(([one]) => one === value);
      const index = await phone.pick({ title: each.title, options: options.map(([, label]) => label), selected });
      if (index < 0) return;
      await each.choice.put(options[index][0]);
      redraw();
    };
    return row({
      id: each.id,
      lead: lead(each),
      title: each.title,
      summary: labelOf(options, value),
      onclick: choose,
    });
  },

  async slider(each, redraw) {
    const { id, title, min, max } = each;
    const value = await each.slider.get();
    const percent = Math.round(((value - min) / (max - min)) * 100);
    const input = h("input", { id, type: "range", min, max, value, "aria-label": title });
    input.addEventListener("change", async () => {
      await each.slider.put(input.value);
      redraw();
    });
    return h(
      "div",
      { class: "slider" },
      h("span", { class: "title" }, title),
      h("span", { id: `${id}_percent`, class: "quiet" }, `${percent}%`),
      input,
    );
  },

  async text(each, redraw) {
    const value = await each.text.get();
    const edit = async () => {
      const answer = await ask({
        title: each.title,
        fields: [{ id: "text", label: each.title, value, minlength: 1 }],
      });
      if (!answer) return;
      await each.text.put(answer.text.trim());
      redraw();
    };
    return row({ id: each.id, lead: lead(each), title: each.title, summary: value, onclick: edit });
  },

  info: async (each) =>
    h(
      "div",
      { class: "row", id: each.id },
      lead(each),
      h("span", { class: "title" }, each.title),
      h("span", { class: "summary" }, await each.info.get()),
    ),

  act: async (each, redraw) =>
    row({
      id: each.id,
      lead: lead(each),
      title: each.title,
      summary: await said(each.summary),
      onclick: () => each.act(redraw),
    }),
};

// The elements of a list of preferences.
export async function drawn(preferences, redraw) {
  const shown = await Promise.all(preferences.map(async (each) => !(await each.hidden?.())));
  const kind = (each) => Object.keys(KINDS).find((name) => each[name] !== undefined);
  return Promise.all(preferences.filter((_, at) => shown[at]).map((each) => KINDS[kind(each)](each, redraw)));
}
