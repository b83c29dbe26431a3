// Every ply of Europe in words, by what a view may know.

const ACTS = { double: "double move", hidden: "hidden move", investigate: "investigation", special: "special mission" };
const BY = { car: "by car", rail: "by rail or ferry", air: "by air" };
const PLAYERS = { x: "Mister X" };

const open = (moment) => moment.views.detectives;
const halves = (ticket) => ticket.split("-");
const player = (name) => PLAYERS[name] ?? `Player ${name[1]}`;

/** What happened in a moment, in sentences. */
export function told(game, index, view, names) {
  const moment = game.moments[index];
  if (index === 0) return "The tickets are dealt.";
  if (!moment.plies.length) return moment.turn !== null && !game.turns[moment.turn].counted ? "No answer that counts." : "Nothing is done.";
  const here = { game, index, names, seesX: view !== "detectives", seesTeam: view !== "mister_x" };
  return [...moment.plies.map((ply) => step(here, ply)), ...followed(here)].filter(Boolean).join(" ");
}

function step(here, ply) {
  const { game, index, names, seesX, seesTeam } = here;
  const name = (city) => names.get(city);
  const before = game.moments[index - 1];
  const after = game.moments[index];
  const from = before.views.mister_x.city;
  switch (ply.do) {
    case "mission":
      return `Mister X takes the ${ply.colour} mission.`;
    case "start":
      return seesX ? `Mister X starts in ${name(ply.city)}.` : "Mister X notes the city that he starts in.";
    case "pay":
      return `${player(ply.player)} pays a ${ticket(ply.ticket)} ticket for ${ACTS[halves(ply.ticket)[1]] === "investigation" ? "an" : "a"} ${ACTS[halves(ply.ticket)[1]]}.`;
    case "put_back": {
      const known = ply.player === "x" ? seesX : seesTeam;
      return `${player(ply.player)} puts back ${known ? `a ${ticket(ply.ticket)} ticket` : "a ticket"}.`;
    }
    case "lay":
      return seesX ? `Mister X lays a ${ticket(ply.ticket)} ticket face down: ${name(from)} → ${name(ply.to)}.` : `Mister X makes a hidden move to ${unseen(after, name)}.`;
    case "move":
      if (ply.figure === "x") return `Mister X ${BY[halves(ply.ticket)[0]]}${seesX ? `: ${name(from)} → ${name(ply.to)}` : ` to ${unseen(after, name)}`}.`;
      return `Detective ${ply.figure[1]} ${BY[halves(ply.ticket)[0]]}: ${name(standing(before, ply.figure))} → ${name(ply.to)}.`;
    case "special":
      return `Special mission: Detective ${ply.figure[1]}, ${name(standing(before, ply.figure))} → ${name(ply.to)}.`;
    case "investigate":
      return "The team investigates.";
    default:
      return `${ply.do}.`;
  }
}

const ticket = (kind) => halves(kind).join("/");

function standing(moment, figure) {
  return open(moment).figures.find((one) => one.figure === figure).city;
}

/** Where Mister X went as the team is told it. */
function unseen(moment, name) {
  const city = open(moment).entries.at(-1);
  return city === null ? "an unseen city" : name(city);
}

/** What was said and what the rules did after the ply. */
function followed({ game, index, names }) {
  const before = open(game.moments[index - 1]);
  const after = open(game.moments[index]);
  const found = after.known
    .filter((entry) => !before.known.includes(entry))
    .map((entry) => `Entry ${entry} is told: ${names.get(after.entries[entry])}.`);
  if (after.tally.stuck > before.tally.stuck) found.push("Mister X can't move: he stays and changes all his tickets.");
  const last = game.moments.findLastIndex((moment) => moment.plies.length);
  if (index === last && game.reason === "captured") found.push("Mister X is captured.");
  if (index === last && game.winner === "mister_x" && game.reason !== "fault") found.push("Mister X has reached his target.");
  return found;
}
