// Where in the game one looks, in which view and how fast: buttons, keys, and the page's address.

import { html, icon } from "./shapes.js";

const VIEWS = [
  ["mister_x", "Mister X", "1"],
  ["detectives", "Detectives", "2"],
  ["all", "Everything", "3"],
];
const SPEEDS = [0.25, 0.5, 1, 2, 4, 8];
const MOMENT_MS = 900; // a ply at speed 1
const PAN = 0.2; // share of the map in sight, by a key
const ICONS = {
  first: "M5 5h2.5v14H5zM19 5v14L8.5 12z",
  turnBack: "M12 5v14L3 12zM21 5v14l-9-7z",
  back: "M17 5v14L6 12z",
  play: "M7 4v16l13-8z",
  pause: "M6 5h4v14H6zM14 5h4v14h-4z",
  on: "M7 5v14l11-7z",
  turnOn: "M3 5v14l9-7zM12 5v14l9-7z",
  last: "M16.500 5H19v14h-2.500zM5 5v14l10.500-7z",
  closer: "M10.500 5h3v5.500H19v3h-5.500V19h-3v-5.500H5v-3h5.500z",
  farther: "M5 10.500h14v3H5z",
  whole: "M4 4h6v2.500H6.500V10H4zM14 4h6v6h-2.500V6.500H14zM4 14h2.500v3.500H10V20H4zM17.500 14H20v6h-6v-2.500h3.500z",
};

/**
 * Make the player.
 *
 * `game` is the loaded replay, `zoom` what `zoomable` gave, `show(index, view, playing)` is called
 * on every change. Returns its element, and `go(index)` for whoever else wants to move.
 */
export function player(game, zoom, show) {
  const last = game.moments.length - 1;
  const now = { at: 0, view: "all", speed: 1, timer: null };

  const button = (name, label, key, act) => {
    const made = html("button", { type: "button", title: `${label} (${key})`, "aria-label": label }, icon(ICONS[name]));
    made.addEventListener("click", act);
    return made;
  };
  const playButton = button("play", "Play", "Space", () => toggle());
  const moves = html(
    "div",
    { class: "buttons", role: "group", "aria-label": "Steps" },
    button("first", "First moment", "Home", () => go(0)),
    button("turnBack", "Turn back", "Page up", () => go(turnFrom(-1))),
    button("back", "Ply back", "Left arrow", () => go(now.at - 1)),
    playButton,
    button("on", "Ply on", "Right arrow", () => go(now.at + 1)),
    button("turnOn", "Turn on", "Page down", () => go(turnFrom(1))),
    button("last", "Last moment", "End", () => go(last)),
  );
  const speed = html(
    "select",
    { "aria-label": "Speed", title: "Speed" },
    SPEEDS.map((one) => html("option", { value: one, selected: one === 1 }, `${one} ×`)),
  );
  speed.addEventListener("change", () => {
    now.speed = Number(speed.value);
    if (now.timer !== null) start();
  });
  const views = VIEWS.map(([view, label, key]) => {
    const made = html("button", { type: "button", "data-view": view, title: `${label} (${key})` }, label);
    made.addEventListener("click", () => look(view));
    return made;
  });
  const zooms = html(
    "div",
    { class: "buttons", role: "group", "aria-label": "Zoom" },
    button("farther", "Zoom out", "−", () => zoom.by(1 / 1.5)),
    button("closer", "Zoom in", "+", () => zoom.by(1.5)),
    button("whole", "Whole map", "0", () => zoom.reset()),
  );
  const element = html(
    "div",
    { class: "player" },
    moves,
    html("div", { class: "buttons views", role: "group", "aria-label": "View as" }, views),
    speed,
    zooms,
  );
  // A click with a pointer leaves the focus where it is, so that the space bar goes on playing.
  element.addEventListener("pointerdown", (event) => {
    if (event.target.closest("button")) event.preventDefault();
  });

  function turnFrom(step) {
    const turn = game.moments[now.at].turn;
    let at = now.at;
    if (step > 0) {
      at = Math.min(last, at + 1);
      const reached = game.moments[at].turn;
      while (at < last && game.moments[at + 1].turn === reached) at += 1;
      return at;
    }
    while (at > 0 && game.moments[at].turn === turn) at -= 1;
    return at;
  }

  function go(index) {
    index = Math.min(last, Math.max(0, index));
    if (index === last) stop();
    if (index === now.at) return;
    now.at = index;
    tell();
  }

  function look(view) {
    now.view = view;
    tell();
  }

  function start() {
    clearInterval(now.timer);
    now.timer = setInterval(() => go(now.at + 1), MOMENT_MS / now.speed);
    face();
  }

  function stop() {
    if (now.timer === null) return;
    clearInterval(now.timer);
    now.timer = null;
    face();
  }

  function toggle() {
    if (now.timer !== null) {
      stop();
      tell();
      return;
    }
    if (now.at === last) go(0);
    start();
  }

  function face() {
    const playing = now.timer !== null;
    playButton.replaceChildren(icon(playing ? ICONS.pause : ICONS.play));
    playButton.setAttribute("aria-label", playing ? "Pause" : "Play");
    playButton.title = `${playing ? "Pause" : "Play"} (Space)`;
  }

  function tell() {
    for (const one of views) one.setAttribute("aria-pressed", String(one.dataset.view === now.view));
    const hash = `#ply-${now.at}${now.view === "all" ? "" : `-${now.view}`}`;
    if (location.hash !== hash) history.replaceState(null, "", hash);
    show(now.at, now.view, now.timer !== null);
  }

  function readAddress() {
    const found = /^#ply-(\d{1,6})(?:-(mister_x|detectives|all))?$/.exec(location.hash);
    if (!found) return;
    now.at = Math.min(last, Number(found[1]));
    now.view = found[2] ?? "all";
  }

  const shifted = {
    ArrowLeft: () => zoom.pan(-PAN, 0),
    ArrowRight: () => zoom.pan(PAN, 0),
    ArrowUp: () => zoom.pan(0, -PAN),
    ArrowDown: () => zoom.pan(0, PAN),
  };
  const keys = {
    ArrowLeft: () => go(now.at - 1),
    ArrowRight: () => go(now.at + 1),
    PageUp: () => go(turnFrom(-1)),
    PageDown: () => go(turnFrom(1)),
    Home: () => go(0),
    End: () => go(last),
    " ": () => toggle(),
    1: () => look("mister_x"),
    2: () => look("detectives"),
    3: () => look("all"),
    "+": () => zoom.by(1.5),
    "=": () => zoom.by(1.5),
    "-": () => zoom.by(1 / 1.5),
    0: () => zoom.reset(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("select, input, textarea")) return;
    if (event.key === " " && event.target.closest("button, summary, a")) return;
    const held = event.shiftKey && Object.hasOwn(shifted, event.key) ? shifted : keys;
    const act = Object.hasOwn(held, event.key) ? held[event.key] : null;
    if (!act) return;
    event.preventDefault();
    act();
  });
  window.addEventListener("hashchange", () => {
    readAddress();
    tell();
  });

  readAddress();
  return { element, go, begin: tell };
}
