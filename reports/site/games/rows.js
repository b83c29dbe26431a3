// The rows that are shown: a table whose head sorts and whose body holds one page of games.

import { SIDES } from "./form.js";
import { html } from "./shapes.js";

const NUMBER = new Intl.NumberFormat("en");
const WINNERS = ["none", "mister_x", "detectives"];
const LONGEST_ID = 10; // characters of an id in its column; the command has all of it
const SHORT_NAME = 12; // characters that a column always has room for
const LONGEST_NAME = 30; // characters of a bot's name in a row; its beginning and its end

/** Columns: key → heading, class, whether a click on the head sorts by it. */
const COLUMNS = {
  number: ["no.", "", true],
  id: ["game", "text", false],
  x: ["Mister X", "name text", true],
  d: ["detectives", "name text", true],
  winner: ["won by", "text", true],
  reason: ["reason", "text", true],
  rounds: ["rounds", "", true],
  deal: ["deal", "", true],
  fault: ["fault", "text", true],
  note: ["notes", "text", true],
  command: ["to watch", "text", false],
};

/** Keys that games can be sorted by. */
export const SORTS = Object.keys(COLUMNS).filter((key) => COLUMNS[key][2]);

/** Make the table; `sort(key)` is called by a click on a head. */
export function table(games, sort) {
  const shown = Object.keys(COLUMNS).filter(
    // A column in which nothing stands is left out.
    (key) =>
      (key !== "fault" || games.faults.length > 1) && (key !== "note" || games.notes.length > 1 || games.notes[0]?.marks.length) && (key !== "command" || games.replays.size < games.count),
  );
  const heads = new Map();
  for (const key of shown) {
    const [heading, kind, sorts] = COLUMNS[key];
    const button = sorts ? html("button", { type: "button" }, heading, html("span", { class: "way", "aria-hidden": "true" })) : heading;
    if (sorts) button.addEventListener("click", () => sort(key));
    // On paper the heading stands in the place of its button: of repeated heads browsers print no buttons.
    heads.set(key, html("th", { scope: "col", class: sorts ? kind || null : `${kind} fixed`, "data-heading": sorts ? heading : null }, button));
  }
  const body = html("tbody");
  const caption = html("caption", { class: "seen-not" }, "Games that fit the filters");
  const element = html(
    "div",
    { class: "scroll", role: "group", tabindex: "0", "aria-label": "Games that fit the filters", id: "games-rows" },
    html("table", {}, caption, html("thead", {}, html("tr", {}, [...heads.values()])), body),
  );

  return {
    element,
    /** Show these rows; `by` is how they are sorted. */
    show(rows, by) {
      for (const [key, head] of heads) {
        const way = by === key ? "ascending" : by === `-${key}` ? "descending" : null;
        if (way) head.setAttribute("aria-sort", way);
        else head.removeAttribute("aria-sort");
      }
      body.replaceChildren(...Array.from(rows, (row) => html("tr", { "data-game": games.ids[row] }, shown.map((key) => cell(games, row, key)))));
      requestAnimationFrame(() => { element.scrollTop = 0; }); // with the browser's own layout, not one more
    },
  };
}

function cell(games, row, key) {
  const kind = COLUMNS[key][1] || null;
  const winner = games.winner[row];
  switch (key) {
    case "number":
      return html("td", {}, NUMBER.format(games.number[row]));
    case "id":
      return html("th", { scope: "row", class: kind }, game(games, row));
    case "deal":
      return html("td", {}, games.deals[games.deal[row]] || "·");
    case "x":
      return html("td", { class: winner === 1 ? `${kind} won` : kind }, name(games, games.x[row]));
    case "d":
      return html("td", { class: winner === 2 ? `${kind} won` : kind }, name(games, games.d[row]));
    case "winner":
      return html("td", { class: kind }, html("span", { class: `by ${WINNERS[winner]}` }, SIDES[WINNERS[winner]]));
    case "reason":
      return html("td", { class: kind }, games.reasons[games.reason[row]]);
    case "rounds":
      return html("td", {}, games.rounds[row] < 0 ? "·" : String(games.rounds[row]));
    case "fault":
      return html("td", { class: `${kind} told` }, fault(games, "mister_x", games.xFault[row]), fault(games, "detectives", games.dFault[row]));
    case "note": {
      const { marks, rule } = games.notes[games.note[row]];
      const words = [...marks, rule].filter(Boolean).join(", ");
      return html("td", { class: `${kind} told` }, rule ? html("div", {}, words) : words);
    }
    default:
      return html("td", { class: kind }, games.replays.has(row) ? null : html("code", { class: "command" }, `arena replay ${games.ids[row]}`));
  }
}

function game(games, row) {
  const id = games.ids[row];
  const short = html("code", { title: id }, id.slice(0, LONGEST_ID));
  const path = games.replays.get(row);
  if (path === undefined) return short;
  return html("a", { href: path, class: "watch", "aria-label": `Replay of game ${id.slice(0, LONGEST_ID)}` }, short);
}

function name(games, place) {
  const whole = games.shown[place];
  const letters = [...whole];
  if (letters.length <= LONGEST_NAME) return html("bdi", { title: letters.length > SHORT_NAME ? whole : null }, whole);
  const end = Math.floor(LONGEST_NAME / 3);
  return html("bdi", { title: whole }, `${letters.slice(0, LONGEST_NAME - 1 - end).join("")}…${letters.slice(-end).join("")}`);
}

function fault(games, side, place) {
  const [kind, phase, text] = games.faults[place];
  if (!kind) return null;
  const head = `${SIDES[side]}: ${kind}${phase ? ` (${phase})` : ""}`;
  return html("div", {}, head, text ? html("small", { dir: "auto" }, text) : null);
}
