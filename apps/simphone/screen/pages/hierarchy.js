// The window in front as `uiautomator dump` writes it: a walk over its document and the frames in it.
"use strict";

(() => {
  const { meet, seen, onScreen, frameIn, whole } = system.geometry;
  const { SKIPPED, REPLACED, squeeze, clickable, plain, hasText, scrollable, describe } = system.nodes;

  // Adds the nodes of an element and what is in it to `out`. `clip` bounds what is in the flow, `wide` what is positioned
  // against an ancestor further up.
  function walk(element, frame, clip, wide, dim, out) {
    const name = element.localName;
    if (SKIPPED.has(name)) return;
    const rect = element.getBoundingClientRect();
    if (!element.firstElementChild && !element.shadowRoot && name !== "slot" && !seen(meet(onScreen(frame, rect), frame.bounds))) return;
    const style = frame.view.getComputedStyle(element);
    if (style.display === "none") return;
    const input = name === "input" || name === "select" || name === "textarea";
    if (element.ariaHidden === "true" && !input && name !== "button") return;
    if (style.opacity === "0" && !input) return;
    const positioned = style.position !== "static" || style.transform !== "none";
    if (style.position === "fixed") clip = frame.bounds;
    else if (style.position === "absolute") clip = wide;
    const box = style.display === "contents" ? clip : onScreen(frame, rect);
    const shown = meet(box, clip);
    const outside = !seen(shown);
    let inner = clip;
    const viewport = element === frame.document.documentElement || (element === frame.document.body && frame.bodyOpen);
    const clips = style.overflowX !== "visible" || style.overflowY !== "visible";
    if (!viewport && clips && style.display !== "contents" && !/^inline$/.test(style.display)) {
      if (outside) return;
      inner = shown;
    }
    if (positioned) wide = inner;
    const below = [inner, wide, dim];

    if (name === "iframe" || name === "frame") {
      if (outside || style.visibility !== "visible") return;
      try {
        if (element.contentDocument?.documentElement) out.push(...documentIn(frameIn(frame, element), shown));
      } catch { /* a page that the browser made, about an error */ }
      return;
    }

    const node = outside || style.visibility !== "visible" || (element.type === "hidden" && input) ? null : describe(element, name, style, frame, shown, dim);
    const into = node ? node.children : out;
    if (node) {
      out.push(node);
      if (node.leaf) return;
      if (!node.attributes.enabled) below[2] = true;
    }
    if (name === "svg" || element.namespaceURI.endsWith("svg")) {
      for (const child of element.children) walk(child, frame, ...below, into);
      return;
    }
    const root = element.shadowRoot ?? element;
    if (style.visibility === "visible" && !outside && hasText(root)) {
      mixed(root, frame, below, into);
      return;
    }
    for (const child of name === "slot" ? element.assignedElements({ flatten: true }) : root.children) walk(child, frame, ...below, into);
  }

  // Text beside elements: the pieces of text become nodes of their own.
  function mixed(element, frame, below, out) {
    let run = [];
    const flush = () => {
      const text = squeeze(run.map((each) => each.textContent).join(""));
      if (text) {
        const range = frame.document.createRange();
        range.setStartBefore(run[0]);
        range.setEndAfter(run.at(-1));
        const shown = meet(onScreen(frame, range.getBoundingClientRect()), below[0]);
        if (seen(shown)) out.push({ element: run.find((each) => each.nodeType === 1) ?? element, frame, box: shown, leaf: true, children: [], attributes: { class: "android.widget.TextView", text } });
      }
      run = [];
    };
    for (const child of element.childNodes) {
      if (child.nodeType === 3) run.push(child);
      else if (child.nodeType === 1) {
        const style = frame.view.getComputedStyle(child);
        const part = /^inline$/.test(style.display) && !REPLACED.has(child.localName) && !child.id && !clickable(child, child.localName, child.getAttribute("role") ?? "", style) && plain(child, frame.view);
        if (part || child.localName === "br") run.push(child);
        else {
          flush();
          walk(child, frame, ...below, out);
        }
      }
    }
    flush();
  }

  function enter(frame, bounds) {
    frame.bounds = bounds;
    frame.focused = frame.document.hasFocus() ? frame.document.activeElement : null;
    const style = frame.view.getComputedStyle(frame.document.documentElement);
    frame.bodyOpen = style.overflowY === "visible" && style.overflowX === "visible";
  }
  // The dialog of a page that leaves nothing else of it to be touched: a window of its own, as on Android.
  const modalIn = (frame) => [...frame.document.querySelectorAll("dialog:modal, [aria-modal=true]")].findLast((each) =>
    each.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && seen(meet(onScreen(frame, each.getBoundingClientRect()), frame.bounds)));

  function documentIn(frame, bounds) {
    enter(frame, bounds);
    const html = frame.document.documentElement;
    const out = [];
    const scroller = frame.document.scrollingElement;
    const style = scroller && frame.view.getComputedStyle(frame.bodyOpen && frame.document.body ? frame.document.body : html);
    if (scroller && scrollable(scroller, style, frame)) {
      const node = { element: scroller, frame, box: bounds, leaf: false, children: [], attributes: { class: "android.widget.ScrollView", scrollable: true, focusable: true } };
      for (const child of html.children) walk(child, frame, bounds, bounds, false, node.children);
      out.push(node);
    } else {
      for (const child of html.children) walk(child, frame, bounds, bounds, false, out);
    }
    return out;
  }

  const ESCAPED = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\t": "&#9;", "\r": "&#13;" };
  const escaped = (text) => String(text).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "").toWellFormed().replace(/[&<>"\n\t\r]/g, (each) => ESCAPED[each]);

  function written(node, index, name) {
    const a = node.attributes;
    const id = !a.id ? "" : /[:/]/.test(a.id) ? a.id : `${name}:id/${a.id}`;
    const flag = (key) => `${key}="${Boolean(a[key])}"`;
    const [left, top, right, bottom] = node.box.map(Math.round);
    const head = `<node index="${index}" text="${escaped(a.text ?? "")}" resource-id="${escaped(id)}" class="${escaped(a.class)}" package="${escaped(name)}" ` +
      `content-desc="${escaped(a["content-desc"] ?? "")}" ${flag("checkable")} ${flag("checked")} ${flag("clickable")} enabled="${a.enabled !== false}" ` +
      `${flag("focusable")} ${flag("focused")} ${flag("scrollable")} ${flag("long-clickable")} ${flag("password")} ${flag("selected")} ` +
      `bounds="[${left},${top}][${right},${bottom}]" drawing-order="${index + 1}" hint="${escaped(a.hint ?? "")}"`;
    return node.children.length ? `${head}>${node.children.map((each, at) => written(each, at, name)).join("")}</node>` : `${head} />`;
  }

  system.hierarchy = (rotation) => {
    system.keyboardFollows();
    const outermost = whole();
    const screen = [0, 0, innerWidth * outermost.scale, innerHeight * outermost.scale];
    Object.assign(outermost, { bounds: screen, bodyOpen: false, focused: document.activeElement });
    const sheet = system.topSheet();
    const window_ = system.windows.get(system.frontToken);
    const children = [];
    let name = "com.android.launcher3";
    let bounds = screen;
    if (sheet) {
      name = sheet.package;
      bounds = onScreen(outermost, sheet.card.getBoundingClientRect());
      walk(sheet.card, outermost, screen, screen, false, children);
    } else if (system.recentsShown() || !window_) {
      const surface = document.getElementById(system.recentsShown() ? "recents" : "launcher");
      walk(surface, outermost, screen, screen, false, children);
    } else {
      name = window_.dataset.package;
      const frame = frameIn(outermost, window_);
      const shown = meet(onScreen(outermost, window_.getBoundingClientRect()), screen);
      const content = { root: true, box: shown, children: [], attributes: { class: "android.widget.FrameLayout", id: "android:id/content" } };
      if (frame.document?.documentElement) {
        enter(frame, shown);
        const modal = modalIn(frame);
        if (modal) {
          bounds = content.box = meet(onScreen(frame, modal.getBoundingClientRect()), shown);
          walk(modal, frame, shown, shown, false, content.children);
        } else content.children = documentIn(frame, shown);
      }
      children.push(content);
    }
    const root = { root: true, box: bounds, children: system.uncover(children), attributes: { class: "android.widget.FrameLayout" } };
    return `<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation="${rotation}">${written(root, 0, name)}</hierarchy>`;
  };
})();
