// Date & time. What is set by hand is kept by the app: the phone's clock goes on as it was.
import { kept, setting } from "./values.js";

const automatic = setting("global", "auto_time", "1");
const date = kept("date", "2026-03-02");
const time = kept("time", "10:00");
const isAutomatic = async () => (await automatic.get()) === "1";

async function pickDate(redraw) {
  const picked = await phone.pickDate({ date: await date.get() });
  if (picked) await date.put(picked);
  redraw();
}

async function pickTime(redraw) {
  const [hours, minutes] = (await time.get()).split(":").map(Number);
  const picked = await phone.pickTime({ hours, minutes });
  if (picked) await time.put([picked.hours, picked.minutes].map((each) => String(each).padStart(2, "0")).join(":"));
  redraw();
}

export const dateAndTime = [
  { id: "auto_time", title: "Set time automatically", toggle: automatic },
  { id: "date", title: "Date", summary: date.get, act: pickDate, hidden: isAutomatic },
  { id: "time", title: "Time", summary: time.get, act: pickTime, hidden: isAutomatic },
  { section: "Time zone" },
  { id: "auto_time_zone", title: "Set time zone automatically", toggle: setting("global", "auto_time_zone", "1") },
  {
    id: "time_zone",
    title: "Time zone",
    choice: kept("time_zone", "Europe/London"),
    options: [
      ["America/Los_Angeles", "GMT-08:00 Pacific Time"],
      ["America/New_York", "GMT-05:00 Eastern Time"],
      ["Europe/London", "GMT+00:00 United Kingdom Time"],
      ["Europe/Berlin", "GMT+01:00 Central European Time"],
      ["Asia/Kolkata", "GMT+05:30 India Time"],
      ["Asia/Tokyo", "GMT+09:00 Japan Time"],
    ],
    hidden: async () => (await phone.settings.get("global", "auto_time_zone")) !== "0",
  },
  { section: "Time format" },
  {
    id: "use_24_hour",
    title: "Use 24-hour format",
    toggle: setting("system", "time_12_24", "24"),
    on: "24",
    off: "12",
  },
];
