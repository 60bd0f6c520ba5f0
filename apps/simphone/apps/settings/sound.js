// Sound, and what interrupts: notifications.
import { setting } from "./values.js";

const DO_NOT_DISTURB = { id: "do_not_disturb", title: "Do Not Disturb", toggle: setting("global", "zen_mode") };

export const sound = [
  {
    id: "media_volume",
    title: "Media volume",
    slider: setting("system", "volume_music", "5"),
    min: 0,
    max: 15,
  },
  { id: "ring_volume", title: "Ring volume", slider: setting("system", "volume_ring", "5"), min: 0, max: 7 },
  {
    id: "alarm_volume",
    title: "Alarm volume",
    slider: setting("system", "volume_alarm", "6"),
    min: 1,
    max: 7,
  },
  DO_NOT_DISTURB,
  { id: "vibrate_for_calls", title: "Vibrate for calls", toggle: setting("system", "vibrate_when_ringing") },
  {
    id: "ringtone",
    title: "Phone ringtone",
    choice: setting("system", "ringtone", "Evening tide"),
    options: ["None", "Evening tide", "Brass hour", "Glass steps", "Old bell", "Rain on tin"].map((each) => [
      each,
      each,
    ]),
  },
  {
    id: "notification_sound",
    title: "Default notification sound",
    choice: setting("system", "notification_sound", "Pebble"),
    options: ["None", "Pebble", "Drop", "Knock", "Spark"].map((each) => [each, each]),
  },
  { section: "Other sounds" },
  { id: "dial_pad_tones", title: "Dial pad tones", toggle: setting("system", "dtmf_tone", "1") },
  {
    id: "touch_sounds",
    title: "Tap and click sounds",
    toggle: setting("system", "sound_effects_enabled", "1"),
  },
  {
    id: "touch_feedback",
    title: "Touch feedback",
    toggle: setting("system", "haptic_feedback_enabled", "1"),
  },
];

export const notifications = [
  {
    id: "notification_history",
    title: "Notification history",
    toggle: setting("secure", "notification_history_enabled"),
  },
  {
    id: "bubbles",
    title: "Bubbles",
    summary: "Conversations can appear as floating icons",
    toggle: setting("secure", "notification_bubbles", "1"),
  },
  { section: "Privacy" },
  {
    id: "lock_screen_notifications",
    title: "Notifications on lock screen",
    choice: setting("secure", "lock_screen_show_notifications", "1"),
    options: [
      ["1", "Show all notifications"],
      ["0", "Don’t show any notifications"],
    ],
  },
  { section: "General" },
  DO_NOT_DISTURB,
  {
    id: "notification_dots",
    title: "Notification dot on app icon",
    toggle: setting("secure", "notification_badging", "1"),
  },
];
