// The apps' icons: lines on a field of 24 by 24.
const DISC = "M12 3a9 9 0 1 1 0 18a9 9 0 1 1 0-18";
const LINES = {
  accessibility: "M12 4v.01M5 8l7 1.5L19 8M12 9.5V14l-3 7M12 14l3 7",
  alarm: "M12 5a8 8 0 1 1 0 16a8 8 0 1 1 0-16M12 9v4l3 2M3 6l4-3M21 6l-4-3",
  apps: "M5 5h5v5H5zM14 5h5v5h-5zM5 14h5v5H5zM14 14h5v5h-5z",
  back: "M20 12H5M11 6l-6 6 6 6",
  basket: "M3 9h18l-2 11H5zM8 9l3-5M16 9l-3-5",
  battery: "M7 6h10v15H7zM10 6V3h4v3M10 17h4",
  bell: "M6 17v-6a6 6 0 0 1 12 0v6l2 1H4zM10 21h4",
  bluetooth: "M7 8l10 8-5 4V4l5 4L7 16",
  call: "M6 4h4l2 5-2.5 1.5a11 11 0 0 0 4 4L15 12l5 2v4a2 2 0 0 1-2 2A15 15 0 0 1 4 6a2 2 0 0 1 2-2",
  check: "M5 13l5 5 9-11",
  clock: `${DISC}M12 7v5l3 2`,
  close: "M6 6l12 12M18 6L6 18",
  delete: "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5",
  display:
    "M12 8a4 4 0 1 1 0 8a4 4 0 1 1 0-8M12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6L19 19M5 19l1.4-1.4M17.6 6.4L19 5",
  edit: "M4 20l1-4L16 5l3 3L8 19zM14 7l3 3",
  filter: "M4 6h16M7 12h10M10 18h4",
  info: `${DISC}M12 11v6M12 7v.01`,
  lap: "M6 21V4h11l-2 4 2 4H6",
  location: "M12 21c-5-6-7-8-7-11a7 7 0 0 1 14 0c0 3-2 5-7 11M12 8a2 2 0 1 1 0 4a2 2 0 1 1 0-4",
  lock: "M6 11h12v9H6zM8 11V8a4 4 0 0 1 8 0v3",
  mail: "M3 6h18v12H3zM3 7l9 6 9-6",
  message: "M4 5h16v11H9l-5 4z",
  minus: "M5 12h14",
  more: "M12 5v.01M12 12v.01M12 19v.01",
  pause: "M8 5v14M16 5v14",
  person: "M12 4a4 4 0 1 1 0 8a4 4 0 1 1 0-8M4 21c0-5 4-7 8-7s8 2 8 7",
  phone: "M8 3h8v18H8zM11 18h2",
  pin: "M9 4h6l-1 6 4 4H6l4-4zM12 14v6",
  plane: "M12 3v18M12 9l-9 5M12 9l9 5M12 19l-3 2M12 19l3 2",
  play: "M8 5l11 7-11 7z",
  plus: "M12 5v14M5 12h14",
  reset: "M5 4v5h5M5.5 9a8 8 0 1 1-1 6",
  search: "M10.5 4a6.5 6.5 0 1 1 0 13a6.5 6.5 0 1 1 0-13M15.5 15.5L21 21",
  send: "M4 12l16-8-5 16-3-7z",
  shield: "M12 3l8 3v6c0 5-4 8-8 9c-4-1-8-4-8-9V6z",
  sound: "M4 9v6h4l5 4V5L8 9zM16.5 9a4 4 0 0 1 0 6M19 6.5a8 8 0 0 1 0 11",
  star: "M12 3.5l2.6 5.4 5.9.8-4.3 4.1 1 5.9L12 16.9l-5.2 2.8 1-5.9L3.5 9.7l5.9-.8z",
  stopwatch: "M12 6a7.5 7.5 0 1 1 0 15a7.5 7.5 0 1 1 0-15M12 10v4M10 2.5h4",
  storage: "M5 4h14v6H5zM5 14h14v6H5zM8 7v.01M8 17v.01",
  system: "M4 7h10M18 7h2M16 5v4M4 17h2M10 17h10M8 15v4",
  tag: "M4 4h8l8 8-8 8-8-8zM8 8v.01",
  timer: "M7 3h10M7 21h10M8 3v4l4 5 4-5V3M8 21v-4l4-5 4 5v4",
  wifi: "M3 9a13 13 0 0 1 18 0M6 12.5a9 9 0 0 1 12 0M9 16a4.5 4.5 0 0 1 6 0M12 19.5v.01",
};

// An icon as an element; `filled` for what is on, such as the star of a favourite.
export function icon(name, { filled = false } = {}) {
  const holder = document.createElement("template");
  holder.innerHTML =
    `<svg viewBox="0 0 24 24" width="24" height="24" aria-hidden="true"><path d="${LINES[name]}" fill="${filled ? "currentColor" : "none"}"` +
    ` stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round"/></svg>`;
  return holder.content.firstChild;
}
