// Settings: connected devices.
import { bar, h, row, show, switchRow } from "/common/elements.js";
import { icon } from "/common/icons.js";

let pairing = null; // the name of the device

async function turn(on) {
  await phone.settings.put("global", "bluetooth_on", on ? "1" : "0");
  if (!on) {
    for (const device of phone.state.bluetooth_devices) device.connected = false;
    await phone.save();
  }
  await render();
}

async function pair(device) {
  const text = `Confirm the code 482 915 on ${device.name}.`;
  if ((await phone.dialog({ title: `Pair with ${device.name}?`, text, buttons: ["Cancel", "Pair"] })) !== 1) return;
  Object.assign(device, { paired: true, connected: true });
  await phone.save();
  pairing = device.name;
  await render();
  setTimeout(() => {
    pairing = null;
    render();
  }, 600);
}

async function manage(device) {
  const buttons = ["Cancel", "Forget", device.connected ? "Disconnect" : "Connect"];
  const answer = await phone.dialog({
    title: device.name,
    text: device.connected ? "Connected" : "Not connected",
    buttons,
  });
  if (answer < 1) return;
  if (answer === 1) Object.assign(device, { paired: false, connected: false });
  else device.connected = !device.connected;
  await phone.save();
  await render();
}

function deviceRow(device) {
  const state = pairing === device.name ? "Pairing…" : device.connected ? "Connected" : "";
  return row({
    id: `device_${device.name.toLowerCase().replace(/[^a-z0-9]+/g, "_")}`,
    lead: icon("bluetooth"),
    title: device.name,
    summary: state,
    onclick: () => (device.paired ? manage(device) : pair(device)),
  });
}

async function render() {
  const on = (await phone.settings.get("global", "bluetooth_on")) === "1";
  const devices = phone.state.bluetooth_devices;
  const section = (title, list) => list.length > 0 && [h("h2", {}, title), list.map(deviceRow)];
  show(
    bar({ title: "Connected devices" }),
    h(
      "main",
      {},
      switchRow({ id: "bluetooth_switch", title: "Bluetooth", checked: on, onchange: turn }),
      on
        ? [
            section(
              "Saved devices",
              devices.filter((each) => each.paired),
            ),
            section(
              "Available devices",
              devices.filter((each) => !each.paired),
            ),
          ]
        : h("p", { id: "empty", class: "empty" }, "Turn on Bluetooth to connect other devices"),
    ),
  );
}

phone.onresume = render;
render();
