// The drawing of London: map, pawns, travel log, tickets, and every ply in words.

import { pawn, put, rounded, trail } from "./pawns.js";
import { html, svg } from "./shapes.js";

const UNITS = 1000; // the map's height in the drawing
const ABOVE = 45; // room for a pin over the topmost station
const HEIGHT = UNITS + ABOVE;
const TRAIL = 5; // a figure's last stations
const LONG_TRAIL = 30; // Mister X's
const VEHICLES = ["metro", "bus", "ferry", "taxi"]; // from the lowest layer up
const TICKETS = { taxi: "Taxi", bus: "Bus", metro: "Metro", black: "Black" };

/** Kinds of marks on the time line, with symbols about 0,0. */
export const kinds = [
  { kind: "reveal", label: "Reveal", path: "M0-5.500L5.500 0 0 5.500-5.500 0Z" },
  { kind: "double", label: "Double move", path: "M-5-4.500L0 0-5 4.500ZM0-4.500L5 0 0 4.500Z" },
  { kind: "black", label: "Black ticket", path: "M-4.500-4.500H4.500V4.500H-4.500Z" },
  { kind: "fault", label: "Fault", path: "M-5-3L-3-5 0-2 3-5 5-3 2 0 5 3 3 5 0 2-3 5-5 3-2 0Z" },
];

const named = (figure) =>
  figure === "x" ? "Mister X" : `${figure[0] === "b" ? "Bobby" : "Detective"} ${figure[1]}`;

/** What a view knows openly: any side's view has it. */
const open = (moment) => moment.views.detectives;

/**
 * Make the drawing of a game.
 *
 * Returns the map (`picture`, `width`, `height`), `panels` beside it, the `legend`, the `marks` and
 * the `rounds` of each moment, `possible(count)` and `tell(index, view)` for words, and
 * `show(index, view)`.
 */
export function drawing(game) {
  const { stations, links, aspect } = game.board;
  const width = UNITS * aspect;
  const places = new Map(stations.map((one) => [one.id, { x: one.x * width, y: one.y * UNITS + ABOVE }]));
  const served = servedBy(links);
  const facts = game.moments.map((moment, index) => fact(game, moment, index));

  const layers = Object.fromEntries(["links", "belief", "trails", "stations", "pawns"].map((name) => [name, svg("g", { class: name })]));
  const picture = svg(
    "svg",
    { class: "map", role: "img", viewBox: `0 0 ${width} ${HEIGHT}` },
    svg("title", {}, `Map of ${game.board.name}`),
    Object.values(layers),
  );
  layers.links.append(...drawnLinks(links, places));
  const marks = new Map(); // station → its element
  for (const { id } of stations) {
    const element = drawnStation(id, places.get(id), served.get(id) ?? new Set());
    marks.set(id, element);
    layers.stations.append(element);
  }
  const pawns = new Map();
  for (const { figure } of open(game.moments[0]).figures) pawns.set(figure, figurePawn(figure));
  pawns.set("x", figurePawn("x"));
  layers.pawns.append(...pawns.values());

  const log = logPanel(game, facts);
  const tickets = ticketPanel(game);

  function show(index, view) {
    const moment = game.moments[index];
    const seesX = view !== "detectives";
    drawBelief(layers.belief, marks, moment.belief, places);
    for (const { figure, station } of open(moment).figures) put(pawns.get(figure), station, places);
    putMisterX(pawns.get("x"), moment, seesX, places);
    const mover = moment.plies.at(-1)?.figure;
    for (const [figure, element] of pawns) element.classList.toggle("moved", figure === mover);
    layers.trails.replaceChildren(...trails(game, index, seesX, places));
    log.show(moment, seesX);
    tickets.show(moment, seesX, mover);
    picture.setAttribute("aria-label", described(moment, seesX));
  }

  return {
    picture,
    width,
    height: HEIGHT,
    panels: [log.element, tickets.element],
    legend: legend(),
    possible: (count) => (count === 1 ? "at 1 station" : `at ${count} stations`),
    marks: facts.map((one) => one.marks),
    rounds: facts.map((one) => one.round),
    tell: (index, view) => told(game, index, view !== "detectives", facts[index]),
    show,
  };
}

/** Station → the vehicles that stop there. */
function servedBy(links) {
  const found = new Map();
  for (const [vehicle, pairs] of Object.entries(links)) {
    for (const station of pairs.flat()) {
      if (!found.has(station)) found.set(station, new Set());
      found.get(station).add(vehicle);
    }
  }
  return found;
}

/** A moment's round and marks: reveals, doubles and black tickets lie open to both sides. */
function fact(game, moment, index) {
  const view = open(moment);
  const before = index ? open(game.moments[index - 1]) : view;
  const marks = [];
  const slot = view.log.length;
  const grown = slot > before.log.length;
  if (grown && view.log.at(-1).station !== null) {
    marks.push({ kind: "reveal", label: `Log slot ${slot}: shown at ${view.log.at(-1).station}` });
  }
  const double = view.doubles < before.doubles;
  if (double) marks.push({ kind: "double", label: `Double move from log slot ${slot}` });
  if (grown && view.log.at(-1).ticket === "black") marks.push({ kind: "black", label: `Log slot ${slot}: black ticket` });
  // The round that a ply belongs to is the one that was on before it.
  return { round: before.round, marks, slot: grown ? slot : null, double };
}

// The map

function drawnLinks(links, places) {
  const shared = new Set(links.taxi.map((pair) => pair.join("-")));
  return VEHICLES.flatMap((vehicle) => {
    const path = links[vehicle]
      .map((pair) => {
        const [a, b] = pair.map((station) => places.get(station));
        const far = Math.hypot(b.x - a.x, b.y - a.y) || 1;
        // A bus beside a taxi on the same road: next to it, not over it.
        const aside = vehicle === "bus" && shared.has(pair.join("-")) ? 5 : 0;
        const [dx, dy] = [(-(b.y - a.y) / far) * aside, ((b.x - a.x) / far) * aside];
        return `M${rounded(a.x + dx)} ${rounded(a.y + dy)}L${rounded(b.x + dx)} ${rounded(b.y + dy)}`;
      })
      .join("");
    const drawn = [svg("path", { class: `link ${vehicle}`, "data-links": links[vehicle].length, d: path })];
    if (vehicle === "bus") drawn.push(svg("path", { class: "link bus-core", d: path }));
    return drawn;
  });
}

function drawnStation(id, at, vehicles) {
  const kind = vehicles.has("metro") ? "metro" : vehicles.has("bus") ? "bus" : "taxi";
  const stops = [...vehicles].join(", ");
  return svg(
    "g",
    { class: `station ${kind}`, "data-station": id, transform: `translate(${rounded(at.x)} ${rounded(at.y)})` },
    svg("title", {}, `Station ${id}: ${stops}`),
    kind === "metro" ? svg("rect", { x: -15, y: -12, width: 30, height: 24, rx: 3 }) : svg("circle", { r: kind === "bus" ? 13 : 12 }),
    vehicles.has("ferry") ? svg("path", { class: "pier", d: "M-9 17q4.500-5 9 0t9 0" }) : null,
    svg("text", { y: 4 }, String(id)),
  );
}

function drawBelief(layer, marks, belief, places) {
  const set = new Set(belief);
  for (const [id, element] of marks) element.classList.toggle("possible", set.has(id));
  layer.replaceChildren(
    ...belief.map((id) => {
      const { x, y } = places.get(id);
      return svg("circle", { class: "possible", "data-station": id, cx: rounded(x), cy: rounded(y), r: 23 });
    }),
  );
}

function figurePawn(figure) {
  const bobby = figure[0] === "b";
  return pawn(figure, figure === "x" ? "X" : bobby ? `B${figure[1]}` : figure[1], named(figure), bobby);
}

/** Mister X himself, or for the detectives where he was last shown. */
function putMisterX(element, moment, seesX, places) {
  const seen = open(moment).log.findLastIndex((slot) => slot.station !== null);
  const captured = moment.belief.length === 1 && open(moment).figures.some((one) => one.station === moment.belief[0]);
  const ghost = !seesX && !captured;
  element.classList.toggle("ghost", ghost && seen !== open(moment).log.length - 1);
  element.classList.toggle("absent", ghost && seen < 0);
  if (seesX) put(element, moment.views.mister_x.station, places);
  else if (captured) put(element, moment.belief[0], places);
  else if (seen >= 0) put(element, open(moment).log[seen].station, places);
  else delete element.dataset.station;
  const words = ghost ? (seen < 0 ? "not seen yet" : `last seen in log slot ${seen + 1}`) : "";
  element.firstChild.textContent = `Mister X ${words}`.trim();
}

function trails(game, index, seesX, places) {
  const made = [];
  for (const { figure } of open(game.moments[index]).figures) {
    const way = [];
    for (let at = index; at >= 0 && way.length <= TRAIL; at -= 1) {
      const { station } = open(game.moments[at]).figures.find((one) => one.figure === figure);
      if (way[0] !== station) way.unshift(station);
    }
    made.push(...trail(figure, way, TRAIL, places));
  }
  if (seesX) made.push(...trail("x", game.moments[index].views.mister_x.path, LONG_TRAIL, places));
  return made;
}

function described(moment, seesX) {
  const view = open(moment);
  const team = view.figures.map((one) => `${named(one.figure)} at ${one.station}`).join(", ");
  const x = seesX ? `Mister X at ${moment.views.mister_x.station}` : "Mister X hidden";
  return `Map: ${x}; ${team}; he can be at ${moment.belief.length} stations.`;
}

function legend() {
  const line = (vehicle) =>
    svg(
      "svg",
      { viewBox: "0 0 44 14", "aria-hidden": "true" },
      svg("path", { class: `link ${vehicle}`, d: "M2 7H42" }),
      vehicle === "bus" ? svg("path", { class: "link bus-core", d: "M2 7H42" }) : null,
    );
  const spot = svg("svg", { viewBox: "-25 -25 50 50", class: "spot", "aria-hidden": "true" }, svg("circle", { class: "possible", r: 23 }), svg("g", { class: "station possible" }, svg("circle", { r: 12 })));
  return html(
    "ul",
    { class: "legend", "aria-label": "Legend" },
    ["taxi", "bus", "metro", "ferry"].map((vehicle) => html("li", {}, line(vehicle), vehicle)),
    html("li", {}, spot, "Mister X can be here"),
  );
}

// Beside the map

function badge(ticket) {
  return html("span", { class: `ticket ${ticket}` }, TICKETS[ticket]);
}

function logPanel(game, facts) {
  const { slots, reveals } = game.numbers;
  const doubled = new Set();
  for (const one of facts) if (one.double) doubled.add(one.slot).add(one.slot + 1);
  const cells = Array.from({ length: slots }, (_, place) => {
    const slot = place + 1;
    const shown = reveals.includes(slot);
    return html("li", { class: shown ? "slot shows" : "slot", "data-slot": slot });
  });
  const element = html(
    "section",
    { class: "panel log", "aria-label": "Travel log" },
    html("h2", {}, "Travel log"),
    html("ol", {}, cells),
  );
  return {
    element,
    show(moment, seesX) {
      const { log } = open(moment);
      cells.forEach((cell, place) => {
        const slot = log[place];
        const number = html("span", { class: "number" }, String(place + 1), doubled.has(place + 1) && slot ? html("abbr", { title: "double move" }, "×2") : null);
        cell.classList.toggle("last", place === log.length - 1);
        if (!slot) {
          cell.replaceChildren(number);
          return;
        }
        const own = seesX ? moment.views.mister_x.path[place + 1] : null;
        const station = slot.station !== null
          ? html("strong", { class: "at" }, String(slot.station))
          : html("span", { class: "at" }, own === null ? "?" : String(own));
        cell.replaceChildren(number, badge(slot.ticket), station);
      });
    },
  };
}

function ticketPanel(game) {
  const body = html("tbody", {});
  const heads = ["taxi", "bus", "metro", "black"].map((ticket) => html("th", { scope: "col" }, badge(ticket)));
  const table = html(
    "table",
    {},
    html("thead", {}, html("tr", {}, html("th", { scope: "col" }, "Figure"), html("th", { scope: "col" }, "At"), heads, html("th", { scope: "col" }, html("abbr", { class: "ticket double", title: "double-move cards" }, "×2")))),
    body,
  );
  const element = html("section", { class: "panel tickets", "aria-label": "Tickets" }, html("h2", {}, "Tickets"), table);

  const row = (figure, name, at, tickets, blacks, doubles, moved) =>
    html(
      "tr",
      { "data-row": figure, class: moved ? "moved" : null },
      html("th", { scope: "row" }, html("span", { class: `chip ${figure}` }, figure === "x" ? "X" : figure[0] === "b" ? `B${figure[1]}` : figure[1]), html("span", { class: "name" }, name)),
      [at, tickets?.taxi, tickets?.bus, tickets?.metro, blacks, doubles].map((value) => html("td", {}, value === undefined || value === null ? "–" : String(value))),
    );
  return {
    element,
    show(moment, seesX, mover) {
      const view = open(moment);
      const unlimited = { taxi: "∞", bus: "∞", metro: "∞" };
      const rows = [
        row("x", "Mister X", seesX ? moment.views.mister_x.station : "?", view.supply ?? unlimited, view.blacks, view.doubles, mover === "x"),
        ...view.figures.map((one) => row(one.figure, named(one.figure), one.station, one.tickets, null, null, mover === one.figure)),
      ];
      if (view.pool) rows.push(row("pool", "Team's pool", null, view.pool, null, null, false));
      body.replaceChildren(...rows);
    },
  };
}

// In words

function told(game, index, seesX, here) {
  const moment = game.moments[index];
  if (index === 0) return "The cards are dealt.";
  if (!moment.plies.length) return moment.turn !== null && !game.turns[moment.turn].counted ? "No answer that counts." : "Nothing can be moved.";
  const steps = moment.plies.map((ply) => step(game, index, ply, seesX, here));
  const out = satOut(game, index).map((figure) => `${named(figure)} has no step.`);
  return [...steps, ...out].join(" ");
}

/** Who was left out when the team's turn ended with this ply. */
function satOut(game, index) {
  const waited = open(game.moments[index - 1]).unmoved;
  const ended = !open(game.moments[index]).unmoved.length && !captures(game, index);
  const moved = new Set(game.moments[index].plies.map((ply) => ply.figure));
  return ended ? waited.filter((figure) => !moved.has(figure)) : [];
}

function captures(game, index) {
  const last = game.moments.findLastIndex((moment) => moment.plies.length);
  return game.reason === "captured" && index === last;
}

function step(game, index, ply, seesX, here) {
  const before = open(game.moments[index - 1]);
  if (ply.figure === "x") {
    const slot = open(game.moments[index]).log.at(-1);
    const ticket = `${here.double ? "plays a double move: " : ""}${ply.ticket}`;
    const from = seesX ? ` ${game.moments[index - 1].views.mister_x.station} →` : " to";
    const to = seesX || slot.station !== null ? ` ${ply.to}` : " an unseen station";
    return `Mister X ${ticket}${from}${to}${slot.station !== null ? `, shown in log slot ${here.slot}` : ""}.`;
  }
  const from = before.figures.find((one) => one.figure === ply.figure).station;
  return `${named(ply.figure)} ${ply.ticket} ${from} → ${ply.to}${captures(game, index) ? " and captures Mister X" : ""}.`;
}
