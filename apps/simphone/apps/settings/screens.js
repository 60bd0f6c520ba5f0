// The screens of settings that are lists of preferences: `activity` shows it, `preferences` as in preferences.js.
import { about } from "./about.js";
import { dateAndTime } from "./datetime.js";
import { developer, noDeveloper } from "./developer.js";
import { battery, storage } from "./device.js";
import { accessibility, display } from "./display.js";
import { language } from "./language.js";
import { network } from "./network.js";
import { location, security } from "./privacy.js";
import { notifications, sound } from "./sound.js";

export const SCREENS = {
  network: { title: "Network & internet", activity: ".NetworkSettings", preferences: network },
  notifications: { title: "Notifications", activity: ".NotificationSettings", preferences: notifications },
  battery: { title: "Battery", activity: ".BatterySettings", preferences: battery },
  storage: { title: "Storage", activity: ".StorageSettings", preferences: storage },
  sound: { title: "Sound & vibration", activity: ".SoundSettings", preferences: sound },
  display: { title: "Display", activity: ".DisplaySettings", preferences: display },
  accessibility: { title: "Accessibility", activity: ".AccessibilitySettings", preferences: accessibility },
  security: { title: "Security & privacy", activity: ".SecuritySettings", preferences: security },
  location: { title: "Location", activity: ".LocationSettings", preferences: location },

  system: {
    title: "System",
    activity: ".SystemSettings",
    preferences: [
      { id: "languages", title: "Languages & input", open: ".LanguageSettings" },
      { id: "date_time", title: "Date & time", open: ".DateTimeSettings" },
      {
        id: "software_updates",
        title: "Software updates",
        summary: "Up to date",
        act: () => phone.toast("Your system is up to date"),
      },
      {
        id: "developer_options",
        title: "Developer options",
        open: ".DeveloperSettings",
        hidden: noDeveloper,
      },
    ],
  },

  language: { title: "Languages & input", activity: ".LanguageSettings", preferences: language },
  datetime: { title: "Date & time", activity: ".DateTimeSettings", preferences: dateAndTime },
  about: { title: "About phone", activity: ".AboutPhone", preferences: about },

  developer: {
    title: "Developer options",
    activity: ".DeveloperSettings",
    hidden: noDeveloper,
    preferences: developer,
  },
};
