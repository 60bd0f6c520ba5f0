// Languages & input: which input methods may be used, and which one is.
import { kept, setting } from "./values.js";

const enabled = setting("secure", "enabled_input_methods", "");
const chosen = setting("secure", "default_input_method", "");
const allowed = async () => (await enabled.get()).split(":");

// One input method among those that are enabled; the one in use cannot be taken away.
function membership(id) {
  return {
    get: async () => ((await allowed()).includes(id) ? "1" : "0"),
    async put(value) {
      const others = (await allowed()).filter((each) => each && each !== id);
      if (value === "0" && (await chosen.get()) === id) return phone.toast("This keyboard is in use");
      await enabled.put((value === "1" ? [...others, id] : others).join(":"));
    },
  };
}

const methods = phone.state.input_methods;

export const language = [
  {
    id: "system_language",
    title: "System language",
    choice: setting("system", "system_locales", "en-GB"),
    options: [
      ["en-GB", "English (United Kingdom)"],
      ["en-US", "English (United States)"],
      ["cs-CZ", "Čeština"],
      ["de-DE", "Deutsch"],
      ["es-ES", "Español"],
      ["fr-FR", "Français"],
      ["ja-JP", "日本語"],
      ["pl-PL", "Polski"],
      ["zh-CN", "简体中文"],
    ],
  },
  { section: "Keyboards" },
  {
    id: "current_keyboard",
    title: "Current keyboard",
    choice: chosen,
    options: async () => {
      const ids = await allowed();
      return methods.filter(({ id }) => ids.includes(id)).map(({ id, label }) => [id, label]);
    },
  },
  ...methods.map(({ id, label }) => ({
    id: `enable_${label.toLowerCase().replace(/[^a-z]+/g, "_")}`,
    title: label,
    toggle: membership(id),
  })),
  { section: "Tools" },
  { id: "spell_checker", title: "Spell checker", toggle: setting("secure", "spell_checker_enabled", "1") },
  { id: "autofill", title: "Autofill", toggle: kept("autofill", "1") },
];
