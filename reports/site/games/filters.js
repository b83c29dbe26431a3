// What is asked of the games: to and from the page's address, and the rows that fit; no elements.

/** Names in the address, in its order. */
export const FIELDS = ["bot", "side", "against", "winner", "reason", "rounds", "fault", "phase", "note", "text"];

const SPREAD = 2 ** 26; // more than there are rows
const DEFAULT_SORT = "number";

/** A state without any filter. */
export function nothing() {
  return { filters: Object.fromEntries(FIELDS.map((field) => [field, ""])), sort: DEFAULT_SORT, page: 1 };
}

/** Return the state that an address's fragment tells, or null if it tells none (as `#standings`). */
export function parse(fragment, sorts) {
  const text = fragment.replace(/^#/, "");
  const state = nothing();
  if (!text) return state;
  if (!text.includes("=")) return null;
  for (const [key, value] of new URLSearchParams(text)) {
    if (FIELDS.includes(key)) state.filters[key] = value;
    else if (key === "sort" && sorts.includes(value.replace(/^-/, ""))) state.sort = value;
    else if (key === "page" && /^[1-9]\d{0,6}$/.test(value)) state.page = Number(value);
  }
  return state;
}

/** Return the fragment of a state; empty where nothing is asked for. */
export function fragment(state) {
  const told = new URLSearchParams();
  for (const field of FIELDS) if (state.filters[field]) told.set(field, state.filters[field]);
  if (state.sort !== DEFAULT_SORT) told.set("sort", state.sort);
  if (state.page > 1) told.set("page", String(state.page));
  const text = told.toString();
  return text && `#${text}`;
}

/** Ends of a span such as `4-12`, `4-`, `-12` or `7`; null if it is none. */
export function span(text) {
  const found = /^(\d{0,6})(-?)(\d{0,6})$/.exec(text.replace(/\s/g, ""));
  if (!found || (!found[1] && !found[3])) return null;
  const low = found[1] ? Number(found[1]) : 0;
  const high = found[3] ? Number(found[3]) : found[2] ? Infinity : low;
  return [Math.min(low, high), Math.max(low, high)]; // `12-4` is meant as `4-12`
}

/** Return the places of the games that fit, in plan order. */
export function matching(games, filters) {
  const tests = testsOf(games, filters);
  const found = new Uint32Array(games.count);
  let count = 0;
  for (let row = 0; row < games.count; row += 1) {
    if (tests.every((test) => test(row))) {
      found[count] = row;
      count += 1;
    }
  }
  return found.subarray(0, count);
}

function testsOf(games, filters) {
  const tests = [];
  const seats = seatTest(games, filters);
  if (seats) tests.push(seats);
  const winner = { none: 0, mister_x: 1, detectives: 2 }[filters.winner];
  if (winner !== undefined) tests.push((row) => games.winner[row] === winner);
  if (filters.reason) {
    const reason = games.reasons.indexOf(filters.reason);
    tests.push((row) => games.reason[row] === reason);
  }
  const rounds = span(filters.rounds);
  if (rounds) tests.push((row) => games.rounds[row] >= rounds[0] && games.rounds[row] <= rounds[1]);
  if (filters.note) tests.push(noteTest(games, filters.note));
  if (filters.text) tests.push(textTest(games, filters.text.toLowerCase()));
  return tests;
}

/** A bot, its side, its opponent, whether it won and its fault hang together: one seat must fit all. */
function seatTest(games, filters) {
  const { bot, side, against, winner, fault, phase } = filters;
  const anyone = !bot && !against;
  const relative = winner === "bot" || winner === "opponent";
  if (anyone && !fault && !phase) return null;
  const own = games.names.indexOf(bot);
  const other = games.names.indexOf(against);
  const faults = fault || phase ? games.faults.map((one) => faultFits(one, fault, phase)) : null;
  if (anyone) {
    const both = fault === "none";
    return (row) => {
      const x = faults[games.xFault[row]];
      const d = faults[games.dFault[row]];
      return both ? x && d : x || d;
    };
  }
  const fits = (row, mine, theirs, fault_of, number) =>
    (!bot || mine[row] === own) &&
    (!against || theirs[row] === other) &&
    (!faults || faults[fault_of[row]]) &&
    (!relative || (games.winner[row] !== 0 && (games.winner[row] === number) === (winner === "bot")));
  return (row) =>
    (side !== "detectives" && fits(row, games.x, games.d, games.xFault, 1)) ||
    (side !== "mister_x" && fits(row, games.d, games.x, games.dFault, 2));
}

function faultFits([kind, of], fault, phase) {
  if (fault === "none") return !kind && !phase;
  return Boolean(kind) && (!fault || fault === "any" || fault === kind) && (!phase || of === phase);
}

function noteTest(games, note) {
  if (note === "replay") return (row) => games.replays.has(row);
  if (note === "benched") {
    const benched = games.faults.map(([kind]) => kind === "benched");
    return (row) => benched[games.xFault[row]] || benched[games.dFault[row]];
  }
  const fits = games.notes.map(({ marks, rule }) => {
    if (note === "counted") return !rule;
    if (note === "excluded") return Boolean(rule);
    return marks.includes(note) || rule === note;
  });
  return (row) => fits[games.note[row]];
}

function textTest(games, text) {
  const told = games.faults.map((one) => one[2].toLowerCase().includes(text));
  return (row) => games.ids[row].toLowerCase().includes(text) || told[games.xFault[row]] || told[games.dFault[row]];
}

/** Return rows in the order asked for; equal ones stay in plan order. */
export function sorted(games, rows, sort) {
  const down = sort.startsWith("-");
  const name = sort.replace(/^-/, "");
  if (name === "number" && !down) return rows;
  const key =
    name === "number" ? (row) => row : name === "fault" ? (row) => Math.max(games.xFault[row], games.dFault[row]) : (row) => games[name][row] + 1;
  // One number holds key and place: sorting plain numbers is many times faster than by a function.
  const packed = new Float64Array(rows.length);
  for (let place = 0; place < rows.length; place += 1) {
    packed[place] = (down ? SPREAD - key(rows[place]) : key(rows[place])) * SPREAD + rows[place];
  }
  packed.sort();
  return Uint32Array.from(packed, (both) => both % SPREAD);
}

/** How often each winner won among these rows, and how often `bot` did: `[nobody, x, d, won, lost]`. */
export function counts(games, rows, bot) {
  const told = [0, 0, 0, 0, 0];
  const own = bot ? games.names.indexOf(bot) : -1;
  for (const row of rows) {
    const winner = games.winner[row];
    told[winner] += 1;
    if (winner && own >= 0 && games.x[row] !== games.d[row]) {
      told[(games.x[row] === own) === (winner === 1) ? 3 : 4] += 1;
    }
  }
  return told;
}
