// Beside the map of Europe: the ticket board with Mister X's entries, hands, bag and box.

import { missionClass } from "./europe-map.js";
import { html, svg } from "./shapes.js";

const COLUMNS = ["double", "hidden", "investigate", "special"];
const ACTIONS = {
  double: { word: "double move", path: "M-5-4.500L0 0-5 4.500ZM0-4.500L5 0 0 4.500Z" },
  hidden: { word: "hidden move", path: "M-4.500-4.500H4.500V4.500H-4.500Z" },
  investigate: { word: "investigation", path: "M-1.500-5.500A4 4 0 0 1 1.800 0.700L5.500 4.200 4.200 5.500 0.700 1.800A4 4 0 1 1-1.500-5.500ZM-1.500-3.500A2 2 0 1 0-1.500 0.500A2 2 0 1 0-1.500-3.500Z" },
  special: { word: "special mission", path: "M0-5.500L1.600-1.600 5.500 0 1.600 1.600 0 5.500-1.600 1.600-5.500 0-1.600-1.600Z" },
};

const open = (moment) => moment.views.detectives;
const sum = (counts) => Object.values(counts).reduce((a, b) => a + b, 0);
const tickets = (count) => (count === 1 ? "1 ticket" : `${count} tickets`);

function sign(action) {
  return svg("svg", { viewBox: "-7 -7 14 14", class: "sign", "aria-hidden": "true" }, svg("path", { d: ACTIONS[action].path }));
}

/** A ticket: its transport, the sign of its action, and how many there are of it. */
function badge(kind, count = 1) {
  const [transport, action] = kind.split("-");
  const words = `${transport} or ${ACTIONS[action].word}`;
  return html(
    "span",
    { class: `ticket ${transport}`, title: count > 1 ? `${count} × ${words}` : words },
    transport,
    sign(action),
    html("span", { class: "unseen" }, ` ${ACTIONS[action].word}`),
    count > 1 ? html("b", {}, `×${count}`) : null,
  );
}

function pile(kinds) {
  const counts = new Map();
  for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].map(([kind, count]) => badge(kind, count));
}

const kindsOf = (counts) => Object.entries(counts).flatMap(([kind, count]) => Array(count).fill(kind));

/** The ticket board; a space and the entry of the same number stand together. */
export function ticketBoard(game, names) {
  const { spaces } = game.numbers;
  const start = html("p", { class: "entry-0" });
  const list = html("ol", {});
  const element = html("section", { class: "panel log europe", "aria-label": "Ticket board" }, html("h2", {}, "Ticket board"), start, list);

  function cell(moment, entry, seesX) {
    const view = open(moment);
    const slot = (seesX ? moment.views.mister_x : view).board[entry - 1];
    const made = entry < view.entries.length;
    const told = view.entries[entry] ?? null;
    const city = seesX ? (moment.views.mister_x.entries[entry] ?? null) : told;
    const pair = view.rings.indexOf(entry);
    const classes = ["slot", entry > spaces ? "shows" : "", made && entry === view.entries.length - 1 ? "last" : ""];
    return html(
      "li",
      { class: classes.filter(Boolean).join(" "), "data-slot": entry },
      html("span", { class: "number" }, String(entry), pair < 0 ? null : html("span", { class: "pair", title: `ring ${pair + 1}` }, String(pair + 1))),
      slot ? ticketIn(slot) : entry > spaces && made ? html("span", { class: "ticket open" }, "open") : null,
      made ? html(told === null ? "span" : "strong", { class: "at" }, city === null ? "?" : names.get(city)) : null,
    );
  }

  return {
    element,
    show(moment, seesX) {
      const view = open(moment);
      const first = seesX ? (moment.views.mister_x.entries[0] ?? null) : (view.entries[0] ?? null);
      start.replaceChildren("Start: ", html("strong", {}, first !== null ? names.get(first) : view.entries.length ? "?" : "not yet"), ...mission(view));
      const count = Math.max(spaces, view.entries.length - 1);
      list.replaceChildren(...Array.from({ length: count }, (_, place) => cell(moment, place + 1, seesX)));
    },
  };

  function mission({ colour }) {
    if (colour === null) return [" · mission not named yet"];
    return [" · mission: ", html("strong", { class: `colour ${missionClass(game.board.missions, colour)}` }, colour)];
  }
}

function ticketIn(slot) {
  if (slot.hidden && slot.ticket === null) return html("span", { class: "ticket black" }, "hidden");
  const [transport] = slot.ticket.split("-");
  if (slot.hidden) return html("span", { class: "ticket black", title: "face down" }, transport);
  return html("span", { class: `ticket ${transport}` }, transport);
}

/** Hands, bag and box; a hand that the view may not see is told by its size. */
export function drawnTickets(game) {
  const body = html("tbody", {});
  const element = html(
    "section",
    { class: "panel tickets europe", "aria-label": "Tickets" },
    html("h2", {}, "Tickets"),
    html("table", {}, body),
    html("p", { class: "signs soft" }, COLUMNS.flatMap((action) => [html("span", {}, sign(action), ACTIONS[action].word)])),
  );
  const led = game.numbers.pieces.map((count, place) => {
    const first = game.numbers.pieces.slice(0, place).reduce((a, b) => a + b, 1);
    return Array.from({ length: count }, (_, n) => first + n);
  });

  const row = (name, label, chips, inside, moved) =>
    html("tr", { "data-row": name, class: moved ? "moved" : null }, html("th", { scope: "row" }, chips, label), html("td", {}, inside));
  const chip = (figure) => html("span", { class: `chip ${figure}` }, figure === "x" ? "X" : figure[1]);

  return {
    element,
    show(moment, view, mover) {
      const team = moment.views.detectives;
      const x = moment.views.mister_x;
      const rows = [
        row("x", html("span", { class: "name" }, "Mister X"), chip("x"), view === "detectives" ? tickets(team.mister_x_hand) : pile(x.hand), mover === "x"),
        ...team.hands.map((hand, place) =>
          row(
            `p${place + 1}`,
            null,
            led[place].map((number) => chip(`d${number}`)),
            view === "mister_x" ? tickets(x.hand_sizes[place]) : pile(hand),
            mover === `p${place + 1}` || led[place].some((number) => mover === `d${number}`),
          ),
        ),
        row("spent", "Spent", null, team.spent.length ? pile(team.spent) : "none this round", false),
        row("paid", "Paid", null, team.paid.length ? pile(team.paid) : "none now", false),
        row("bag", "Bag", null, tickets(team.bag), false),
        row("box", "Box", null, sum(team.box) ? pile(kindsOf(team.box)) : "empty", false),
      ];
      body.replaceChildren(...rows);
    },
  };
}
