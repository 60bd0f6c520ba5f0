// Settings: all apps.
import { avatar, bar, h, row, show } from "/common/elements.js";

function render() {
  const apps = phone.state.apps;
  show(
    bar({ title: "Apps" }),
    h(
      "main",
      {},
      h("h2", {}, `All ${apps.length} apps`),
      h(
        "ul",
        { class: "list" },
        apps.map(({ package: name, label, size }) =>
          h(
            "li",
            {},
            row({
              id: `app_${label.toLowerCase()}`,
              lead: avatar(label),
              title: label,
              summary: size,
              onclick: () => phone.start(".AppInfo", { package: name }),
            }),
          ),
        ),
      ),
    ),
  );
}

phone.onresume = render;
render();
