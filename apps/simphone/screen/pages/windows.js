// Windows of activities: frames one over the other, of which the front one is seen and the others keep their state.
"use strict";

Object.assign(system, {
  frontToken: null,
  windows: new Map(), // token -> frame

  // Resolves when the page has loaded, or after five seconds.
  open({ token, url, package: name, zoom, extras }) {
    system.close(token);
    const frame = document.createElement("iframe");
    Object.assign(frame.dataset, { token, package: name, zoom, extras: JSON.stringify(extras) });
    frame.className = new URL(url, location.href).origin === location.origin ? "own" : "";
    // All but to put itself in the place of the whole phone.
    frame.sandbox = "allow-downloads allow-forms allow-modals allow-pointer-lock allow-popups allow-same-origin allow-scripts";
    system.windows.set(token, frame);
    system.pending++;
    const loaded = new Promise((resolve) => {
      frame.addEventListener("load", resolve, { once: true });
      setTimeout(resolve, 5000);
    }).finally(() => system.pending--);
    frame.src = url;
    document.getElementById("windows").append(frame);
    system.front(token, null, false);
    return loaded.then(() => {
      if (system.frontToken === token) system.focusWindow();
      system.keyboardFollows();
    });
  },

  // `token` null is the home screen. The page hears that it came to the front, unless it is there for the first time.
  front(token, result = null, again = true) {
    system.showRecents(null);
    system.frontToken = token;
    for (const [each, frame] of system.windows) frame.classList.toggle("front", each === token);
    system.layOut();
    system.showSheets();
    system.blurAll();
    const frame = system.windows.get(token);
    if (!frame || !again) return;
    system.resume(frame, result);
    system.focusWindow();
  },

  close(token) {
    const frame = system.windows.get(token);
    if (!frame) return;
    system.windows.delete(token);
    frame.dispatchEvent(new Event("load")); // nobody waits for it any more
    frame.remove();
    system.dropSheets(token);
    if (system.frontToken === token) system.front(null);
  },

  // A test changed the state of an app.
  refresh(name) {
    for (const frame of system.windows.values()) {
      if (frame.dataset.package === name) system.resume(frame, null);
    }
  },

  // What goes wrong there is the page's, not that of who asked for it.
  resume(frame, result) {
    try {
      frame.contentWindow?.phone?.resume?.(result);
    } catch (problem) {
      frame.contentWindow.reportError(problem);
    }
  },

  layOut() {
    const { clientWidth: width, clientHeight: height } = document.getElementById("area");
    for (const frame of system.windows.values()) {
      const zoom = Number(frame.dataset.zoom);
      frame.style.width = `${width / zoom}px`;
      frame.style.height = `${height / zoom}px`;
      frame.style.transform = zoom === 1 ? "" : `scale(${zoom})`;
    }
  },

  // The window of an activity to which a document in it belongs.
  owner(view) {
    while (view.parent !== window && view.parent !== view) view = view.parent;
    const { token = null, package: name = "android" } = view.frameElement?.dataset ?? {};
    return { owner: token, package: name };
  },

  recentsShown: () => !document.getElementById("recents").hidden,
  showRecents(entries) {
    const recents = document.getElementById("recents");
    recents.hidden = entries === null;
    if (entries === null) return;
    system.blurAll();
    const cards = entries.map(({ package: name, label, icon }) => {
      const card = Object.assign(document.createElement("button"), { className: "card" });
      card.append(system.face(icon, label), label);
      card.onclick = () => system.ask("com.android.launcher3/recents", "recents_choose", { package: name });
      return card;
    });
    const nothing = Object.assign(document.createElement("div"), { className: "nothing", textContent: "No recent items" });
    recents.replaceChildren(...(cards.length ? cards : [nothing]));
    recents.scrollTop = 0;
  },

  // True if something took it: else the activity ends.
  async back() {
    if (system.keyboardShown) return system.hideKeyboard(), true;
    if (system.topSheet()) return system.topSheet().cancel(), true;
    if (system.recentsShown()) return system.showRecents(null), system.focusWindow(), true;
    const page = system.windows.get(system.frontToken)?.contentWindow;
    try {
      return Boolean(await page?.phone?.onBack?.());
    } catch (problem) {
      page.reportError(problem);
      return false;
    }
  },

  // The innermost element at a place, whichever frame it is in, with its place there.
  elementAt(x, y) {
    let at = document.elementFromPoint(x, y);
    while (at?.contentDocument) {
      const rect = at.getBoundingClientRect();
      const scale = rect.width / at.offsetWidth;
      [x, y] = [(x - rect.left) / scale - at.clientLeft, (y - rect.top) / scale - at.clientTop];
      at = at.contentDocument.elementFromPoint(x, y);
    }
    return { element: at, x, y };
  },
  // Whether what lies at a place, or what it lies in, listens to touches.
  takesTouch(x, y) {
    const { element } = system.elementAt(x, y);
    const touch = Symbol.for("simphone.touch");
    for (let each = element; each; each = each.parentElement) if (each[touch] || each.matches("input[type=range]")) return true;
    return Boolean(element?.ownerDocument[touch] || element?.ownerDocument.defaultView[touch]);
  },
  // A browser moves the click of a touch to what can be clicked near by. Such a click is stopped (`missed`), and Python
  // clicks `again` where the finger was.
  finger: null,
  missed: false,
  again: false,
  pressing: false, // a long press: no click follows it
  longPress(x, y) {
    const { element, x: clientX, y: clientY } = system.elementAt(x, y);
    if (!element) return;
    system.pressing = true;
    const view = element.ownerDocument.defaultView;
    const kind = { bubbles: true, cancelable: true, composed: true, view, clientX, clientY, pointerType: "touch" };
    element.dispatchEvent(new view.PointerEvent("contextmenu", kind));
  },

  reward() {
    const view = system.windows.get(system.frontToken)?.contentWindow;
    return {
      reward: view?.WOB_REWARD_GLOBAL ?? null,
      raw_reward: view?.WOB_RAW_REWARD_GLOBAL ?? null,
      done: view?.WOB_DONE_GLOBAL ?? null,
      query: view?.document.querySelector("#query")?.innerText ?? null,
    };
  },
});

window.addEventListener("resize", () => system.layOut());
