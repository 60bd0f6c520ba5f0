// What lies over a window: dialogs, of the system or of an app, and toasts. The hierarchy shows the top one alone.
"use strict";

Object.assign(system, {
  sheets: [], // {owner, package, title, text, scrim, card, cancel}; owner null: of the system
  toasts: [], // the last twenty

  topSheet: () => system.sheets.findLast((each) => each.owner === null || each.owner === system.frontToken) ?? null,

  // `buttons` are [label, () => value or undefined, which keeps the sheet open]. Resolves to the value of the button, or
  // to `otherwise` when back or a touch beside it dismisses the sheet, or its window goes.
  present({ title = "", text = "", content = null, buttons, otherwise, owner = null, package: name = "android" }) {
    return new Promise((resolve) => {
      const part = (className, resource, textContent) => {
        const element = Object.assign(document.createElement("div"), { className, textContent });
        element.dataset.resource = resource;
        return element;
      };
      const card = part("sheet", "android:id/parentPanel", "");
      const scrim = Object.assign(document.createElement("div"), { className: "scrim" });
      const finish = (value) => {
        system.sheets = system.sheets.filter((each) => each !== sheet);
        scrim.remove();
        system.showSheets();
        if (!system.topSheet()) system.focusWindow();
        resolve(value);
      };
      const row = part("buttons", "android:id/buttonPanel", "");
      row.append(...buttons.map(([label, value], index) => {
        const button = Object.assign(document.createElement("button"), { textContent: label });
        button.dataset.resource = `android:id/button${buttons.length - index}`;
        button.onclick = () => {
          const chosen = value();
          if (chosen !== undefined) finish(chosen);
        };
        return button;
      }));
      if (title) card.append(part("title", "android:id/alertTitle", title));
      if (text) card.append(part("text", "android:id/message", text));
      if (content) card.append(content);
      if (buttons.length) card.append(row);
      scrim.append(card);
      const sheet = { owner, package: name, title, text, scrim, card, finish, cancel: () => finish(otherwise) };
      scrim.onclick = (event) => { if (event.target === scrim) sheet.cancel(); };
      system.sheets.push(sheet);
      document.getElementById("sheets").append(scrim);
      system.blurAll();
      system.showSheets();
    });
  },
  showSheets() {
    const top = system.topSheet();
    for (const each of system.sheets) each.scrim.hidden = each !== top;
  },
  dropSheets(owner) {
    for (const each of system.sheets.filter((sheet) => sheet.owner === owner)) each.cancel();
  },

  dialog: ({ buttons, ...rest }) =>
    system.present({ ...rest, buttons: buttons.map((label, index) => [String(label), () => index]), otherwise: -1 }),

  // A dialog of the system's own: the choice goes to Python.
  systemDialog(title, text, buttons) {
    system.dialog({ title, text, buttons }).then((index) =>
      system.ask("android/system", "dialog_choice", { title, index, button: buttons[index] ?? null }));
  },

  toast(text) {
    const toast = Object.assign(document.createElement("div"), { className: "toast", textContent: text });
    document.getElementById("toasts").append(toast);
    setTimeout(() => toast.remove(), 2000);
    system.toasts = [...system.toasts.slice(-19), text];
  },

  dismissAll() {
    for (const each of [...system.sheets]) each.cancel();
    system.showRecents(null);
    system.hideKeyboard();
  },
  forgetToasts() {
    document.getElementById("toasts").replaceChildren();
    system.toasts = [];
  },
});
