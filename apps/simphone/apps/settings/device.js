// Battery and storage. What they show of the phone is fixed.
import { fixed, setting } from "./values.js";

export const battery = [
  {
    id: "battery_saver",
    title: "Battery Saver",
    summary: "Extends battery life by limiting background activity",
    toggle: setting("global", "low_power"),
  },
  {
    id: "adaptive_battery",
    title: "Adaptive Battery",
    toggle: setting("global", "adaptive_battery_management_enabled", "1"),
  },
  {
    id: "battery_percentage",
    title: "Battery percentage",
    summary: "Show the percentage in the status bar",
    toggle: setting("system", "status_bar_show_battery_percent", "1"),
  },
  { section: "Usage since last full charge" },
  { id: "usage_shop", title: "Shop", info: fixed("12%") },
  { id: "usage_messages", title: "Messages", info: fixed("5%") },
  { id: "usage_screen", title: "Screen", info: fixed("31%") },
];

export const storage = [
  { id: "storage_used", title: "41 GB used", info: fixed("of 128 GB") },
  {
    id: "storage_manager",
    title: "Storage manager",
    summary: "Removes what is backed up after 90 days",
    toggle: setting("secure", "automatic_storage_manager_enabled"),
  },
  { section: "By category" },
  { id: "storage_apps", title: "Apps", info: fixed("11 GB") },
  { id: "storage_images", title: "Images", info: fixed("8.4 GB") },
  { id: "storage_videos", title: "Videos", info: fixed("6.1 GB") },
  { id: "storage_system", title: "System", info: fixed("15 GB") },
];
