// Shop: the account.
import { avatar, bar, h, row, show } from "/common/elements.js";
import { icon } from "/common/icons.js";

async function signOut() {
  if ((await phone.dialog({ title: "Sign out?", buttons: ["Cancel", "Sign out"] })) !== 1) return;
  phone.state.signed_in = false;
  await phone.save();
  render();
}

function render() {
  const { signed_in: known, account } = phone.state;
  const { street, postcode, city } = account.address;
  show(
    bar({ title: "Account" }),
    h(
      "main",
      {},
      known
        ? [
            h(
              "div",
              { class: "row", id: "profile" },
              avatar(account.name),
              h("span", { class: "title" }, account.name),
              h("span", { class: "summary" }, account.email),
            ),
            h(
              "div",
              { class: "row", id: "address" },
              icon("location"),
              h("span", { class: "title" }, "Delivery address"),
              h("span", { class: "summary" }, `${street}, ${postcode} ${city}`),
            ),
          ]
        : [
            h("p", { class: "empty" }, "Sign in to have your address filled in at the checkout."),
            h(
              "div",
              { class: "buttons" },
              h(
                "button",
                { id: "sign_in", class: "primary", onclick: () => phone.start(".SignInActivity") },
                "Sign in",
              ),
            ),
          ],
      row({
        id: "orders",
        lead: icon("basket"),
        title: "Your orders",
        onclick: () => phone.start(".OrdersActivity"),
      }),
      known && row({ id: "sign_out", lead: icon("lock"), title: "Sign out", onclick: signOut }),
    ),
  );
}

phone.onresume = render;
render();
