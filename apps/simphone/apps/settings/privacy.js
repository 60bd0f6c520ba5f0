// Security and location.
import { kept, setting } from "./values.js";

export const security = [
  { section: "Device unlock" },
  {
    id: "screen_lock",
    title: "Screen lock",
    choice: kept("screen_lock", "swipe"),
    options: [
      ["none", "None"],
      ["swipe", "Swipe"],
    ],
  },
  { section: "Privacy" },
  {
    id: "show_passwords",
    title: "Show passwords",
    summary: "Display characters briefly as they are typed",
    toggle: setting("system", "show_password", "1"),
  },
  { id: "camera_access", title: "Camera access", toggle: kept("camera_access", "1") },
  { id: "microphone_access", title: "Microphone access", toggle: kept("microphone_access", "1") },
];

export const location = [
  { id: "use_location", title: "Use location", toggle: setting("secure", "location_mode", "3"), on: "3" },
  {
    id: "wifi_scanning",
    title: "Wi-Fi scanning",
    toggle: setting("global", "wifi_scan_always_enabled", "1"),
  },
  {
    id: "bluetooth_scanning",
    title: "Bluetooth scanning",
    toggle: setting("global", "ble_scan_always_enabled"),
  },
];
