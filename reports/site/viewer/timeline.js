// The time line: rounds, what happened when, and how many places were possible; click to jump.

import { html, svg } from "./shapes.js";

const LANE = 13; // pixels, one lane a kind of mark
const CHART = 46;
const ROUNDS = 15;
const EDGE = 6; // left and right of the first and the last moment

/**
 * Make the time line.
 *
 * `kinds` are `{ kind, label, path }` (a symbol about 0,0 within ±5), `marks[i]` the marks
 * `{ kind, label }` of moment i. Of the drawing `rounds[i]` is its round, and `possible(count)` says
 * where Mister X can be. Returns its element and `show(index, text)`.
 */
export function timeline(game, kinds, marks, { rounds, possible }, go) {
  const count = game.moments.length;
  const sizes = game.moments.map((moment) => moment.belief.length);
  const most = Math.max(1, ...sizes);
  const lanes = kinds.filter(({ kind }) => marks.some((list) => list.some((mark) => mark.kind === kind)));
  const top = ROUNDS + lanes.length * LANE + 4;
  const height = top + (game.believed ? CHART : 0) + 2;

  const still = svg("g", {});
  const cursor = svg("line", { class: "cursor", y1: 0, y2: height });
  const dot = svg("circle", { class: "dot", r: 4 });
  const picture = svg("svg", { class: "line", height, "aria-hidden": "true" }, still, cursor, game.believed ? dot : null);
  const slider = html(
    "div",
    {
      class: "slider",
      role: "slider",
      tabindex: "0",
      "aria-label": "Time line",
      "aria-valuemin": 0,
      "aria-valuemax": count - 1,
    },
    picture,
  );
  const size = html("output", { class: "size" });
  const key = html(
    "ul",
    { class: "key", "aria-label": "Marks" },
    lanes.map(({ kind, label, path }) =>
      html("li", {}, svg("svg", { viewBox: "-7 -7 14 14", "aria-hidden": "true" }, svg("path", { class: `mark ${kind}`, d: path })), label),
    ),
    game.believed ? html("li", { class: "belief-size" }, size) : null,
  );
  const element = html("div", { class: "timeline" }, slider, key);

  let width = 0;
  let shown = 0;
  const place = (index) => EDGE + (count > 1 ? (index / (count - 1)) * (width - 2 * EDGE) : 0);
  const level = (index) => top + 4 + (CHART - 8) * (1 - sizes[index] / most);

  function draw() {
    width = Math.max(120, slider.clientWidth);
    picture.setAttribute("width", width);
    picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    still.replaceChildren(...bands(), ...symbols(), ...(game.believed ? chart() : []));
    cut();
  }

  function bands() {
    const made = [];
    let begin = 0;
    let told = -100;
    for (let index = 1; index <= count; index += 1) {
      if (index < count && rounds[index] === rounds[begin]) continue;
      const left = begin === 0 ? 0 : place(begin - 0.5);
      const right = index === count ? width : place(index - 0.5);
      made.push(svg("rect", { class: rounds[begin] % 2 ? "band odd" : "band", x: left, y: 0, width: Math.max(0, right - left), height }));
      const middle = (left + right) / 2;
      if (middle - told > 20) {
        made.push(svg("text", { class: "round", x: middle, y: 11 }, String(rounds[begin])));
        told = middle;
      }
      begin = index;
    }
    return made;
  }

  function symbols() {
    const made = [];
    marks.forEach((list, index) => {
      for (const mark of list) {
        const lane = lanes.findIndex(({ kind }) => kind === mark.kind);
        const y = ROUNDS + lane * LANE + LANE / 2;
        if (mark.kind === "fault") {
          made.push(svg("line", { class: "fault-line", x1: place(index), x2: place(index), y1: ROUNDS, y2: height }));
        }
        made.push(
          svg(
            "path",
            { class: `mark ${mark.kind}`, d: lanes[lane].path, transform: `translate(${place(index)} ${y})`, "data-moment": index },
            svg("title", {}, mark.label),
          ),
        );
      }
    });
    return made;
  }

  function chart() {
    let path = `M${place(0)} ${level(0)}`;
    for (let index = 1; index < count; index += 1) path += `H${place(index)}V${level(index)}`;
    const floor = top + CHART - 2;
    return [
      svg("path", { class: "area", d: `${path}V${floor}H${place(0)}Z` }),
      svg("path", { class: "sizes", d: path }),
      svg("line", { class: "floor", x1: 0, x2: width, y1: floor, y2: floor }),
    ];
  }

  function cut() {
    cursor.setAttribute("x1", place(shown));
    cursor.setAttribute("x2", place(shown));
    dot.setAttribute("cx", place(shown));
    dot.setAttribute("cy", level(shown));
  }

  function jump(event) {
    const at = event.clientX - slider.getBoundingClientRect().left;
    go(Math.round(((at - EDGE) / Math.max(1, width - 2 * EDGE)) * (count - 1)));
  }
  slider.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    slider.setPointerCapture(event.pointerId);
    jump(event);
  });
  slider.addEventListener("pointermove", (event) => {
    if (slider.hasPointerCapture(event.pointerId)) jump(event);
  });
  // As sliders go by keys; to the left and to the right is the player's, everywhere.
  slider.addEventListener("keydown", (event) => {
    const step = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (!step || event.shiftKey || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    go(shown + step);
  });
  new ResizeObserver(draw).observe(slider);

  return {
    element,
    show(index, text) {
      shown = index;
      slider.setAttribute("aria-valuenow", index);
      slider.setAttribute("aria-valuetext", text);
      if (game.believed) {
        size.textContent = `Mister X can be ${possible(sizes[index])} (most: ${most})`;
      }
      if (width) cut();
    },
  };
}
