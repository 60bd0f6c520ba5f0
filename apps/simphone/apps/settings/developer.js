// Developer options: for who has become a developer, in about.js.
import { setting } from "./values.js";

const SCALES = [
  ["0.0", "Animation off"],
  ["0.5", "Animation scale .5x"],
  ["1.0", "Animation scale 1x"],
  ["1.5", "Animation scale 1.5x"],
  ["2.0", "Animation scale 2x"],
];

export const noDeveloper = async () => (await setting("global", "development_settings_enabled").get()) !== "1";

export const developer = [
  {
    id: "use_developer_options",
    title: "Use developer options",
    toggle: setting("global", "development_settings_enabled"),
  },
  {
    id: "stay_awake",
    title: "Stay awake",
    summary: "Screen will never sleep while charging",
    toggle: setting("global", "stay_on_while_plugged_in"),
    on: "7",
  },
  { section: "Debugging" },
  { id: "usb_debugging", title: "USB debugging", toggle: setting("global", "adb_enabled") },
  { section: "Input" },
  { id: "show_taps", title: "Show taps", toggle: setting("system", "show_touches") },
  { id: "pointer_location", title: "Pointer location", toggle: setting("system", "pointer_location") },
  { section: "Drawing" },
  {
    id: "window_scale",
    title: "Window animation scale",
    choice: setting("global", "window_animation_scale", "1.0"),
    options: SCALES,
  },
  {
    id: "transition_scale",
    title: "Transition animation scale",
    choice: setting("global", "transition_animation_scale", "1.0"),
    options: SCALES,
  },
  {
    id: "animator_scale",
    title: "Animator duration scale",
    choice: setting("global", "animator_duration_scale", "1.0"),
    options: SCALES,
  },
];
