// Choosing from a list, a time, a date: for pages that ask by phone.js, and for <select> and <input type=date|time|…>.
"use strict";

Object.assign(system, {
  // Resolves to an index, or -1. `options` are texts, or {text, group, disabled}.
  pick({ options, selected = -1, ...rest }) {
    return system.pickMany({ options, selected: [selected], many: false, ...rest }).then((chosen) => chosen?.[0] ?? -1);
  },
  // Resolves to the indices, or to null.
  pickMany({ title = "", options, selected, many = true, ...rest }) {
    const chosen = new Set(selected);
    const list = Object.assign(document.createElement("div"), { className: "options", role: "list" });
    list.dataset.resource = "android:id/select_dialog_listview";
    let group;
    options.forEach((option, index) => {
      const { text, group: itsGroup, disabled = false } = typeof option === "object" ? option : { text: option };
      if (itsGroup && itsGroup !== group) {
        list.append(Object.assign(document.createElement("div"), { className: "group", textContent: itsGroup }));
      }
      group = itsGroup;
      const button = Object.assign(document.createElement("button"), {
        className: many ? "option many" : "option", textContent: text, disabled, role: many ? "checkbox" : "radio",
        ariaChecked: String(chosen.has(index)),
      });
      button.dataset.class = "android.widget.CheckedTextView";
      button.dataset.resource = "android:id/text1";
      button.onclick = () => {
        if (!many) return top.finish([index]);
        if (!chosen.delete(index)) chosen.add(index);
        button.ariaChecked = String(chosen.has(index));
      };
      list.append(button);
    });
    const buttons = [["Cancel", () => null], ...(many ? [["OK", () => [...chosen].sort((a, b) => a - b)]] : [])];
    const answer = system.present({ title, content: list, buttons, otherwise: null, ...rest });
    const top = system.sheets.at(-1);
    list.querySelector("[aria-checked=true]")?.scrollIntoView({ block: "center" });
    return answer;
  },

  pickTime({ title = "Select time", hours = 0, minutes = 0, ...rest }) {
    const face = Object.assign(document.createElement("div"), { className: "time" });
    const units = [["Hour", hours, 24], ["Minute", minutes, 60]].map(([name, value, size]) => {
      const unit = Object.assign(document.createElement("div"), { className: "unit" });
      const input = Object.assign(document.createElement("input"), {
        inputMode: "numeric", maxLength: 2, value: String(value).padStart(2, "0"), ariaLabel: name,
      });
      input.dataset.resource = `android:id/input_${name.toLowerCase()}`;
      input.onfocus = () => input.select();
      const read = () => (/^\d{1,2}$/.test(input.value) && Number(input.value) < size ? Number(input.value) : null);
      const step = (by, sign, text) => {
        const button = Object.assign(document.createElement("button"), { textContent: sign, ariaLabel: `${text} ${name.toLowerCase()}` });
        button.onclick = () => { input.value = String(((read() ?? 0) + by + size) % size).padStart(2, "0"); };
        button.onmousedown = (event) => event.preventDefault();
        return button;
      };
      unit.append(step(1, "▲", "Increase"), input, step(-1, "▼", "Decrease"));
      return { unit, read };
    });
    face.append(units[0].unit, ":", units[1].unit);
    const done = () => {
      const [hour, minute] = units.map((each) => each.read());
      return hour === null || minute === null ? void system.toast("Enter a valid time") : { hours: hour, minutes: minute };
    };
    const buttons = [["Cancel", () => null], ["OK", done]];
    return system.present({ title, content: face, buttons, otherwise: null, ...rest });
  },

  // Dates are "YYYY-MM-DD".
  pickDate({ title = "Select date", date = "", ...rest }) {
    const text = (day) => new Date(day).toISOString().slice(0, 10);
    const today = system.now();
    let chosen = /^\d{4}-\d\d-\d\d$/.test(date) ? date : text(Date.UTC(today.getFullYear(), today.getMonth(), today.getDate()));
    let [year, month] = chosen.split("-").map(Number);
    const content = document.createElement("div");
    const button = (label, action, properties = {}) => {
      const made = Object.assign(document.createElement("button"), { textContent: label, ...properties });
      made.onclick = () => { action(); draw(); };
      return made;
    };
    const named = (options, at = Date.UTC(year, month - 1, 1)) =>
      new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", ...options }).format(at);
    const move = (by) => [year, month] = text(Date.UTC(year, month - 1 + by, 1)).split("-").map(Number);
    let choosingYear = false;
    function draw() {
      const head = Object.assign(document.createElement("div"), { className: "month" });
      head.append(
        button("‹", () => move(-1), { ariaLabel: "Previous month" }),
        button(named({ month: "long", year: "numeric" }), () => { choosingYear = !choosingYear; }),
        button("›", () => move(1), { ariaLabel: "Next month" }),
      );
      const grid = Object.assign(document.createElement("div"), { className: choosingYear ? "years" : "days" });
      if (choosingYear) {
        grid.style.maxHeight = "288px";
        for (let each = 1900; each <= 2100; each++) {
          grid.append(button(each, () => { year = each; choosingYear = false; }, { ariaSelected: String(each === year) }));
        }
      } else {
        for (const each of ["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"]) {
          grid.append(Object.assign(document.createElement("span"), { textContent: each, ariaHidden: "true" }));
        }
        const days = new Date(Date.UTC(year, month, 0)).getUTCDate();
        for (let day = 1; day <= days; day++) {
          const at = Date.UTC(year, month - 1, day);
          const made = button(day, () => { chosen = text(at); }, {
            ariaSelected: String(text(at) === chosen), ariaLabel: named({ day: "numeric", month: "long", year: "numeric" }, at),
          });
          if (day === 1) made.style.gridColumn = String(((new Date(at).getUTCDay() + 6) % 7) + 1);
          grid.append(made);
        }
      }
      content.replaceChildren(head, grid);
      if (choosingYear) grid.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "center" });
    }
    draw();
    return system.present({ title, content, buttons: [["Cancel", () => null], ["OK", () => chosen]], otherwise: null, ...rest });
  },

  // A field of a page was touched.
  async choose(field) {
    const view = field.ownerDocument.defaultView;
    const own = { title: system.labelOf(field), ...system.owner(view) };
    field.focus({ preventScroll: true });
    if (field.localName === "select") {
      const options = [...field.options];
      const chosen = await system.pickMany({
        many: field.multiple,
        options: options.map((each) => ({
          text: each.label, group: each.closest("optgroup")?.label, disabled: each.disabled || Boolean(each.closest("optgroup:disabled")),
        })),
        selected: options.flatMap((each, index) => (each.selected ? [index] : [])),
        ...own,
      });
      if (!chosen) return;
      if (options.every((each, index) => each.selected === chosen.includes(index))) return;
      options.forEach((each, index) => { each.selected = chosen.includes(index); });
    } else {
      const value = await system.chooseValue(field, own);
      if (value === null || value === field.value) return;
      Object.getOwnPropertyDescriptor(view.HTMLInputElement.prototype, "value").set.call(field, value);
    }
    for (const type of ["input", "change"]) field.dispatchEvent(new view.Event(type, { bubbles: true }));
  },
  async chooseValue(field, own) {
    const two = (number) => String(number).padStart(2, "0");
    const [day, hour] = field.type === "time" ? ["", field.value] : field.value.split("T");
    const date = async (from) => (["date", "datetime-local", "month"].includes(field.type) ? system.pickDate({ date: from, ...own }) : "");
    const time = async () => {
      const [hours, minutes] = (hour || "12:00").split(":").map(Number);
      const chosen = await system.pickTime({ hours, minutes, ...own });
      return chosen && `${two(chosen.hours)}:${two(chosen.minutes)}`;
    };
    if (!own.title) delete own.title;
    if (field.type === "time") return time();
    if (field.type === "date") return date(day);
    if (field.type === "month") return (await date(day ? `${day}-01` : ""))?.slice(0, 7) ?? null;
    if (field.type === "datetime-local") {
      const chosen = await date(day);
      const at = chosen && (await time());
      return at && `${chosen}T${at}`;
    }
    system.toast("No app can perform this action");
    return null;
  },
});
