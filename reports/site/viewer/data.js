// The game out of the page: each moment's views are put together from what changed.

/** Return the replay with, for each moment, both sides' views and the sorted belief set. */
export function load() {
  const game = JSON.parse(document.getElementById("replay").textContent);
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

function changed(view, changes) {
  const next = { ...view };
  for (const [key, change] of Object.entries(changes)) {
    if ("set" in change) next[key] = change.set;
    else if ("add" in change) next[key] = [...view[key], ...change.add];
    else {
      next[key] = [...view[key]];
      for (const [place, item] of Object.entries(change.at)) {
        const old = next[key][Number(place)];
        next[key][Number(place)] = isObject(old) && isObject(item) ? { ...old, ...item } : item;
      }
    }
  }
  return next;
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
