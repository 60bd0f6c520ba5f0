// Shop: all orders, the last one first.
import { bar, h, row, show } from "/common/elements.js";
import { pounds } from "./model.js";

function render() {
  const orders = [...phone.state.orders].reverse();
  show(
    bar({ title: "Your orders" }),
    h(
      "main",
      {},
      orders.length
        ? h(
            "ul",
            { class: "list" },
            orders.map(({ number, date, status, total }) =>
              h(
                "li",
                {},
                row({
                  id: `order_${number}`,
                  title: `Order ${number}`,
                  summary: `${status} · ${date}`,
                  end: h("span", { class: "price" }, pounds(total)),
                  onclick: () => phone.start(".OrderActivity", { number }),
                }),
              ),
            ),
          )
        : h("p", { id: "empty", class: "empty" }, "You have not ordered anything yet"),
    ),
  );
}

phone.onresume = render;
render();
