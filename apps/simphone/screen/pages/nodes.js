// What an element is on Android: its class, its text, what can be done with it.
"use strict";

system.nodes = (() => {
  const SKIPPED = new Set("script style head title template noscript option optgroup datalist meta link br wbr source track param colgroup".split(" "));
  const REPLACED = new Set("img svg canvas video audio iframe frame object embed input select textarea button progress meter".split(" "));
  const FIELD = /^(text|search|email|url|tel|number|password|date|time|datetime-local|month|week)$/;
  const PICKED = /^(date|time|datetime-local|month|week|color|file)$/;
  const CLICK = Symbol.for("simphone.click");
  const TOUCH = Symbol.for("simphone.touch");
  const LONG = Symbol.for("simphone.long");
  const ROLES = {
    button: "android.widget.Button", checkbox: "android.widget.CheckBox", radio: "android.widget.RadioButton", switch: "android.widget.Switch",
    slider: "android.widget.SeekBar", tab: "androidx.appcompat.app.ActionBar$Tab", combobox: "android.widget.Spinner",
    listbox: "android.widget.ListView", progressbar: "android.widget.ProgressBar", textbox: "android.widget.EditText",
  };
  const ROLE_CLICKABLE = /^(button|checkbox|radio|switch|tab|link|menuitem(checkbox|radio)?|option|combobox|slider)$/;

  const squeeze = (text) => text.replace(/\s+/g, " ").trim();

  function labelOf(element) {
    const named = element.getAttribute("aria-label");
    if (named) return squeeze(named);
    const ids = element.getAttribute("aria-labelledby");
    if (ids) return squeeze(ids.split(/\s+/).map((id) => element.ownerDocument.getElementById(id)?.textContent ?? "").join(" "));
    const label = element.labels?.[0];
    if (!label) return "";
    if (!label.contains(element)) return squeeze(label.innerText);
    const title = label.querySelector(".title");
    const copy = (title ?? label).cloneNode(true);
    for (const each of copy.querySelectorAll("select, textarea, script, style")) each.remove();
    return squeeze(copy.textContent);
  }

  function clickable(element, name, role, style) {
    if (/^(button|input|select|textarea|summary)$/.test(name) || ((name === "a" || name === "area") && element.hasAttribute("href"))) return true;
    if (name === "body" || name === "html") return false;
    if (element[CLICK] || element[TOUCH] || element.onclick || element.onmousedown || element.onmouseup || element.onpointerdown || element.ontouchstart) return true;
    if (ROLE_CLICKABLE.test(role) || (element.isContentEditable && !element.parentElement?.isContentEditable)) return true;
    return style.cursor === "pointer" && !inherits(element);
  }
  // `cursor: pointer` comes down from what can be clicked.
  const inherits = (element) => element.parentElement !== null && element.ownerDocument.defaultView.getComputedStyle(element.parentElement).cursor === "pointer";

  // Text with nothing in it that is a node of its own.
  function plain(element, view) {
    for (const child of element.children) {
      const name = child.localName;
      if (name === "br" || name === "wbr" || SKIPPED.has(name)) continue;
      if (REPLACED.has(name) || child[CLICK] || child.onclick || child.tabIndex >= 0 || child.hasAttribute("role") || child.hasAttribute("aria-label")) return false;
      const style = view.getComputedStyle(child);
      if (!/^(inline|none|contents)/.test(style.display) || /absolute|fixed/.test(style.position)) return false;
      if (style.visibility !== "visible" || !plain(child, view)) return false;
    }
    return true;
  }
  const words = (node) => (node.nodeType === 3 ? node.data : node.ariaHidden === "true" ? "" : [...node.childNodes].map(words).join(" "));
  function textOf(element, style) {
    if (element.querySelector("[aria-hidden=true]")) return squeeze(words(element));
    if (element.children.length || style.textTransform !== "none" || /^(pre|break)/.test(style.whiteSpace)) return element.innerText.trim();
    return squeeze(element.textContent);
  }
  const hasText = (element) => {
    for (const child of element.childNodes) if (child.nodeType === 3 && /\S/.test(child.data)) return true;
    return false;
  };

  function scrollable(element, style, frame) {
    const root = element === frame.document.scrollingElement;
    const can = (overflow, more) => more >= 1 && (root ? !/hidden|clip/.test(overflow) : /auto|scroll/.test(overflow));
    const vertical = can(style.overflowY, element.scrollHeight - element.clientHeight);
    const horizontal = can(style.overflowX, element.scrollWidth - element.clientWidth);
    return vertical ? "vertical" : horizontal ? "horizontal" : "";
  }

  function classOf(element, name, role, found) {
    if (element.dataset.class) return element.dataset.class;
    if (name === "input") {
      const type = element.type;
      if (type === "checkbox") return role === "switch" || element.classList.contains("switch") ? ROLES.switch : ROLES.checkbox;
      if (type === "radio") return ROLES.radio;
      if (type === "range") return ROLES.slider;
      if (PICKED.test(type)) return ROLES.combobox;
      if (type === "image") return "android.widget.ImageButton";
      return FIELD.test(type) ? ROLES.textbox : ROLES.button;
    }
    if (name === "textarea" || (element.isContentEditable && found.clickable)) return ROLES.textbox;
    if (name === "select") return ROLES.combobox;
    if (ROLES[role]) return ROLES[role];
    if (found.scrolls) {
      if (role === "list" || /^(ul|ol)$/.test(name) || element.querySelector(":scope > ul, :scope > ol")) return "androidx.recyclerview.widget.RecyclerView";
      return found.scrolls === "horizontal" ? "android.widget.HorizontalScrollView" : "android.widget.ScrollView";
    }
    if (name === "button") return found.parts ? "android.view.ViewGroup" : found.text ? ROLES.button : "android.widget.ImageButton";
    if (name === "img" || name === "svg" || role === "img") return found.clickable ? "android.widget.ImageButton" : "android.widget.ImageView";
    if (name === "progress" || name === "meter") return ROLES.progressbar;
    if (name === "canvas" || name === "video" || element.namespaceURI.endsWith("svg")) return "android.view.View";
    if (found.text) return "android.widget.TextView";
    return "android.view.ViewGroup";
  }

  // The node of an element, or null if it only holds others.
  function describe(element, name, style, frame, box, dim) {
    const role = element.getAttribute("role") ?? "";
    const data = element.dataset;
    const found = { clickable: clickable(element, name, role, style), scrolls: scrollable(element, style, frame), text: "", parts: false };
    const attributes = {};
    let leaf = false;
    let description = "";
    if (/^(input|textarea|select)$/.test(name) || (element.isContentEditable && found.clickable)) {
      leaf = true;
      field(element, name, attributes);
      found.text = attributes.text;
      description = attributes["content-desc"];
    } else {
      const graphic = /^(img|canvas|video|svg)$/.test(name);
      const texts = !graphic && hasText(element);
      if (texts && plain(element, frame.view)) {
        leaf = true;
      } else if (found.clickable && (/^(button|a)$/.test(name) || /^(button|tab)$/.test(role) || data.class)) {
        found.parts = element.querySelector("input, button, select, textarea, a[href]") !== null ||
          [...element.querySelectorAll("*")].filter((each) => each.ariaHidden !== "true" && hasText(each)).length + Number(texts) > 1;
        leaf = !found.parts;
      } else if (graphic && name !== "svg") leaf = true;
      if (leaf && !graphic) found.text = textOf(element, style);
      attributes.text = found.text;
      description = squeeze(element.getAttribute("aria-label") ?? element.getAttribute("alt") ?? "") || (found.text || !leaf && name !== "svg" ? "" : pictured(element));
      if (name === "label") stand(element, attributes, found, frame);
    }
    if (!found.text && !description) description = element.title || "";
    const checked = element.getAttribute("aria-checked") ?? (name === "button" ? element.getAttribute("aria-pressed") : null);
    if (checked !== null) Object.assign(attributes, { checkable: true, checked: checked === "true" });
    const id = data.resource ?? data.id ?? element.id;
    const long = Boolean(element[LONG] || element.oncontextmenu);
    const shows = (leaf && (found.text || description)) || description || (name === "img" && element.alt !== "") || name === "canvas" || name === "video";
    if (!shows && !id && !long && !found.clickable && !found.scrolls && !attributes.checkable) return null;
    attributes.class ??= classOf(element, name, role, found);
    return {
      element, frame, box, leaf, children: [],
      attributes: {
        ...attributes, "content-desc": description, id, clickable: found.clickable, scrollable: found.scrolls !== "",
        enabled: !(dim || element.matches(":disabled") || element.ariaDisabled === "true"),
        focusable: found.clickable || element.tabIndex >= 0, focused: element === frame.focused,
        selected: element.getAttribute("aria-selected") === "true" || (element.ariaCurrent ?? "false") !== "false",
        "long-clickable": long || attributes.class === ROLES.textbox,
      },
    };
  }
  // What is said of a picture, in it.
  function pictured(element) {
    const named = element.querySelector("[aria-label], img[alt], title");
    return squeeze(named?.getAttribute("aria-label") ?? named?.getAttribute("alt") ?? named?.textContent ?? "");
  }

  function field(element, name, attributes) {
    const type = element.type;
    const label = labelOf(element);
    attributes["content-desc"] = label;
    if (name === "input" && /^(checkbox|radio)$/.test(type)) {
      Object.assign(attributes, { checkable: true, checked: element.checked, text: "" });
    } else if (name === "select") {
      attributes.text = [...element.selectedOptions].map((each) => squeeze(each.label)).join(", ");
    } else if (name === "input" && /^(button|submit|reset)$/.test(type)) {
      Object.assign(attributes, { text: element.value || { submit: "Submit", reset: "Reset" }[type] || "", "content-desc": "" });
    } else if (type === "range") {
      attributes.text = element.value;
    } else {
      const value = system.valueOf(element) ?? "";
      const hint = element.placeholder || element.getAttribute("aria-placeholder") || label;
      // Android shows the hint as the text of an empty field.
      attributes.text = type === "password" ? "•".repeat([...value].length) || hint : type === "file" ? "" : value || hint;
      attributes.hint = hint;
      attributes.password = type === "password";
    }
  }
  // A label stands for its box where that cannot be seen itself.
  function stand(label, attributes, found, frame) {
    const control = label.control;
    if (!control || !/^(checkbox|radio)$/.test(control.type)) return;
    const rect = control.getBoundingClientRect();
    if (rect.width >= 2 && rect.height >= 2 && frame.view.getComputedStyle(control).visibility === "visible") return;
    Object.assign(attributes, { clickable: true, checkable: true, checked: control.checked });
    found.clickable = true;
    attributes.class = control.type === "radio" ? ROLES.radio : control.role === "switch" || control.classList.contains("switch") ? ROLES.switch : ROLES.checkbox;
  }

  return { SKIPPED, REPLACED, squeeze, labelOf, clickable, plain, hasText, scrollable, describe };
})();
system.labelOf = system.nodes.labelOf;
