// The drawing of Europe: map, pawns, rings, ticket board, hands, and every ply in words.

import { drawnCities, drawnLinks, drawnMissions, laidOut, marksOf, missionClass, symbol } from "./europe-map.js";
import { drawnTickets, ticketBoard } from "./europe-tickets.js";
import { told } from "./europe-words.js";
import { pawn, put, rounded, trail } from "./pawns.js";
import { html, svg } from "./shapes.js";

const TRAIL = 5; // a figure's last cities
const LONG_TRAIL = 12; // Mister X's
const RING = 13; // the smallest ring about a city; the next pairs are wider
const WIDER = 4;

/** Kinds of marks on the time line, with symbols about 0,0. */
export const kinds = [
  { kind: "declared", label: "Entry declared", path: "M0-5A5 5 0 1 1 0 5A5 5 0 1 1 0-5ZM0-2.500A2.500 2.500 0 1 0 0 2.500A2.500 2.500 0 1 0 0-2.500Z" },
  { kind: "reveal", label: "Entry investigated", path: "M0-5.500L5.500 0 0 5.500-5.500 0Z" },
  { kind: "double", label: "Double move", path: "M-5-4.500L0 0-5 4.500ZM0-4.500L5 0 0 4.500Z" },
  { kind: "black", label: "Hidden move", path: "M-4.500-4.500H4.500V4.500H-4.500Z" },
  { kind: "special", label: "Special mission", path: "M0-5.500L1.600-1.600 5.500 0 1.600 1.600 0 5.500-1.600 1.600-5.500 0-1.600-1.600Z" },
  { kind: "stuck", label: "Mister X stuck", path: "M-5-1.800H5V1.800H-5Z" },
  { kind: "fault", label: "Fault", path: "M-5-3L-3-5 0-2 3-5 5-3 2 0 5 3 3 5 0 2-3 5-5 3-2 0Z" },
];

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
  const { cities, links } = game.board;
  const { places, width, height } = laidOut(cities);
  const names = new Map(cities.map((city) => [city.id, city.name]));
  const facts = game.moments.map((moment, index) => fact(game, index, names));

  const layers = Object.fromEntries(
    ["links", "belief", "goals", "trails", "cities", "rings", "pawns"].map((name) => [name, svg("g", { class: name })]),
  );
  const picture = svg(
    "svg",
    { class: "map europe", role: "img", viewBox: `0 0 ${width} ${height}` },
    svg("title", {}, `Map of ${game.board.name}`),
    Object.values(layers),
  );
  layers.links.append(...drawnLinks(links, places));
  layers.goals.append(...drawnMissions(game.board.missions, places));
  const marks = drawnCities(game.board, places, width);
  layers.cities.append(...marks.values());
  const pawns = new Map(["d1", "d2", "d3", "d4", "d5"].map((name) => [name, pawn(name, name[1], `Detective ${name[1]}`)]));
  pawns.set("x", pawn("x", "X", "Mister X"));
  layers.pawns.append(...pawns.values());

  const board = ticketBoard(game, names);
  const tickets = drawnTickets(game);

  function show(index, view) {
    const moment = game.moments[index];
    const seesX = view !== "detectives";
    const { colour } = open(moment);
    for (const goal of layers.goals.children) goal.classList.toggle("other", goal.dataset.mission !== colour);
    drawBelief(layers.belief, marks, moment.belief, places);
    layers.rings.replaceChildren(...rings(moment, places, names));
    const mover = facts[index].mover;
    const standing = new Map(open(moment).figures.map((one) => [one.figure, one.city]));
    for (const [figure, element] of pawns) {
      element.classList.toggle("moved", figure === mover);
      if (figure === "x") continue;
      element.classList.toggle("absent", !standing.has(figure));
      if (standing.has(figure)) put(element, standing.get(figure), places);
    }
    putMisterX(pawns.get("x"), moment, seesX, places);
    layers.trails.replaceChildren(...trails(game, index, seesX, places));
    board.show(moment, seesX);
    tickets.show(moment, view, mover);
    picture.setAttribute("aria-label", described(moment, seesX, names));
  }

  return {
    picture,
    width,
    height,
    panels: [board.element, tickets.element],
    legend: legend(game),
    possible: (count) => (count === 1 ? "in 1 city" : `in ${count} cities`),
    marks: facts.map((one) => one.marks),
    rounds: facts.map((one) => one.round),
    tell: (index, view) => told(game, index, view, names),
    show,
  };
}

/** A moment's round, who moved, and what lies open to both sides that happened in it. */
function fact(game, index, names) {
  const view = open(game.moments[index]);
  const before = index ? open(game.moments[index - 1]) : view;
  const ply = game.moments[index].plies.at(-1);
  const marks = [];
  const fresh = view.known.filter((entry) => !before.known.includes(entry));
  const asked = ply?.do === "investigate";
  const moves = view.board.length > before.board.length || view.entries.length > before.entries.length;
  for (const entry of fresh) {
    const at = names.get(view.entries[entry]);
    if (moves) continue; // an open move is no find
    if (asked && entry === fresh[0]) marks.push({ kind: "reveal", label: `Entry ${entry} investigated: ${at}` });
    else if (!marks.some((mark) => mark.kind === "declared")) marks.push({ kind: "declared", label: `Entry ${fresh.map((one) => `${one}: ${names.get(view.entries[one])}`).join(", entry ")}` });
  }
  const grew = (key) => view.tally[key] > before.tally[key];
  if (grew("doubles")) marks.push({ kind: "double", label: "Double move" });
  if (grew("hiddens")) marks.push({ kind: "black", label: "Hidden move" });
  if (grew("specials")) marks.push({ kind: "special", label: "Special mission" });
  if (grew("stuck")) marks.push({ kind: "stuck", label: "Mister X can't move" });
  const mover = ply?.figure ?? (ply?.do === "lay" || ply?.player === "x" ? "x" : (ply?.player ?? null));
  // The round that a ply belongs to is the one that was on before it.
  return { round: before.round, marks, mover };
}

// The map

function drawBelief(layer, marks, belief, places) {
  const set = new Set(belief);
  for (const [id, element] of marks) element.classList.toggle("possible", set.has(id));
  layer.replaceChildren(
    ...belief.map((id) => {
      const { x, y } = places.get(id);
      return svg("circle", { class: "possible", "data-station": id, cx: rounded(x), cy: rounded(y), r: 21 });
    }),
  );
}

/** The rings of declared entries, each pair of its own width, with the entry's number. */
function rings(moment, places, names) {
  const { rings: pairs, entries } = open(moment);
  const above = new Map(); // city → tags there
  return pairs.flatMap((entry, pair) => {
    const city = entries[entry];
    const { x, y } = places.get(city);
    const r = RING + WIDER * pair;
    const row = above.get(city) ?? 0;
    above.set(city, row + 1);
    const [tx, ty] = [rounded(x + 22), rounded(y - 20 - 17 * row)];
    return [
      svg("circle", { class: "ring", "data-ring": pair, "data-station": city, cx: rounded(x), cy: rounded(y), r }, svg("title", {}, `Entry ${entry}: ${names.get(city)}`)),
      svg("g", { class: "ring-tag", transform: `translate(${tx} ${ty})` }, svg("rect", { x: -12, y: -9, width: 24, height: 18, rx: 9 }), svg("text", { y: 5 }, String(entry))),
    ];
  });
}

/** The last entry that the team knows the city of; -1 if there is none. */
const lastKnown = (view) => view.entries.findLastIndex((city) => city !== null);

/** Mister X himself, or for the detectives where he was last known to be. */
function putMisterX(element, moment, seesX, places) {
  const { entries } = open(moment);
  const seen = lastKnown(open(moment));
  const own = moment.views.mister_x.city;
  const now = seen >= 0 && seen === entries.length - 1;
  const ghost = !seesX && !now;
  const at = seesX ? own : seen >= 0 ? entries[seen] : null;
  element.classList.toggle("ghost", ghost);
  element.classList.toggle("absent", at === null);
  if (at === null) delete element.dataset.station;
  else put(element, at, places);
  const words = ghost ? (seen < 0 ? "not seen yet" : `at entry ${seen}`) : "";
  element.firstChild.textContent = `Mister X ${words}`.trim();
}

function trails(game, index, seesX, places) {
  const made = [];
  for (const { figure } of open(game.moments[index]).figures) {
    const way = [];
    for (let at = index; at >= 0 && way.length <= TRAIL; at -= 1) {
      const found = open(game.moments[at]).figures.find((one) => one.figure === figure);
      if (found && way[0] !== found.city) way.unshift(found.city);
    }
    made.push(...trail(figure, way, TRAIL, places));
  }
  if (seesX) made.push(...trail("x", game.moments[index].views.mister_x.entries, LONG_TRAIL, places));
  return made;
}

function described(moment, seesX, names) {
  const view = open(moment);
  const team = view.figures.map((one) => `Detective ${one.figure[1]} in ${names.get(one.city)}`).join(", ");
  const { city } = moment.views.mister_x;
  const x = !seesX ? "Mister X hidden" : city === null ? "Mister X not placed" : `Mister X in ${names.get(city)}`;
  return `Map: ${x}; ${team || "no detective placed"}; he can be in ${moment.belief.length} cities.`;
}

function legend(game) {
  const line = (transport, words) =>
    html(
      "li",
      {},
      svg(
        "svg",
        { viewBox: "0 0 44 14", "aria-hidden": "true" },
        svg("path", { class: `link ${transport}`, d: transport === "air" ? "M2 11Q22-3 42 11" : "M2 7H42" }),
        transport === "rail" ? svg("path", { class: "link sleepers", d: "M2 7H42" }) : null,
      ),
      words,
    );
  const spot = (...shapes) => svg("svg", { viewBox: "-25 -25 50 50", class: "spot", "aria-hidden": "true" }, shapes);
  const city = (kind, words) => html("li", {}, spot(svg("g", { class: `city ${kind}`, transform: "scale(1.8)" }, symbol(kind))), words);
  const colours = Object.keys(game.board.missions).map((colour) =>
    html(
      "li",
      { "data-colour": colour },
      spot(svg("path", { class: `goal start ${missionClass(game.board.missions, colour)}`, d: marksOf.start, transform: "scale(1.3)" })),
      spot(svg("path", { class: `goal target ${missionClass(game.board.missions, colour)}`, d: marksOf.target, transform: "scale(1.4)" })),
      `${colour}: starts, targets`,
    ),
  );
  return html(
    "div",
    {},
    html(
      "ul",
      { class: "legend", "aria-label": "Legend" },
      line("car", "car"),
      line("rail", "rail, ferry"),
      line("air", "air"),
      city("car", "city with cars"),
      city("rail", "and rail"),
      city("air", "and planes"),
      colours,
      html("li", {}, spot(svg("circle", { class: "ring", r: 17 })), "declared entry"),
      html("li", {}, spot(svg("circle", { class: "possible", r: 23 }), svg("g", { class: "city possible" }, svg("circle", { class: "dot", r: 12 }))), "Mister X can be here"),
    ),
    html("p", { class: "origin soft" }, `The board: ${game.board.origin}`),
  );
}
