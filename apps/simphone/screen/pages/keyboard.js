// The on-screen keyboard. What is tapped on it is collected in `typed`: Python takes it from `settled` and sends it to
// the focused field as keys.
"use strict";

Object.assign(system, {
  typed: [], // characters, "Backspace", "Enter"
  keyboardShown: false,
  keyboardWanted: false,
  restoring: false, // the focus goes back to a window, which is no wish for the keyboard
  keyboardAllowed: true,
  layouts: {
    letters: ["q w e r t y u i o p", "a s d f g h j k l", "⇧ z x c v b n m ⌫", "?123 , ␣ . ⏎"],
    symbols: ["1 2 3 4 5 6 7 8 9 0", "@ # $ _ & - + ( ) /", "=\\< * \" ' : ; ! ? ⌫", "ABC , ␣ . ⏎"],
    more: ["~ ` | • √ π ÷ × § ∆", "£ ¢ € ¥ ^ ° = { } \\", "?123 % © ® ™ ✓ [ ] ⌫", "ABC < ␣ > ⏎"],
    digits: ["1 2 3 -", "4 5 6 ␣", "7 8 9 ⌫", ", 0 . ⏎"],
  },
  layout: "letters",
  shift: false,

  drawKeyboard() {
    const keyboard = document.getElementById("keyboard");
    const special = {
      "⇧": ["wide", "Shift", () => { system.shift = !system.shift; }], "⌫": ["wide", "Delete", () => system.typed.push("Backspace")],
      "⏎": ["wide", "Enter", () => system.typed.push("Enter")], "␣": ["space", "Space", () => system.typed.push(" ")],
      "?123": ["wide", "Symbols", () => { system.layout = "symbols"; }], "=\\<": ["wide", "More symbols", () => { system.layout = "more"; }],
      ABC: ["wide", "Letters", () => { system.layout = "letters"; }],
    };
    keyboard.replaceChildren(...system.layouts[system.layout].map((line) => {
      const row = Object.assign(document.createElement("div"), { className: "line" });
      row.append(...line.split(" ").map((sign) => {
        const text = system.shift && system.layout === "letters" ? sign.toUpperCase() : sign;
        const [className, label, action] = special[sign] ?? ["", text, () => {
          system.typed.push(text);
          system.shift = false;
        }];
        const key = Object.assign(document.createElement("button"), { className, ariaLabel: label });
        if (sign === "⇧" && system.shift) key.classList.add("on");
        if (system.layout === "digits") key.className = "space";
        key.append(Object.assign(document.createElement("span"), { textContent: { "␣": "\u00a0" }[sign] ?? text }));
        key.onclick = () => { action(); system.drawKeyboard(); };
        return key;
      }));
      return row;
    }));
  },

  // The element with the focus, in whichever frame.
  focusedElement() {
    let element = document.activeElement;
    for (;;) {
      const inner = element?.shadowRoot?.activeElement ?? element?.contentDocument?.activeElement;
      if (!inner) return element;
      element = inner;
    }
  },
  editable(element) {
    if (!element?.localName || element.disabled || element.readOnly || element.inputMode === "none") return false;
    if (element.localName === "input") return /^(text|search|email|url|tel|number|password)$/.test(element.type);
    return element.localName === "textarea" || element.isContentEditable;
  },
  // Something got the focus, or a touch: a field that can be written in wants the keyboard.
  focused(element) {
    const field = system.focusedElement();
    if (!system.restoring && system.editable(field) && field.contains(element)) system.keyboardWanted = true;
  },
  // It comes and goes when a touch is over, not under the finger: the window changes its size with it.
  keyboardFollows() {
    const field = system.focusedElement();
    if (!system.keyboardAllowed || !system.editable(field)) {
      system.keyboardWanted = false;
      if (system.keyboardShown) system.hideKeyboard();
    } else if (system.keyboardWanted) {
      system.keyboardWanted = false;
      system.bringKeyboard(field);
    }
  },
  bringKeyboard(field) {
    const numeric = /^(number|tel)$/.test(field.type) || /^(numeric|decimal|tel)$/.test(field.inputMode);
    if (!system.keyboardShown) {
      system.layout = numeric ? "digits" : "letters";
      system.shift = false;
    } else if (numeric !== (system.layout === "digits")) {
      system.layout = numeric ? "digits" : "letters";
    }
    system.keyboardShown = true;
    system.showKeyboard();
    field.scrollIntoView({ block: "nearest", behavior: "instant" });
  },
  hideKeyboard() {
    system.keyboardWanted = false;
    system.keyboardShown = false;
    system.showKeyboard();
  },
  showKeyboard() {
    const keyboard = document.getElementById("keyboard");
    if (system.keyboardShown) system.drawKeyboard();
    keyboard.hidden = !system.keyboardShown;
    document.getElementById("navigation").classList.toggle("typing", system.keyboardShown);
    const height = system.keyboardShown ? keyboard.offsetHeight + 48 : 48;
    document.getElementById("sheets").style.setProperty("--below", `${height}px`);
    system.layOut();
  },
  allowKeyboard(allowed) {
    system.keyboardAllowed = allowed;
    if (!allowed) system.hideKeyboard();
  },
  // After Enter: a single line is done, unless the page put the focus somewhere else.
  entered() {
    if (system.focusedElement()?.localName === "input") system.hideKeyboard();
  },

  blurAll() {
    document.activeElement?.blur();
    system.hideKeyboard();
  },
  // Keys go to the window in front; the field that had the focus has it again, without the keyboard.
  focusWindow() {
    system.restoring = true;
    system.windows.get(system.frontToken)?.contentWindow?.focus();
    system.restoring = false;
  },

  focusedField() {
    const element = system.focusedElement();
    if (!system.editable(element)) return null;
    const { package: name, owner } = system.owner(element.ownerDocument.defaultView);
    return {
      package: name, token: owner, id: element.id, text: system.valueOf(element), password: element.type === "password",
      hint: element.placeholder || system.labelOf(element), type: element.type ?? "text",
    };
  },
  valueOf: (element) => (element.isContentEditable ? element.innerText : element.value),
  clearField() {
    const element = system.focusedElement();
    if (!system.editable(element)) return;
    if (element.select) element.select();
    else element.ownerDocument.getSelection().selectAllChildren(element);
    element.ownerDocument.execCommand("delete");
  },
  selection() {
    const element = system.focusedElement();
    if (element?.selectionStart != null) return element.value.slice(element.selectionStart, element.selectionEnd);
    return String(element?.ownerDocument.getSelection() ?? "");
  },
});
