// Display, and what Accessibility has of it.
import { setting } from "./values.js";

const FONT_SIZE = {
  id: "font_size",
  title: "Font size",
  choice: setting("system", "font_scale", "1.0"),
  options: [
    ["0.85", "Small"],
    ["1.0", "Default"],
    ["1.15", "Large"],
    ["1.3", "Largest"],
  ],
};

export const display = [
  { section: "Brightness" },
  {
    id: "brightness",
    title: "Brightness level",
    slider: setting("system", "screen_brightness", "102"),
    min: 1,
    max: 255,
  },
  {
    id: "adaptive_brightness",
    title: "Adaptive brightness",
    toggle: setting("system", "screen_brightness_mode", "1"),
  },
  { section: "Lock display" },
  {
    id: "screen_timeout",
    title: "Screen timeout",
    choice: setting("system", "screen_off_timeout", "60000"),
    options: [
      ["15000", "15 seconds"],
      ["30000", "30 seconds"],
      ["60000", "1 minute"],
      ["120000", "2 minutes"],
      ["300000", "5 minutes"],
      ["600000", "10 minutes"],
      ["1800000", "30 minutes"],
    ],
  },
  { section: "Appearance" },
  {
    id: "dark_theme",
    title: "Dark theme",
    toggle: setting("secure", "ui_night_mode", "1"),
    on: "2",
    off: "1",
  },
  FONT_SIZE,
  { section: "Colour" },
  {
    id: "night_light",
    title: "Night Light",
    summary: "Tints the screen amber in the evening",
    toggle: setting("secure", "night_display_activated"),
  },
  { section: "Other display controls" },
  {
    id: "auto_rotate",
    title: "Auto-rotate screen",
    toggle: setting("system", "accelerometer_rotation", "1"),
  },
];

export const accessibility = [
  FONT_SIZE,
  {
    id: "high_contrast_text",
    title: "High-contrast text",
    toggle: setting("secure", "high_text_contrast_enabled"),
  },
  {
    id: "colour_inversion",
    title: "Colour inversion",
    toggle: setting("secure", "accessibility_display_inversion_enabled"),
  },
  {
    id: "remove_animations",
    title: "Remove animations",
    toggle: setting("global", "animator_duration_scale", "1.0"),
    on: "0.0",
    off: "1.0",
  },
  {
    id: "touch_hold_delay",
    title: "Touch & hold delay",
    choice: setting("secure", "long_press_timeout", "400"),
    options: [
      ["400", "Short"],
      ["1000", "Medium"],
      ["1500", "Long"],
    ],
  },
];
