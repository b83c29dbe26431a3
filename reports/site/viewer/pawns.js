// What moves on any map: pawns, and the lines of the ways that they came.

import { svg } from "./shapes.js";

const PIN = "M0-9L-8-20A14 14 0 1 1 8-20Z"; // its point lies over 0,0
const SQUARE_PIN = "M0-9L-7-18H-13V-44H13V-18H7Z";

/** A number as it stands in the page: one decimal is finer than a pixel. */
export const rounded = (value) => Math.round(value * 10) / 10;

/** A pawn of a figure; `square` tells another kind of figure by its shape. */
export function pawn(figure, label, name, square = false) {
  return svg(
    "g",
    { class: `pawn ${figure}`, "data-figure": figure },
    svg("title", {}, name),
    svg("path", { d: square ? SQUARE_PIN : PIN }),
    svg("text", { y: -26 }, label),
  );
}

/** Put a pawn on a place of the map. */
export function put(element, place, places) {
  const { x, y } = places.get(place);
  element.dataset.station = place;
  element.style.transform = `translate(${rounded(x)}px, ${rounded(y)}px)`;
}

/** Lines along the last `kept` steps of a way, the older the fainter. */
export function trail(figure, way, kept, places) {
  const made = [];
  way.slice(0, -1).forEach((from, step) => {
    const age = way.length - 2 - step;
    if (age >= kept || from === way[step + 1]) return;
    const [a, b] = [places.get(from), places.get(way[step + 1])];
    made.push(svg("line", {
      class: `trail ${figure}`,
      x1: rounded(a.x), y1: rounded(a.y), x2: rounded(b.x), y2: rounded(b.y),
      opacity: rounded(Math.max(0.25, 0.9 - (0.65 * age) / kept)),
    }));
  });
  return made;
}
