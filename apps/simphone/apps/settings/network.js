// Network & internet.
import { kept, setting } from "./values.js";

const wifi = setting("global", "wifi_on");

export async function internet() {
  if ((await wifi.get()) === "0") return "Off";
  return phone.state.connected ?? "Not connected";
}

// Aeroplane mode takes Wi-Fi and Bluetooth with it, and gives them back.
async function fly(on) {
  const before = phone.state.radios_before_flight;
  for (const radio of ["wifi_on", "bluetooth_on"]) {
    const stored = setting("global", radio);
    if (on) before[radio] = await stored.get();
    await stored.put(on ? "0" : (before[radio] ?? "1"));
  }
  await phone.save();
}

export const network = [
  { id: "internet", icon: "wifi", title: "Internet", summary: internet, open: ".WifiSettings" },
  {
    id: "mobile_data",
    icon: "phone",
    title: "Mobile data",
    summary: "Simphone",
    toggle: setting("global", "mobile_data", "1"),
  },
  {
    id: "airplane_mode",
    icon: "plane",
    title: "Aeroplane mode",
    toggle: setting("global", "airplane_mode_on"),
    changed: fly,
  },
  {
    id: "hotspot",
    icon: "wifi",
    title: "Wi-Fi hotspot",
    summary: "Share this phone’s connection",
    toggle: kept("hotspot"),
  },
  { id: "data_saver", icon: "storage", title: "Data Saver", toggle: kept("data_saver") },
  {
    id: "private_dns",
    icon: "shield",
    title: "Private DNS",
    choice: setting("global", "private_dns_mode", "opportunistic"),
    options: [
      ["off", "Off"],
      ["opportunistic", "Automatic"],
    ],
  },
];
