// The map of Europe as it lies on the table: links, cities with their names, starts and targets.

import { rounded } from "./pawns.js";
import { svg } from "./shapes.js";

const SPAN = 920; // the longer side between the outermost cities, in units of the drawing
const MARGIN = 64;
const ABOVE = 62; // room for a pin over the northernmost city
const APART = 26; // cities that lie closer are drawn this far apart
const LETTER = 8.5; // a letter's width at the size of names
const TALL = 17; // and their height
const LONGEST = 20; // letters of a name on the map; the rest is told where a pointer rests
const TRANSPORTS = ["rail", "car", "air"]; // from the lowest layer up
const OCTAGON = "M-5.500-13H5.500L13-5.500V5.500L5.500 13H-5.500L-13 5.500V-5.500Z";
const START = "M0-14L13 9H-13Z";

/** Outlines about 0,0 of what a mission's cities are marked with. */
export const marksOf = { start: START, target: OCTAGON };

/** The class that colours a mission: by its name if that is a colour here, else by its place. */
export function missionClass(missions, colour) {
  const place = Object.keys(missions).indexOf(colour);
  return ["green", "yellow", "orange"].includes(colour) ? `mission-${colour}` : `mission-${place % 3}`;
}

/** Where each city is drawn; returns `{ places, width, height }` with places by the city's id. */
export function laidOut(listed) {
  const cities = listed.every(({ x, y }) => x === listed[0].x && y === listed[0].y) ? inRing(listed) : listed;
  const xs = cities.map((city) => city.x);
  const ys = cities.map((city) => city.y);
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  const [wide, high] = [Math.max(...xs) - left, Math.max(...ys) - top];
  const scale = SPAN / Math.max(wide, high, Number.MIN_VALUE);
  const spots = cities.map((city) => ({ x: (city.x - left) * scale, y: (city.y - top) * scale }));
  spread(spots);
  const places = new Map(cities.map((city, index) => [city.id, { x: spots[index].x + MARGIN, y: spots[index].y + ABOVE }]));
  return { places, width: wide * scale + 2 * MARGIN, height: high * scale + ABOVE + MARGIN };
}

/** Give cities places on a circle, where whoever typed the board in gave them none. */
function inRing(cities) {
  const angle = (2 * Math.PI) / cities.length;
  return cities.map((city, index) => ({ ...city, x: Math.sin(index * angle), y: -Math.cos(index * angle) }));
}

/** Move places apart that would be drawn over each other. */
function spread(spots) {
  for (let again = 0; again < 40; again += 1) {
    let moved = false;
    spots.forEach((a, index) => {
      for (const b of spots.slice(index + 1)) {
        const far = Math.hypot(b.x - a.x, b.y - a.y);
        if (far >= APART - 0.5) continue;
        const [dx, dy] = far > 0 ? [(b.x - a.x) / far, (b.y - a.y) / far] : [1, 0];
        const push = (APART - far) / 2;
        a.x -= dx * push;
        a.y -= dy * push;
        b.x += dx * push;
        b.y += dy * push;
        moved = true;
      }
    });
    if (!moved) return;
  }
}

/** The links, a path for each transport; rail runs beside a road, planes fly in an arc. */
export function drawnLinks(links, places) {
  const roads = new Set(links.car.map((pair) => pair.join("-")));
  return TRANSPORTS.flatMap((transport) => {
    const pairs = links[transport];
    const path = pairs.map((pair) => line(transport, pair, roads.has(pair.join("-")), places)).join("");
    const drawn = [svg("path", { class: `link ${transport}`, "data-links": pairs.length, d: path })];
    if (transport === "rail") drawn.push(svg("path", { class: "link sleepers", d: path }));
    return drawn;
  });
}

function line(transport, pair, hasRoad, places) {
  const [a, b] = pair.map((city) => places.get(city));
  const far = Math.hypot(b.x - a.x, b.y - a.y) || 1;
  const [nx, ny] = [-(b.y - a.y) / far, (b.x - a.x) / far];
  if (transport === "air") {
    const bow = Math.sign(nx * 0.3 - ny || 1) * far * 0.16; // upwards
    return `M${rounded(a.x)} ${rounded(a.y)}Q${rounded((a.x + b.x) / 2 + nx * bow)} ${rounded((a.y + b.y) / 2 + ny * bow)} ${rounded(b.x)} ${rounded(b.y)}`;
  }
  const aside = transport === "rail" && hasRoad ? 5 : 0;
  return `M${rounded(a.x + nx * aside)} ${rounded(a.y + ny * aside)}L${rounded(b.x + nx * aside)} ${rounded(b.y + ny * aside)}`;
}

/** A city's symbol: the more transports stop there, the heavier. */
export function symbol(kind) {
  if (kind === "air") return svg("rect", { class: "dot", x: -8, y: -8, width: 16, height: 16, rx: 4 });
  return svg("circle", { class: "dot", r: kind === "rail" ? 7 : 5.5 });
}

const KINDS = { car: "car", rail: "car, rail or ferry", air: "car, rail or ferry, air" };

/** City → its element, and its name where it covers least. */
export function drawnCities(board, places, width) {
  const names = labels(board, places, width);
  return new Map(
    board.cities.map((city) => {
      const { x, y } = places.get(city.id);
      const { dx, dy, anchor } = names.get(city.id);
      return [
        city.id,
        svg(
          "g",
          { class: `city ${city.kind}`, "data-station": city.id, transform: `translate(${rounded(x)} ${rounded(y)})` },
          svg("title", {}, `${city.name} (${city.id}): ${KINDS[city.kind]}`),
          symbol(city.kind),
          svg("text", { x: dx, y: dy, "text-anchor": anchor }, onMap(city.name)),
        ),
      ];
    }),
  );
}

/** Starts as triangles and targets as octagons, in the mission's colour. */
export function drawnMissions(missions, places) {
  return Object.entries(missions).flatMap(([colour, { starts, targets }]) =>
    [...starts.map((city) => [city, "start"]), ...targets.map((city) => [city, "target"])].map(([city, what]) => {
      const { x, y } = places.get(city);
      return svg(
        "path",
        { class: `goal ${what} ${missionClass(missions, colour)}`, "data-mission": colour, "data-station": city, d: marksOf[what], transform: `translate(${rounded(x)} ${rounded(y)})` },
        svg("title", {}, `${colour} mission: ${what}`),
      );
    }),
  );
}

// Names: each stands where it covers the least of cities, other names and links

const SIDES = [
  { dx: 12, dy: 5, anchor: "start" },
  { dx: -12, dy: 5, anchor: "end" },
  { dx: 0, dy: -13, anchor: "middle" },
  { dx: 0, dy: 23, anchor: "middle" },
  { dx: 9, dy: -8, anchor: "start" },
  { dx: 9, dy: 18, anchor: "start" },
  { dx: -9, dy: -8, anchor: "end" },
  { dx: -9, dy: 18, anchor: "end" },
];

function labels(board, places, width) {
  const spots = board.cities.map((city) => places.get(city.id));
  const lines = ["car", "rail", "air"].flatMap((transport) => board.links[transport].map((pair) => pair.map((city) => places.get(city))));
  const boxes = board.cities.map((city, index) => SIDES.map((side) => box(onMap(city.name), spots[index], side)));
  const still = boxes.map((choices) =>
    choices.map((one, side) => {
      let cost = side * 0.4;
      if (one.left < 2 || one.right > width - 2) cost += 500;
      for (const spot of spots) if (meets(one, { left: spot.x - 9, right: spot.x + 9, top: spot.y - 9, bottom: spot.y + 9 })) cost += 60;
      for (const [a, b] of lines) cost += Math.min(12, inside(one, a, b) / 4);
      return cost;
    }),
  );
  const chosen = still.map((costs) => costs.indexOf(Math.min(...costs)));
  for (let again = 0; again < 6; again += 1) {
    boxes.forEach((choices, index) => {
      const costs = choices.map((one, side) => {
        let cost = still[index][side];
        boxes.forEach((others, other) => {
          if (other !== index && meets(one, others[chosen[other]])) cost += 100;
        });
        return cost;
      });
      chosen[index] = costs.indexOf(Math.min(...costs));
    });
  }
  return new Map(board.cities.map((city, index) => [city.id, SIDES[chosen[index]]]));
}

/** A name as far as there is room for it; letters are whole whatever they are made of. */
function onMap(name) {
  const letters = [...name];
  return letters.length > LONGEST ? `${letters.slice(0, LONGEST - 1).join("")}…` : name;
}

function box(name, spot, { dx, dy, anchor }) {
  const long = name.length * LETTER + 4;
  const left = spot.x + dx - (anchor === "start" ? 2 : anchor === "end" ? long - 2 : long / 2);
  const bottom = spot.y + dy + 4;
  return { left, right: left + long, top: bottom - TALL, bottom };
}

function meets(a, b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

/** How much of a line lies in a box. */
function inside(area, a, b) {
  let [from, to] = [0, 1];
  for (const [start, way, low, high] of [
    [a.x, b.x - a.x, area.left, area.right],
    [a.y, b.y - a.y, area.top, area.bottom],
  ]) {
    if (way === 0) {
      if (start < low || start > high) return 0;
    } else {
      const [one, other] = [(low - start) / way, (high - start) / way];
      from = Math.max(from, Math.min(one, other));
      to = Math.min(to, Math.max(one, other));
    }
  }
  return Math.max(0, to - from) * Math.hypot(b.x - a.x, b.y - a.y);
}
