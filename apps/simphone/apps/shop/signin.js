// Shop: sign in. No screenshot shows this page.
import { bar, field, h, show } from "/common/elements.js";

let email = "";
let wrong = "";

async function signIn() {
  const pin = document.getElementById("pin").value;
  email = document.getElementById("email").value.trim();
  const { account } = phone.state;
  if (email.toLowerCase() !== account.email || pin !== account.pin) {
    wrong = "E-mail address or PIN is wrong";
    return render();
  }
  phone.state.signed_in = true;
  await phone.save();
  phone.toast(`Welcome back, ${account.name}`);
  phone.finish();
}

function render() {
  show(
    bar({ title: "Sign in" }),
    h(
      "main",
      {},
      field({ id: "email", label: "E-mail address", type: "email", value: email }),
      field({ id: "pin", label: "PIN", type: "password", inputmode: "numeric", maxlength: 4, error: wrong }),
      h("div", { class: "buttons" }, h("button", { id: "sign_in", class: "primary", onclick: signIn }, "Sign in")),
    ),
  );
}
render();
