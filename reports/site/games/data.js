// The games as columns: numbers that point into tables of names, put together from the parts.

const COLUMNS = {
  number: Uint32Array,
  x: Uint32Array,
  d: Uint32Array,
  winner: Uint8Array, // 0 nobody, 1 Mister X, 2 detectives
  reason: Uint16Array,
  rounds: Int32Array, // -1: not known
  deal: Uint32Array,
  note: Uint16Array,
  xFault: Uint32Array,
  dFault: Uint32Array,
};

/**
 * Bring the scripts that lie beside the page, whichever of them there are.
 *
 * The policy trusts what this module loads, and no script that stands in the page.
 */
export function bring(files) {
  const one = (file) => new Promise((done) => {
    const script = document.createElement("script");
    script.src = file;
    script.onload = done;
    script.onerror = done; // `load` tells what is missing
    document.head.append(script);
  });
  return Promise.all(files.map(one));
}

/**
 * Return all games, in plan order.
 *
 * The parts stand in the page, or have come from the scripts beside it. `missing` counts the games
 * of parts that did not come, as when the page was moved without its folder.
 */
export function load() {
  const inside = document.getElementById("games-data");
  const parts = inside ? JSON.parse(inside.textContent) : (globalThis.arenaGames ?? []);
  const tables = parts.find((part) => part.names);
  if (!tables) return null;
  const chunks = parts.filter((part) => part.id).sort((a, b) => a.from - b.from);
  const count = chunks.reduce((sum, chunk) => sum + chunk.id.length, 0);
  const games = { ...tables, count, missing: tables.count - count, ids: [], replays: new Map() };
  for (const [name, Kind] of Object.entries(COLUMNS)) games[name] = new Kind(count);
  let start = 0;
  for (const chunk of chunks) {
    for (const name of Object.keys(COLUMNS)) games[name].set(chunk[name], start);
    for (const id of chunk.id) games.ids.push(id);
    for (const [place, path] of chunk.replays) games.replays.set(start + place, path);
    start += chunk.id.length;
  }
  return games;
}
