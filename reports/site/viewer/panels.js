// What stands about the map: whose game it is, the turn with note and time, what bots left behind.

import { html } from "./shapes.js";

const SIDES = { mister_x: "Mister X", detectives: "Detectives" };
const REASONS = { captured: "captured", enclosed: "enclosed", escaped: "escaped", stuck: "detectives stuck", encircled: "encircled", cap: "the last round was over", fault: "by a fault", void: "void" };

/** The head of the page: who played, and how it ended. */
export function heading(game) {
  const who = (side) =>
    html("span", { class: `who ${side}` }, html("small", {}, SIDES[side]), html("bdi", {}, game.seats[side].name), " ", html("small", { class: "version" }, html("bdi", {}, game.seats[side].version)));
  return [
    html("h1", {}, who("mister_x"), html("span", { class: "against" }, "against"), who("detectives")),
    html("p", { class: "soft" }, ending(game)),
  ];
}

/** How the game ended, in a sentence. */
export function ending(game) {
  const rounds = game.rounds === 1 ? "1 round" : `${game.rounds} rounds`;
  const reason = REASONS[game.reason] ?? game.reason;
  if (game.void) return `Counts for nobody (${game.void}), after ${rounds}.`;
  if (!game.winner) return `Nobody won (${reason}), after ${rounds}.`;
  return `${SIDES[game.winner]} won (${reason}), after ${rounds}.`;
}

/** The turn that is looked at; returns its element and `show(moment, view, round, text, playing)`. */
export function turnPanel(game) {
  const title = html("h2", {});
  const text = html("p", { class: "told", "aria-live": "polite" });
  const details = html("div", {});
  const element = html("section", { class: game.turns.some((one) => one.note !== null) ? "panel turn noted" : "panel turn", "aria-label": "This turn" }, title, text, details);
  const last = game.moments.length - 1;
  return {
    element,
    show(moment, view, round, told, playing) {
      const turn = moment.turn === null ? null : game.turns[moment.turn];
      title.textContent = turn ? `Round ${round} · ${SIDES[turn.side]}` : "The deal";
      element.dataset.side = turn?.side ?? "";
      text.setAttribute("aria-live", playing ? "off" : "polite");
      text.textContent = told;
      const rows = [];
      if (turn) {
        rows.push(fact("Time charged", turn.charged_ms === null ? "not kept" : milliseconds(turn.charged_ms)));
        if (turn.bank_ms !== null && (game.clock?.bank_ms || game.clock?.increment_ms)) rows.push(fact("Bank left", milliseconds(turn.bank_ms)));
        if (turn.note !== null) {
          const open = view === "all" || view === turn.side;
          rows.push(fact("Note", open ? turn.note : "not known to this side", open ? "note" : "note hidden"));
        }
      }
      details.replaceChildren(
        ...(rows.length ? [html("dl", {}, rows)] : []),
        ...(moment.index === last ? end(game) : []),
      );
    },
  };
}

function fact(label, value, kind = "") {
  return html("div", { class: kind }, html("dt", {}, label), html("dd", {}, value));
}

function milliseconds(value) {
  if (value >= 10000) return `${(value / 1000).toFixed(1)} s`;
  return `${value >= 100 ? Math.round(value) : Number(value.toPrecision(3))} ms`;
}

function end(game) {
  const faults = game.faults.map((fault) =>
    html(
      "div",
      { class: "fault-box" },
      html("strong", {}, `${SIDES[fault.side]}: ${fault.kind} (${fault.phase})`),
      fault.text ? html("p", {}, fault.text) : null,
      fault.hint ? html("p", { class: "hint" }, fault.hint) : null,
    ),
  );
  return [html("p", { class: "ending" }, ending(game)), ...faults];
}

/** What a bot wrote besides its plies; `show(view)` hides what the view may not see. */
export function seatPanel(game, side) {
  const seat = game.seats[side];
  const inner = html("div", {});
  const summary = html("summary", {}, `${SIDES[side]}: `, html("bdi", {}, seat.name));
  const element = html("details", { class: `panel seat ${side}` }, summary, inner);
  const texts = [
    block("Standard error", seat.stderr, seat.stderr_cut ? `${seat.stderr_cut.toLocaleString("en")} characters left out` : ""),
    block("Log", seat.log, [
      seat.log_cut ? `${seat.log_cut.toLocaleString("en")} characters left out` : "",
      seat.log_dropped ? `${seat.log_dropped.toLocaleString("en")} lines dropped` : "",
    ].filter(Boolean).join(", ")),
  ];
  const hidden = html("p", { class: "soft" }, "Hidden: in this view the other side's words are not known.");
  const facts = html(
    "dl",
    {},
    fact("Version", seat.version || "none"),
    fact("Content", seat.hash.slice(0, 10)),
    fact("Start-up", seat.start_ms === null ? "not kept" : milliseconds(seat.start_ms)),
  );
  return {
    element,
    show(view) {
      inner.replaceChildren(facts, ...(view === "all" || view === side ? texts : [hidden]));
    },
  };
}

function block(label, text, missing) {
  if (!text && !missing) return html("p", { class: "soft" }, `${label}: nothing`);
  return html(
    "div",
    {},
    html("h3", {}, label, missing ? html("small", {}, ` (${missing})`) : null),
    html("pre", { tabindex: "0", "aria-label": label }, text),
  );
}

/** The foot: what was played, and the keys. */
export function footing(game) {
  const clock = game.nodes !== null
    ? `${game.nodes.toLocaleString("en")} nodes a turn`
    : game.clock
      ? [`${game.clock.move_ms} ms a turn`, game.clock.bank_ms ? `bank ${game.clock.bank_ms} ms` : "", game.clock.increment_ms ? `increment ${game.clock.increment_ms} ms` : ""].filter(Boolean).join(", ")
      : "no clock";
  const keys = [
    ["←  →", "a ply"],
    ["Page up, Page down", "a turn"],
    ["Home, End", "first, last"],
    ["Space", "play, pause"],
    ["1  2  3", "views"],
    ["+  −  0", "zoom"],
    ["Shift ←  →  ↑  ↓", "move the map"],
  ];
  return [
    html("ul", { class: "keys", "aria-label": "Keys" }, keys.map(([key, does]) => html("li", {}, html("kbd", {}, key), ` ${does}`))),
    html("p", {}, `Game ${game.game} · deal ${game.deal} · ${game.ruleset} · ${clock} · ${game.started.slice(0, 16).replace("T", " ")} UTC`, game.marks.length ? ` · ${game.marks.join(", ")}` : "", ` · arena ${game.arena}`),
  ];
}
