// Settings: Internet. Networks, and the dialogs to join one.
import { ask, bar, h, row, show, switchRow } from "/common/elements.js";
import { icon } from "/common/icons.js";

let joining = null; // the network that is being joined, and the one that refused
let refused = null;

const isOn = async () => (await phone.settings.get("global", "wifi_on")) !== "0";

async function turn(on) {
  await phone.settings.put("global", "wifi_on", on ? "1" : "0");
  await render();
}

// Decided at once, whatever becomes of this window; it shows after a moment.
async function join(network, password) {
  const accepted = !network.secured || password === network.password;
  if (accepted) {
    network.saved = true;
    phone.state.connected = network.ssid;
    await phone.save();
  }
  joining = network.ssid;
  refused = null;
  await render();
  setTimeout(() => {
    joining = null;
    refused = accepted ? null : network.ssid;
    render();
  }, 600);
}

async function choose(network) {
  if (network.saved) return details(network);
  if (!network.secured) return join(network, "");
  const answer = await ask({
    title: network.ssid,
    fields: [{ id: "password", label: "Password", type: "password", minlength: 8 }],
    button: "Connect",
  });
  if (answer) await join(network, answer.password);
}

async function details(network) {
  const connected = phone.state.connected === network.ssid;
  const answer = await phone.dialog({
    title: network.ssid,
    text: connected ? "Connected" : "Saved",
    buttons: ["Cancel", "Forget", connected ? "Disconnect" : "Connect"],
  });
  if (answer === 2 && !connected) return join(network, network.password);
  if (answer < 1) return;
  if (answer === 1) network.saved = false;
  if (connected) phone.state.connected = null;
  await phone.save();
  await render();
}

async function add() {
  const answer = await ask({
    title: "Add network",
    fields: [
      { id: "ssid", label: "Network name", minlength: 1 },
      { id: "password", label: "Password", type: "password" },
    ],
    button: "Save",
  });
  if (!answer) return;
  const ssid = answer.ssid.trim();
  if (!phone.state.networks.some((each) => each.ssid === ssid)) {
    phone.state.networks.push({ ssid, secured: answer.password !== "", password: answer.password, saved: true });
    await phone.save();
  }
  await render();
}

function status(network) {
  if (joining === network.ssid) return "Connecting…";
  if (refused === network.ssid) return "Check password and try again";
  if (phone.state.connected === network.ssid) return "Connected";
  return network.saved ? "Saved" : "";
}

function networkRow(network) {
  return row({
    id: `network_${network.ssid.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "_")}`,
    lead: icon("wifi"),
    title: network.ssid,
    summary: status(network),
    end: network.secured && h("span", { class: "end", role: "img", "aria-label": "Secured" }, icon("lock")),
    onclick: () => choose(network),
  });
}

async function render() {
  const on = await isOn();
  const first = (network) => (phone.state.connected === network.ssid ? 0 : network.saved ? 1 : 2);
  const networks = [...phone.state.networks].sort((a, b) => first(a) - first(b));
  show(
    bar({ title: "Internet" }),
    h(
      "main",
      {},
      switchRow({ id: "wifi_switch", title: "Wi-Fi", checked: on, onchange: turn }),
      on
        ? [
            h("h2", {}, "Networks"),
            networks.map(networkRow),
            row({ id: "add_network", lead: icon("plus"), title: "Add network", onclick: add }),
          ]
        : h("p", { id: "empty", class: "empty" }, "To see available networks, turn on Wi-Fi"),
    ),
  );
}

phone.onresume = render;
render();
