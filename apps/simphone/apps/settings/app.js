// Settings: one app.
import { avatar, bar, h, show, switchRow } from "/common/elements.js";

const { data = "", package: name = data.replace(/^package:/, "") } = phone.extras;
const app = () => phone.state.apps.find((each) => each.package === name);

async function change(act) {
  act(app());
  await phone.save();
  render();
}

function render() {
  const { label, version, size, notifications, permissions } = app();
  const asked = Object.entries(permissions);
  show(
    bar({ title: "App info" }),
    h(
      "main",
      {},
      h(
        "div",
        { class: "row" },
        avatar(label),
        h("span", { id: "label", class: "title" }, label),
        h("span", { id: "version", class: "summary" }, `Version ${version} · ${size}`),
      ),
      h("div", { class: "buttons" }, h("button", { id: "open", onclick: () => phone.launch(name) }, "Open")),
      switchRow({
        id: "notifications",
        title: "Notifications",
        checked: notifications,
        onchange: (on) => change((each) => (each.notifications = on)),
      }),
      asked.length > 0 && h("h2", {}, "Permissions"),
      asked.map(([permission, allowed]) =>
        switchRow({
          id: `permission_${permission.toLowerCase()}`,
          title: permission,
          summary: allowed ? "Allowed" : "Not allowed",
          checked: allowed,
          onchange: (on) => change((each) => (each.permissions[permission] = on)),
        }),
      ),
    ),
  );
}

phone.onresume = render;
if (app()) render();
else phone.finish();
