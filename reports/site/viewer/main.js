// The replay of one game: what the page holds is put together here.

import { load } from "./data.js";
import { drawing, kinds } from "./drawing.js";
import { footing, heading, seatPanel, turnPanel } from "./panels.js";
import { player } from "./player.js";
import { timeline } from "./timeline.js";
import { zoomable } from "./zoom.js";

const game = load();
const drawn = drawing(game);
const last = game.moments.length - 1;
const marks = drawn.marks.map((list) => [...list]);
for (const fault of game.faults) {
  marks[last].push({ kind: "fault", label: `${fault.kind} (${fault.phase})` });
}
if (game.faults.length > 1) marks[last].pop(); // both at one moment are one mark

const turn = turnPanel(game);
const seats = [seatPanel(game, "mister_x"), seatPanel(game, "detectives")];
const controls = player(game, zoomable(drawn.picture, drawn.width, drawn.height), show);
const line = timeline(game, kinds, marks, drawn, controls.go);

document.getElementById("head").replaceChildren(...heading(game));
document.getElementById("map").replaceChildren(drawn.picture, drawn.legend);
document.getElementById("controls").replaceChildren(controls.element, line.element);
document.getElementById("side").replaceChildren(turn.element, ...drawn.panels, ...seats.map((seat) => seat.element));
document.getElementById("foot").replaceChildren(...footing(game));

function show(index, view, playing) {
  const moment = game.moments[index];
  const text = drawn.tell(index, view);
  drawn.show(index, view);
  turn.show(moment, view, drawn.rounds[index], text, playing);
  for (const seat of seats) seat.show(view);
  line.show(index, `Ply ${index} of ${last}, round ${drawn.rounds[index]}: ${text}`);
  document.body.dataset.moment = index;
  document.body.dataset.view = view;
}

controls.begin();
