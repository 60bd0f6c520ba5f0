// Places: boxes are [left, top, right, bottom] in pixels of the screen.
"use strict";

system.geometry = (() => {
  const SCALE = window.devicePixelRatio; // pixels of the screen for one of CSS
  const meet = (a, b) => [Math.max(a[0], b[0]), Math.max(a[1], b[1]), Math.min(a[2], b[2]), Math.min(a[3], b[3])];
  const seen = (box) => box[2] - box[0] >= 1 && box[3] - box[1] >= 1;

  // A frame's place on the screen: pixels = CSS pixels of its document * scale + offset.
  const onScreen = (frame, rect) =>
    [rect.left * frame.scale + frame.x, rect.top * frame.scale + frame.y, rect.right * frame.scale + frame.x, rect.bottom * frame.scale + frame.y];
  function frameIn(outer, element) {
    const rect = element.getBoundingClientRect();
    const inner = element.offsetWidth ? rect.width / element.offsetWidth : 1;
    const scale = outer.scale * inner;
    return {
      scale, x: outer.x + rect.left * outer.scale + element.clientLeft * scale, y: outer.y + rect.top * outer.scale + element.clientTop * scale,
      document: element.contentDocument, view: element.contentWindow,
    };
  }
  // The outermost frame: the system's page.
  const whole = () => ({ scale: SCALE, x: 0, y: 0, document, view: window });
  return { meet, seen, onScreen, frameIn, whole };
})();
