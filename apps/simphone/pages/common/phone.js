// What the apps of the simulated phone include, before their own scripts:
//   <link rel="stylesheet" href="/common/phone.css"><script src="/common/phone.js"></script>
// `phone` is an app's whole view of the system. Calls to the system are counted by it, so that a tap is over when
// what it asked for has happened.
"use strict";

window.phone = (() => {
  const system = window.top.system;
  const { package: name, token, extras } = window.frameElement.dataset;

  function stored() {
    const request = new XMLHttpRequest();
    request.open("GET", `/store/${name}`, false); // synchronous: the state is there before the page's own scripts run
    request.send();
    if (request.status !== 200) throw new Error(`the state of ${name} cannot be read: ${request.responseText}`);
    return JSON.parse(request.responseText);
  }

  const own = { package: name, owner: token };
  const call = (method, args = {}) => system.request("POST", `/call/${name}/${token}/${method}`, args);

  const phone = {
    package: name,
    // What the activity was started with.
    extras: JSON.parse(extras || "{}"),
    // One JSON object for the whole app, shared by its windows; read anew when a window comes to the front.
    state: stored(),
    save: () => system.request("PUT", `/store/${name}`, phone.state),
    // Appends to the app's record, which outlives restarts: orders, payments, messages sent.
    log: (kind, data = {}) => system.request("POST", `/log/${name}`, { kind, data }),

    // Another activity: ".DetailActivity" of this app, "package/.Activity" of another, or an intent's action
    // ("android.settings.WIFI_SETTINGS").
    start: (activity, extras = {}) => call("start", { activity, extras }),
    // Ends this window; the one below gets `result` by its `onresult`.
    finish: (result = null) => call("finish", { result }),
    home: () => call("home"),
    launch: (other) => call("launch", { package: other }),

    toast: (text) => system.toast(String(text)),
    // Resolves to the index of the button, -1 when it is dismissed by back.
    dialog: ({ title = "", text = "", buttons = ["OK"] }) => system.dialog({ title, text, buttons, ...own }),
    // Resolves to the index of the option, -1 when it is dismissed.
    pick: ({ title = "", options, selected = -1 }) => system.pick({ title, options, selected, ...own }),
    // Resolves to {hours, minutes}, or null when it is dismissed.
    pickTime: ({ hours = 0, minutes = 0 } = {}) => system.pickTime({ hours, minutes, ...own }),
    // Resolves to "YYYY-MM-DD", or null when it is dismissed.
    pickDate: ({ date = "" } = {}) => system.pickDate({ date, ...own }),

    settings: {
      get: (namespace, key) => call("settings_get", { namespace, key }),
      put: (namespace, key, value) => call("settings_put", { namespace, key, value: String(value) }),
    },
    property: (key) => call("property", { name: key }),
    // The phone's clock, which tests may hold still: use it in place of `new Date()`.
    now: () => system.now(),

    // Return true to keep the window open when back is pressed.
    onBack: () => false,
    onresume: null,
    onresult: null,
    // Called by the system when the window comes to the front again.
    resume(result) {
      phone.state = stored();
      if (result !== null && phone.onresult) phone.onresult(result);
      if (phone.onresume) phone.onresume();
    },
  };
  return phone;
})();
