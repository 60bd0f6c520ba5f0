// What a touch can reach: nodes that others cover.
"use strict";

system.uncover = (() => {
  const { frameIn, whole } = system.geometry;

  const MOST = 1000; // looking under each point costs more the more there is: a page with more is none for fingers
  const count = (nodes) => nodes.reduce((sum, each) => sum + 1 + count(each.children), 0);

  // What is covered is not visible to the user; where a part is, the node is the part that a touch can reach.
  function uncover(nodes) {
    return nodes.flatMap((node) => {
      const children = uncover(node.children);
      node.children = children;
      if (node.root || !(node.leaf || node.attributes.clickable)) return [node];
      const free = reachable(node);
      if (free) {
        node.box = free;
        return [node];
      }
      if (!children.length) return [];
      node.attributes.clickable = false;
      return [node];
    });
  }
  function hits(node, x, y) {
    const { frame, element } = node;
    let place = whole();
    const under = (root) => root.elementFromPoint((x - place.x) / place.scale, (y - place.y) / place.scale);
    let at = under(document);
    while (at && place.document !== frame.document && /^i?frame$/.test(at.localName)) { // down, as the touch goes
      place = frameIn(place, at);
      at = place.document && under(place.document);
    }
    while (at?.shadowRoot && at !== element) {
      const deeper = under(at.shadowRoot);
      if (!deeper || deeper === at) break;
      at = deeper;
    }
    if (!at || place.document !== frame.document) return false;
    if (element.contains(at) || at.shadowRoot?.contains(element)) return true;
    if (!node.attributes.clickable) return at.contains(element);
    const label = at.closest("label");
    return Boolean(label && label.control === element);
  }
  const GRID = [0.5, 0.3, 0.7, 0.1, 0.9];
  function reachable(node) {
    const [left, top, right, bottom] = node.box.map(Math.round);
    const at = (fx, fy) => [Math.floor(left + (right - left) * fx), Math.floor(top + (bottom - top) * fy)];
    if (hits(node, Math.floor((left + right) / 2), Math.floor((top + bottom) / 2))) return node.box;
    const view = node.frame.view;
    if (!node.attributes.clickable && view.getComputedStyle(node.element).pointerEvents === "none") return node.box;
    for (const fy of GRID) {
      for (const fx of GRID) {
        const [x, y] = at(fx, fy);
        if (!hits(node, x, y)) continue;
        if (!node.attributes.clickable) return node.box;
        return around(node, x, y, [left, top, right, bottom]);
      }
    }
    return null;
  }
  // The rectangle about a point that can be reached, whose centre can be too.
  function around(node, x, y, [left, top, right, bottom]) {
    const reach = (low, high, good) => { // the last good number on the way from low to high
      while (Math.abs(high - low) > 1) {
        const middle = Math.trunc((low + high) / 2);
        if (good(middle)) low = middle;
        else high = middle;
      }
      return low;
    };
    const box = [reach(x, left - 1, (at) => hits(node, at, y)), 0, reach(x, right, (at) => hits(node, at, y)) + 1, 0];
    let column = Math.floor((box[0] + box[2]) / 2);
    if (!hits(node, column, y)) Object.assign(box, { 0: (column = x), 2: x + 1 });
    box[1] = reach(y, top - 1, (at) => hits(node, column, at));
    box[3] = reach(y, bottom, (at) => hits(node, column, at)) + 1;
    return hits(node, Math.floor((box[0] + box[2]) / 2), Math.floor((box[1] + box[3]) / 2)) ? box : [x, y, x + 1, y + 1];
  }

  return (nodes) => (count(nodes) > MOST ? nodes : uncover(nodes));
})();
