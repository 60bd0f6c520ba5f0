// The system's page: what the whole phone shows. Python calls the methods of `system` (display.py), pages of apps those
// that phone.js names. Every change is a method of it, so that what was shown can be shown again after a crash.
"use strict";

window.system = {
  dark: false,
  screenOn: true,
  time: null, // milliseconds; null: it runs with the host's
  pending: 0, // requests under way, and windows that are loading

  async request(method, url, body) {
    system.pending++;
    try {
      const answer = await fetch(url, { method, body: JSON.stringify(body) });
      const text = await answer.text();
      if (answer.ok) return JSON.parse(text);
      throw new Error(answer.headers.get("content-type")?.includes("json") ? JSON.parse(text).error : text);
    } finally {
      system.pending--;
    }
  },
  ask: (place, method, args = {}) => system.request("POST", `/call/${place}/${method}`, args),

  // Resolves when what a touch or a key began is done, to what was typed on the keyboard meanwhile.
  async settled() {
    const until = performance.now() + 5000;
    for (let calm = 0; calm < 3 && performance.now() < until; ) {
      await new Promise((resolve) => setTimeout(resolve, system.pending ? 4 : 0));
      calm = system.pending ? 0 : calm + 1;
    }
    system.keyboardFollows();
    return system.typed.splice(0);
  },

  now: () => (system.time === null ? new Date() : new Date(system.time)),
  setTime(milliseconds) {
    system.time = milliseconds;
    system.tick();
  },
  tick() {
    system.keyboardFollows();
    const now = system.now();
    const two = (number) => String(number).padStart(2, "0");
    const clock = document.getElementById("clock");
    const text = `${two(now.getHours())}:${two(now.getMinutes())}`;
    if (clock.textContent !== text) clock.textContent = text;
  },
  setStatus({ wifi, mobile, airplane, bluetooth, battery }) {
    for (const [id, shown] of Object.entries({ wifi, mobile: mobile && !airplane, airplane, bluetooth })) {
      document.getElementById(id).toggleAttribute("hidden", !shown);
    }
    document.getElementById("percent").textContent = `${battery}%`;
    const height = (14 * battery) / 100;
    document.getElementById("charge").setAttribute("y", 20 - height);
    document.getElementById("charge").setAttribute("height", height);
  },
  setTheme(dark) {
    system.dark = dark;
    for (const each of system.documents(document)) {
      if (dark) each.documentElement.dataset.theme = "dark";
      else delete each.documentElement.dataset.theme;
    }
  },
  *documents(root) {
    yield root;
    for (const frame of root.querySelectorAll("iframe, frame")) {
      if (frame.contentDocument?.documentElement) yield* system.documents(frame.contentDocument);
    }
  },
  power(on) {
    system.screenOn = on;
    document.getElementById("off").hidden = on;
  },
  animate(on) {
    document.getElementById("animation").hidden = !on;
  },

  face(icon, label) {
    const face = document.createElement("span");
    face.className = "face";
    face.ariaHidden = "true";
    if (/^(\/|https?:|data:)/.test(icon)) face.append(Object.assign(new Image(), { src: icon, alt: "" }));
    else face.textContent = icon || label.slice(0, 1);
    return face;
  },
  setLauncher(entries) {
    document.getElementById("apps").replaceChildren(...entries.map(({ package: name, label, icon }) => {
      const app = Object.assign(document.createElement("button"), { className: "app", title: label });
      app.dataset.class = "android.widget.TextView";
      const text = Object.assign(document.createElement("span"), { className: "label", textContent: label });
      app.append(system.face(icon, label), text);
      app.onclick = () => system.ask("com.android.launcher3/home", "launch", { package: name });
      return app;
    }));
  },

  state() {
    system.keyboardFollows();
    const sheet = system.topSheet();
    return {
      front: system.frontToken,
      keyboard: system.keyboardShown,
      dialog: sheet ? [sheet.title, sheet.text].filter(Boolean).join("\n") : null,
      recents: system.recentsShown(),
      toasts: [...system.toasts],
      focused: system.focusedField(),
    };
  },
};

document.addEventListener("DOMContentLoaded", () => {
  for (const [id, method] of [["back", "back"], ["home", "home"], ["overview", "recents"]]) {
    document.getElementById(id).onclick = () => system.ask("com.android.systemui/navigation", method);
  }
  // The touch of a bar or a key does not take the focus from the app.
  for (const id of ["navigation", "keyboard", "status"]) {
    document.getElementById(id).addEventListener("mousedown", (event) => event.preventDefault());
  }
  setInterval(system.tick, 1000);
});
