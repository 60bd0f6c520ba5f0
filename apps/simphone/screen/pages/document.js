// Every document in the phone gets this before its own scripts: what a phone's browser does and one without a window
// does not (pickers, the keyboard, dialogs), scrolling that follows the finger exactly, and who listens to touches.
(() => {
  "use strict";
  const system = () => window.top.system;
  const listen = EventTarget.prototype.addEventListener;

  // Elements that listen are marked, for the hierarchy (clickable, long-clickable) and for `drag`.
  const MARKS = {
    click: "click", dblclick: "click", mousedown: "click", mouseup: "click", pointerup: "click", touchend: "click",
    touchstart: "touch", touchmove: "touch", pointerdown: "touch", pointermove: "touch", contextmenu: "long",
  };
  EventTarget.prototype.addEventListener = function (type, listener, options) {
    if (listener && MARKS[type]) (this ?? window)[Symbol.for(`simphone.${MARKS[type]}`)] = true;
    return listen.call(this ?? window, type, listener, options);
  };

  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`
    * { caret-color: transparent !important; -webkit-tap-highlight-color: transparent !important; }
    html { text-size-adjust: 100%; overscroll-behavior: none; }
    input::-webkit-inner-spin-button, input::-webkit-outer-spin-button { display: none !important; }`);
  // While a finger is used nothing but a field shows that it has the focus, until a key moves it.
  const touched = new CSSStyleSheet();
  touched.replaceSync(":focus:not(input, textarea, select, [contenteditable]) { outline: none !important; }");
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet, touched];
  listen.call(window, "touchstart", () => { touched.disabled = false; }, { capture: true, passive: true });
  listen.call(window, "keydown", (event) => { if (/^(Tab|Arrow)/.test(event.key)) touched.disabled = true; }, true);

  function dress() {
    if (!document.documentElement || window === window.top) return;
    if (system()?.dark) document.documentElement.dataset.theme = "dark";
    else delete document.documentElement.dataset.theme;
  }
  if (document.documentElement) dress();
  else new MutationObserver((_, observer) => { observer.disconnect(); dress(); }).observe(document, { childList: true });

  // Blocking dialogs would stop the whole phone, of which this page is a part: what needs an answer at once gets the
  // one that goes on, and is shown.
  window.alert = (text = "") => void system().dialog({ text: String(text), buttons: ["OK"], ...system().owner(window) });
  window.confirm = (text = "") => { system().toast(String(text)); return true; };
  window.prompt = (text = "", value = "") => { system().toast(String(text)); return String(value ?? ""); };
  window.print = () => {};
  window.open = (url) => { if (url) window.location.href = url; return null; };

  // Links and forms stay in their window.
  const stays = (target) => !target || target === "_self" || (target === "_parent" && window.parent !== window.top);
  const keep = (event) => {
    const element = event.composedPath()[0];
    const leaving = element.closest?.(event.type === "submit" ? "form" : "a, area");
    if (leaving && !stays(leaving.target) && !frames[leaving.target]) leaving.target = "_self";
  };
  const stop = (event) => { event.stopImmediatePropagation(); event.preventDefault(); };
  for (const type of ["mousedown", "mouseup", "click"]) {
    listen.call(window, type, (event) => {
      if (!event.isTrusted || !system()?.finger) return;
      const { pressing, again, finger } = system();
      const touched = event.sourceCapabilities?.firesTouchEvents;
      if (type === "mousedown" && touched && !pressing) {
        const at = onTop(window, event.clientX, event.clientY); // in whole pixels of its document
        const moved = Math.max(Math.abs(at.x - finger.x), Math.abs(at.y - finger.y)) > 1.01 * zoomOf(window);
        system().missed = moved || system().elementAt(finger.x, finger.y).element !== event.target;
      }
      if (pressing ? touched && type === "click" : system().missed && !again) stop(event);
    }, true);
  }
  for (const type of ["pointerdown", "pointerup", "pointermove"]) {
    listen.call(window, type, (event) => { if (system()?.again) event.stopImmediatePropagation(); }, true);
  }
  listen.call(window, "click", keep, true);
  listen.call(window, "submit", keep, true);
  listen.call(window, "contextmenu", (event) => event.preventDefault());

  // Pickers: the browser's own pop-ups are no part of the page.
  const PICKED = "select, input[type=date], input[type=time], input[type=datetime-local], input[type=month], " +
    "input[type=week], input[type=color], input[type=file]";
  const picked = (event) => {
    const field = event.composedPath()[0].closest?.(PICKED);
    return field && !field.disabled && !field.readOnly && !field.matches(":disabled") ? field : null;
  };
  listen.call(window, "mousedown", (event) => { if (picked(event)) event.preventDefault(); }, true);
  listen.call(window, "click", (event) => {
    const field = picked(event);
    if (!field) return;
    event.preventDefault();
    system().choose(field);
  }, true);
  listen.call(window, "touchend", (event) => { // a list of options takes a touch without any event of the mouse
    const field = picked(event);
    if (field?.localName !== "select" || !(field.multiple || field.size > 1) || touch?.scroller) return;
    event.preventDefault();
    system().choose(field);
  }, { capture: true, passive: false });
  listen.call(window, "keydown", (event) => {
    if ((event.key !== "Enter" && event.key !== " ") || !picked(event)) return;
    event.preventDefault();
    system().choose(picked(event));
  }, true);
  for (const each of [HTMLSelectElement, HTMLInputElement]) {
    each.prototype.showPicker = function () { if (this.matches(PICKED)) system().choose(this); };
  }

  // The keyboard.
  listen.call(window, "focusin", (event) => system()?.focused(event.composedPath()[0]), true);
  listen.call(window, "click", (event) => system()?.focused(event.composedPath()[0]), true);

  // Scrolling. Where the page takes the touch for itself (preventDefault, touch-action) it does not scroll.
  // A place in the system's page.
  function onTop(view, x, y) {
    const frame = view.frameElement;
    if (!frame) return { x, y };
    const rect = frame.getBoundingClientRect();
    const scale = rect.width / frame.offsetWidth;
    return onTop(view.parent, rect.left + (frame.clientLeft + x) * scale, rect.top + (frame.clientTop + y) * scale);
  }
  let touch = null;
  listen.call(window, "touchstart", (event) => {
    const first = event.touches[0]; // on the screen: in the document the finger may stand still, when its frame follows
    if (system()) system().finger = onTop(window, first.clientX, first.clientY);
    touch = event.touches.length === 1 ? { x: first.screenX, y: first.screenY, element: event.composedPath()[0] } : null;
  }, { capture: true, passive: true });
  listen.call(window, "touchmove", (event) => {
    if (!touch || event.defaultPrevented || touch.element.matches?.("input[type=range]")) return;
    const x = event.touches[0].screenX - touch.x;
    const y = event.touches[0].screenY - touch.y;
    touch.scroller ??= scrollerFor(touch.element, x, y);
    if (event.cancelable) event.preventDefault();
    touch.scroller.to(x, y);
  }, { passive: false });

  const NONE = { to() {} };
  function scrollerFor(element, x, y) {
    const axis = Math.abs(y) >= Math.abs(x)
      ? { moved: y, pan: "pan-y", overflow: "overflowY", position: "scrollTop", whole: "scrollHeight", seen: "clientHeight", to: "top" }
      : { moved: x, pan: "pan-x", overflow: "overflowX", position: "scrollLeft", whole: "scrollWidth", seen: "clientWidth", to: "left" };
    for (let node = element; node; ) {
      const style = node.ownerDocument.defaultView.getComputedStyle(node);
      if (!/auto|manipulation/.test(style.touchAction) && !style.touchAction.includes(axis.pan)) return NONE;
      if (scrolls(node, style, axis)) {
        const start = node[axis.position];
        const vertical = axis.to === "top";
        const scale = zoomOf(node.ownerDocument.defaultView);
        return { to: (dx, dy) => node.scrollTo({ [axis.to]: start - (vertical ? dy : dx) / scale, behavior: "instant" }) };
      }
      const above = node.assignedSlot ?? node.parentElement ?? node.getRootNode().host;
      if (above) { node = above; continue; }
      node = node.ownerDocument.defaultView.frameElement;
    }
    return NONE;
  }
  // How much larger a document is on the screen than in itself.
  function zoomOf(view) {
    const frame = view.frameElement;
    return frame ? (zoomOf(view.parent) * frame.getBoundingClientRect().width) / frame.offsetWidth : 1;
  }
  function scrolls(node, style, axis) {
    const root = node.ownerDocument.scrollingElement;
    const html = node.ownerDocument.documentElement;
    const body = node.ownerDocument.body;
    const view = node.ownerDocument.defaultView;
    const htmlClips = view.getComputedStyle(html)[axis.overflow] !== "visible";
    if (node === root) { // the viewport, to which the body's overflow belongs unless the root element has one
      const of = htmlClips || !body ? html : body;
      if (/hidden|clip/.test(view.getComputedStyle(of)[axis.overflow])) return false;
    } else if ((node === body && !htmlClips) || node === html || !/auto|scroll/.test(style[axis.overflow])) {
      return false;
    }
    const position = Math.abs(node[axis.position]);
    const most = node[axis.whole] - node[axis.seen];
    if (most < 1) return false;
    const backwards = node[axis.position] < 0 || (axis.to === "left" && style.direction === "rtl");
    return (axis.moved < 0) !== backwards ? position < most - 0.5 : position > 0.5;
  }
})();
