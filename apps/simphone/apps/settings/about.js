// About phone. Seven taps on the build number make a developer.
import { fixed, property, setting } from "./values.js";

const TAPS = 7;
const developer = setting("global", "development_settings_enabled");

async function tapped() {
  if ((await developer.get()) === "1") return phone.toast("No need, you are already a developer.");
  phone.state.build_taps += 1;
  const left = TAPS - phone.state.build_taps;
  if (left <= 0) {
    phone.state.build_taps = 0;
    await developer.put("1");
    phone.toast("You are now a developer!");
  } else if (left < TAPS - 2) {
    phone.toast(`You are now ${left} ${left === 1 ? "step" : "steps"} away from being a developer.`);
  }
  await phone.save();
}

export const about = [
  { section: "Basic info" },
  { id: "device_name", title: "Device name", text: setting("global", "device_name", "Simphone") },
  { id: "phone_number", title: "Phone number", info: fixed("+44 7700 900654") },
  { section: "Device details" },
  { id: "sim_status", title: "SIM status", info: fixed("Simphone · connected") },
  { id: "model", title: "Model", info: property("ro.product.model") },
  { id: "serial_number", title: "Serial number", info: property("ro.serialno") },
  { id: "imei", title: "IMEI", info: fixed("35 209900 176148 1") },
  { section: "Device identifiers" },
  { id: "ip_address", title: "IP address", info: fixed("192.0.2.17") },
  { id: "wifi_mac", title: "Wi-Fi MAC address", info: fixed("02:00:5e:10:00:17") },
  { id: "bluetooth_address", title: "Bluetooth address", info: fixed("02:00:5e:10:00:18") },
  { section: "Software" },
  { id: "android_version", title: "Android version", info: property("ro.build.version.release") },
  { id: "security_update", title: "Android security update", info: property("ro.build.version.security_patch") },
  { id: "kernel_version", title: "Kernel version", info: fixed("6.1.57-simphone") },
  { id: "build_number", title: "Build number", summary: property("ro.build.display.id").get, act: tapped },
];
