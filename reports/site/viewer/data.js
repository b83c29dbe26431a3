// The game out of the page: each moment's views are put together from what changed.

/** Return the replay with, for each moment, both sides' views and the sorted belief set. */
export function load() {
  const game = JSON.parse(document.getElementById("replay").textContent);
  game.turns = game.turns.map((told) => ({ note: null, charged_ms: null, bank_ms: null, counted: true, ...told }));
  const views = { mister_x: {}, detectives: {} };
  let belief = new Set();
  game.moments = game.moments.map((told, index) => {
    for (const side of ["mister_x", "detectives"]) {
      views[side] = changed(changed(views[side], told.both), told[side] ?? {});
    }
    belief = new Set(belief);
    for (const place of told.gone ?? []) belief.delete(place);
    for (const place of told.come ?? []) belief.add(place);
    return {
      index,
      turn: told.turn,
      plies: told.plies,
      views: { ...views },
      belief: [...belief].sort((a, b) => a - b),
    };
  });
  return game;
}

/** An object, or a list, with the changes by key that `reports/replays.py` tells. */
function changed(old, changes) {
  const next = Array.isArray(old) ? [...old] : { ...old };
  for (const [key, change] of Object.entries(changes)) next[key] = applied(old[key], change);
  return next;
}

function applied(old, change) {
  if ("set" in change) return change.set;
  if ("in" in change) return changed(old, change.in);
  if ("add" in change) return [...old, ...change.add];
  const next = [...old];
  if ("cut" in change) {
    const [place, gone, come] = change.cut;
    next.splice(place, gone, ...come);
    return next;
  }
  for (const [place, item] of Object.entries(change.at)) {
    const was = old[Number(place)];
    next[Number(place)] = isObject(was) && isObject(item) ? { ...was, ...item } : item;
  }
  return next;
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
