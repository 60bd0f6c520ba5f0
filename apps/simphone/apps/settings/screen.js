// Settings: one of the screens that screens.js declares, `?name=` says which.
import { bar, h, show } from "/common/elements.js";
import { drawn } from "./preferences.js";
import { SCREENS } from "./screens.js";

const { title, preferences } = SCREENS[new URLSearchParams(location.search).get("name")];

async function render() {
  show(bar({ title }), h("main", {}, await drawn(preferences, render)));
}

phone.onresume = render;
render();
