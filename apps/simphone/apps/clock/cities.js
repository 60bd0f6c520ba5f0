// The time here and in other cities.
import { clock, h, iconButton } from "/common/elements.js";
import { icon } from "/common/icons.js";

const ZONES = {
  Auckland: "Pacific/Auckland",
  Beijing: "Asia/Shanghai",
  Berlin: "Europe/Berlin",
  Cairo: "Africa/Cairo",
  Helsinki: "Europe/Helsinki",
  Lagos: "Africa/Lagos",
  Lisbon: "Europe/Lisbon",
  "Los Angeles": "America/Los_Angeles",
  Mumbai: "Asia/Kolkata",
  "New York": "America/New_York",
  "São Paulo": "America/Sao_Paulo",
  Seoul: "Asia/Seoul",
  Sydney: "Australia/Sydney",
  Tokyo: "Asia/Tokyo",
};

export const tick = () => 15_000;

// Minutes by which a zone is ahead of this phone.
function ahead(zone, now) {
  const there = new Date(now.toLocaleString("en-US", { timeZone: zone }));
  const here = new Date(now.toLocaleString("en-US"));
  return Math.round((there - here) / 60_000);
}

function described(minutes) {
  if (minutes === 0) return "Same time as here";
  const hours = Math.abs(minutes) / 60;
  return `${hours} hour${hours === 1 ? "" : "s"} ${minutes > 0 ? "ahead" : "behind"}`;
}

export function refresh(render) {
  const now = new Date(phone.now());
  const shown = document.getElementById("digital_clock").textContent;
  if (clock(now.getHours() * 60 + now.getMinutes()) !== shown) render();
}

export function content(render) {
  const now = new Date(phone.now());
  const minutes = now.getHours() * 60 + now.getMinutes();

  const add = async () => {
    const others = Object.keys(ZONES).filter((each) => !phone.state.cities.includes(each));
    const chosen = others[await phone.pick({ title: "Add city", options: others })];
    if (!chosen) return;
    phone.state.cities.push(chosen);
    await phone.save();
    render();
  };
  const remove = async (city) => {
    phone.state.cities = phone.state.cities.filter((each) => each !== city);
    await phone.save();
    render();
  };
  const row = (city) => {
    const difference = ahead(ZONES[city], now);
    const id = city.toLowerCase().replace(/[^a-z]+/g, "_");
    return h(
      "li",
      { class: "row city", "data-id": `city_${id}` },
      h("span", { class: "title" }, city),
      h("span", { class: "summary" }, described(difference)),
      h(
        "span",
        { class: "end" },
        h("span", { class: "there" }, clock((minutes + difference + 2880) % 1440)),
        iconButton({ id: `remove_${id}`, icon: "close", label: `Remove ${city}`, onclick: () => remove(city) }),
      ),
    );
  };
  return {
    main: [
      h("p", { id: "digital_clock", class: "big" }, clock(minutes)),
      h(
        "p",
        { id: "date", class: "date" },
        now.toLocaleDateString("en-GB", { weekday: "long", day: "numeric", month: "long" }),
      ),
      h("ul", { class: "list" }, phone.state.cities.map(row)),
    ],
    fab: h("button", { id: "add_city", class: "fab", "aria-label": "Add city", onclick: add }, icon("plus")),
  };
}
