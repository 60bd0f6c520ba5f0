// Settings: the list of all, and search.
//
// State: {build_taps, radios_before_flight: {key: value}, connected: ssid | null,
//         networks: [{ssid, secured, password, saved}], bluetooth_devices: [{name, paired, connected}],
//         input_methods: [{id, label}], apps: [{package, label, version, size, notifications, permissions: {name: bool}}],
//         preferences: {key: text}}.
// What Android has a key for lies in the phone's settings (global wifi_on, secure ui_night_mode, …), not here.
import { bar, h, iconButton, row, show } from "/common/elements.js";
import { drawn } from "./preferences.js";
import { SCREENS } from "./screens.js";

const OWN_PAGES = [
  { title: "Internet", activity: ".WifiSettings", preferences: [{ title: "Wi-Fi" }, { title: "Add network" }] },
  {
    title: "Connected devices",
    activity: ".BluetoothSettings",
    preferences: [{ title: "Bluetooth" }, { title: "Pair new device" }],
  },
  { title: "Apps", activity: ".ApplicationSettings", preferences: [{ title: "App info" }] },
];
const ALL = [
  { section: "Connections" },
  {
    id: "network",
    icon: "wifi",
    title: "Network & internet",
    summary: "Wi-Fi, mobile, aeroplane mode",
    open: ".NetworkSettings",
  },
  {
    id: "connected_devices",
    icon: "bluetooth",
    title: "Connected devices",
    summary: "Bluetooth, pairing",
    open: ".BluetoothSettings",
  },
  { section: "Apps and notifications" },
  {
    id: "apps",
    icon: "apps",
    title: "Apps",
    summary: "Permissions, notifications of each",
    open: ".ApplicationSettings",
  },
  {
    id: "notifications",
    icon: "bell",
    title: "Notifications",
    summary: "History, conversations",
    open: ".NotificationSettings",
  },
  { section: "Device" },
  { id: "battery", icon: "battery", title: "Battery", summary: "Battery Saver, usage", open: ".BatterySettings" },
  { id: "storage", icon: "storage", title: "Storage", summary: "32% used – 87 GB free", open: ".StorageSettings" },
  {
    id: "sound",
    icon: "sound",
    title: "Sound & vibration",
    summary: "Volume, ringtone, Do Not Disturb",
    open: ".SoundSettings",
  },
  {
    id: "display",
    icon: "display",
    title: "Display",
    summary: "Dark theme, font size, brightness",
    open: ".DisplaySettings",
  },
  {
    id: "accessibility",
    icon: "accessibility",
    title: "Accessibility",
    summary: "Text, colours, touch",
    open: ".AccessibilitySettings",
  },
  { section: "Privacy" },
  {
    id: "security",
    icon: "lock",
    title: "Security & privacy",
    summary: "Screen lock, permissions",
    open: ".SecuritySettings",
  },
  { id: "location", icon: "location", title: "Location", open: ".LocationSettings" },
  { section: "Phone" },
  { id: "system", icon: "system", title: "System", summary: "Languages, time, updates", open: ".SystemSettings" },
  { id: "about", icon: "info", title: "About phone", open: ".AboutPhone" },
];
let query = null; // null: nothing is searched

async function results() {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const screens = [];
  for (const screen of [...OWN_PAGES, ...Object.values(SCREENS)]) if (!(await screen.hidden?.())) screens.push(screen);
  const entries = screens.flatMap((screen) => [
    { title: screen.title, path: "Settings", activity: screen.activity },
    ...screen.preferences
      .filter((each) => each.title && !each.open)
      .map((each) => ({ title: each.title, path: screen.title, activity: screen.activity })),
  ]);
  const found = words.length
    ? entries.filter(({ title }) =>
        words.every((word) => title.toLowerCase().replace(/-/g, "").includes(word.replace(/-/g, ""))),
      )
    : [];
  if (words.length && !found.length) return [h("p", { id: "empty", class: "empty" }, `No results for “${query}”`)];
  return found.map(({ title, path, activity }, at) =>
    row({ id: `result_${at}`, title, summary: path, onclick: () => phone.start(activity) }),
  );
}

function header() {
  if (query === null)
    return bar({
      title: "Settings",
      up: null,
      actions: [iconButton({ id: "open_search", icon: "search", label: "Search settings", onclick: () => search("") })],
    });
  const input = h("input", {
    id: "search",
    type: "search",
    placeholder: "Search settings",
    value: query,
    autocomplete: "off",
  });
  input.addEventListener("input", async () => {
    const asked = (query = input.value);
    const found = await results();
    if (asked === query) document.querySelector("main").replaceChildren(...found);
  });
  return h(
    "header",
    { class: "bar" },
    iconButton({ id: "close_search", icon: "back", label: "Close search", onclick: () => search(null) }),
    input,
  );
}

async function search(text) {
  query = text;
  await render();
  document.getElementById("search")?.focus();
}

async function render() {
  const device = await phone.settings.get("global", "device_name");
  const all = ALL.map((each) => (each.id === "about" ? { ...each, summary: device } : each));
  show(header(), h("main", {}, query === null ? await drawn(all, render) : await results()));
}

phone.onBack = () => {
  if (query === null) return false;
  search(null);
  return true;
};
phone.onresume = render;
render();
