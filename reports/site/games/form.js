// The filters as a form: labelled controls that read and write one state.

import { span } from "./filters.js";
import { html } from "./shapes.js";

export const SIDES = { mister_x: "Mister X", detectives: "detectives", none: "nobody" };

const NOTES = {
  counted: "counts",
  excluded: "counts for nobody",
  benched: "a bot was benched",
  replay: "has a replay here",
};
const BLANK = { bot: "any bot", side: "either side", against: "anyone", winner: "anyone", reason: "any", fault: "any or none", phase: "any", note: "any" };
const LABELS = {
  bot: "Bot",
  side: "Playing",
  against: "Against",
  winner: "Won by",
  reason: "Reason",
  rounds: "Rounds",
  fault: "Fault",
  phase: "Phase of fault",
  note: "Note",
  text: "Id, or words of a fault",
};
const TYPING_MS = 150; // after the last key; browsers allow few changes of the address a second

/** What each field can be, in the games at hand: field → list of `[value, text]`. */
export function choices(games) {
  const names = games.names.map((name, place) => [name, games.shown[place]]);
  const kinds = unique(games.faults.map(([kind]) => kind));
  const phases = unique(games.faults.map(([, phase]) => phase));
  const notes = ["counted"];
  const rules = unique(games.notes.map(({ rule }) => rule));
  if (rules.length) notes.push("excluded", ...rules);
  notes.push(...unique(games.notes.flatMap(({ marks }) => marks)));
  if (kinds.includes("benched")) notes.push("benched");
  if (games.replays.size) notes.push("replay");
  return {
    bot: names,
    side: pairs(["mister_x", "detectives"]),
    against: names,
    winner: [...pairs(["mister_x", "detectives", "none"]), ["bot", "the bot"], ["opponent", "its opponent"]],
    reason: games.reasons.map((reason) => [reason, reason]),
    fault: kinds.length ? [["any", "any fault"], ["none", "no fault"], ...kinds.map((kind) => [kind, kind])] : [],
    phase: phases.map((phase) => [phase, phase]),
    note: notes.map((note) => [note, NOTES[note] ?? note]),
  };
}

function pairs(sides) {
  return sides.map((side) => [side, SIDES[side]]);
}

function unique(values) {
  return [...new Set(values.filter(Boolean))].sort();
}

/**
 * Make the form.
 *
 * `change(field, value)` is called when a person changes a filter, `clear()` by the button.
 * Returns the element, and `show(filters)`, which writes a state into the controls.
 */
export function form(games, change, clear) {
  const offered = choices(games);
  const controls = new Map();
  for (const [field, options] of Object.entries(offered)) {
    if (!options.length) continue;
    const select = html(
      "select",
      { id: `games-${field}` },
      html("option", { value: "" }, BLANK[field]),
      options.map(([value, text]) => html("option", { value, dir: "auto" }, text)),
    );
    select.addEventListener("change", () => change(field, select.value));
    controls.set(field, select);
  }
  for (const [field, settings] of [
    ["rounds", { placeholder: "as 4-12", size: 7, pattern: "\\s*(\\d+\\s*-?\\s*\\d*|-\\s*\\d+)\\s*" }],
    ["text", { type: "search", size: 18 }],
  ]) {
    const input = html("input", { id: `games-${field}`, type: "text", autocomplete: "off", spellcheck: "false", maxlength: 80, ...settings });
    let timer = 0;
    input.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => change(field, input.value.trim()), TYPING_MS);
    });
    controls.set(field, input);
  }
  const clearButton = html("button", { type: "button", class: "clear" }, "Clear filters");
  clearButton.addEventListener("click", clear);
  const fields = Object.keys(LABELS).filter((field) => controls.has(field));
  const labels = new Map(fields.map((field) => [field, html("label", { for: `games-${field}` }, LABELS[field])]));
  const element = html(
    "form",
    { class: "filters", role: "search", "aria-label": "Filters" },
    fields.map((field) => html("div", { class: `field ${field}` }, labels.get(field), controls.get(field))),
    html("div", { class: "field" }, clearButton),
  );
  element.addEventListener("submit", (event) => event.preventDefault());

  function show(filters) {
    for (const [field, control] of controls) {
      if (control.value !== filters[field]) control.value = filters[field];
      if (control.value !== filters[field] && control.tagName === "SELECT") control.value = "";
    }
    const chosen = Boolean(filters.bot || filters.against);
    controls.get("side").disabled = !chosen;
    for (const option of controls.get("winner").options) {
      if (option.value === "bot" || option.value === "opponent") option.disabled = !chosen;
    }
    if (labels.has("fault")) labels.get("fault").textContent = chosen ? "The bot's fault" : LABELS.fault;
    clearButton.setAttribute("aria-disabled", String(!Object.values(filters).some(Boolean)));
  }

  /** The filters in words, and sentences on those that nothing here fits or that are none. */
  function tell(filters) {
    const words = [];
    const unknown = [];
    const notices = [];
    for (const field of fields) {
      const value = filters[field];
      if (!value) continue;
      if (field === "rounds" && !span(value)) {
        notices.push(`“${visible(value)}” is no span of rounds such as 7, 4-12, 4- or -12: games of any length are shown.`);
        continue;
      }
      const label = labels.get(field).textContent.toLowerCase();
      const found = (offered[field] ?? [[value, value]]).find(([one]) => one === value);
      if (found) words.push(`${label} ${found[1]}`);
      else unknown.push(`${label} “${visible(value)}”`);
    }
    for (const [field, value] of Object.entries(filters)) {
      if (value && !controls.has(field)) unknown.push(`${LABELS[field].toLowerCase()} “${visible(value)}”`);
    }
    if (unknown.length) notices.unshift(`No game here has: ${unknown.join("; ")}.`);
    return { words, notices };
  }

  return { element, show, tell };
}

/** Text out of the address, short, and without marks that turn or hide what stands beside it. */
function visible(text) {
  return text.slice(0, 60).replace(/[\p{C}\u2028\u2029]/gu, "�");
}
