// The table of games: the address, the form and the rows are kept alike here.

import { bring, load } from "./data.js";
import { counts, FIELDS, fragment, matching, nothing, parse, sorted } from "./filters.js";
import { form } from "./form.js";
import { SORTS, table } from "./rows.js";
import { html } from "./shapes.js";

const PAGES = [50, 100, 250, 500]; // rows at once
const root = document.getElementById("games-table");
const embedded = root.hasAttribute("data-embedded"); // in a page with other sections

let games = null;
bring(root.dataset.files?.split(" ") ?? []).then(() => {
  games = load();
  if (games) setTimeout(begin); // a task of its own: reading many games is one already
  else root.replaceChildren(html("p", { class: "empty" }, "The games are missing: the folder games-data must lie beside this page."));
});

function begin() {
  let state = parse(location.hash, SORTS) ?? nothing();
  let size = 100;
  let found = new Uint32Array();
  const filters = form(games, change, clear);
  const rows = table(games, sortBy);
  const count = html("strong");
  const won = html("span", { class: "soft" });
  const status = html("p", { class: "count", role: "status" }, count, " ", won);
  const unknown = html("p", { class: "notice", role: "status", hidden: true });
  const clearToo = html("button", { type: "button" }, "Clear filters");
  clearToo.addEventListener("click", () => {
    clear();
    root.querySelector("select, input").focus();
  });
  const emptyText = html("p");
  const empty = html("div", { class: "empty", hidden: true }, emptyText, clearToo);
  const pager = pages();
  const printed = html("p", { class: "printed" });
  const summary = html("span", { class: "asked soft" }); // seen while the form is folded
  const narrow = matchMedia("(max-width: 34rem)").matches;
  const details = html("details", { class: "filter-box", open: !narrow }, html("summary", {}, "Filters", summary), filters.element);
  const missing = games.missing
    ? html("p", { class: "notice" }, `${games.missing.toLocaleString("en")} games are missing: the folder games-data must lie whole beside this page.`)
    : null;

  root.replaceChildren(...[missing, details, unknown, status, empty, rows.element, pager.element, printed].filter(Boolean));
  if (embedded && location.hash.includes("=")) root.scrollIntoView();
  window.addEventListener("hashchange", () => {
    const asked = parse(location.hash, SORTS);
    if (!asked || (embedded && !location.hash.includes("="))) return;
    state = asked;
    if (embedded) root.scrollIntoView();
    look();
  });
  look();

  function change(field, value) {
    state.filters[field] = value;
    if (!state.filters.bot && !state.filters.against) {
      state.filters.side = "";
      if (["bot", "opponent"].includes(state.filters.winner)) state.filters.winner = "";
    }
    state.page = 1;
    look();
  }

  function clear() {
    state = { ...nothing(), sort: state.sort };
    look();
  }

  function sortBy(key) {
    state.sort = state.sort === key ? `-${key}` : key;
    state.page = 1;
    look();
  }

  /** Find what fits the state, and show it. */
  function look() {
    filters.show(state.filters);
    found = sorted(games, matching(games, state.filters), state.sort);
    turn(state.page);
  }

  function turn(page) {
    const last = Math.max(1, Math.ceil(found.length / size));
    state.page = Math.min(last, Math.max(1, page));
    const from = (state.page - 1) * size;
    const shown = found.subarray(from, from + size);
    rows.show(shown, state.sort);
    tell(shown.length, from);
    pager.show(last, from, shown.length);
    write();
  }

  function write() {
    const told = fragment(state);
    if (embedded && !told && !location.hash.includes("=")) return; // another section's address
    if (location.hash !== told) history.replaceState(null, "", told || (embedded ? "#games" : location.href.split("#")[0]));
  }

  function tell(shown, from) {
    const all = games.count.toLocaleString("en");
    const fit = found.length.toLocaleString("en");
    const [nobody, x, d, wins, losses] = counts(games, found, state.filters.bot);
    const asked = filters.tell(state.filters);
    summary.textContent = asked.words.length ? `: ${asked.words.join("; ")}` : "";
    count.textContent = `${fit} of ${all} games`;
    const parts = [`Mister X won ${x.toLocaleString("en")}`, `the detectives ${d.toLocaleString("en")}`];
    if (nobody) parts.push(`nobody ${nobody.toLocaleString("en")}`);
    won.replaceChildren(found.length ? `${parts.join(", ")}. ` : "");
    if (found.length && wins + losses) {
      const place = games.names.indexOf(state.filters.bot);
      won.append(html("bdi", {}, games.shown[place]), ` won ${wins.toLocaleString("en")} and lost ${losses.toLocaleString("en")}.`);
    }
    unknown.hidden = !asked.notices.length;
    unknown.textContent = asked.notices.join(" ");
    empty.hidden = found.length > 0;
    rows.element.hidden = !found.length;
    clearToo.hidden = !FIELDS.some((field) => state.filters[field]);
    emptyText.textContent = games.count ? "No game fits these filters." : "There are no games yet.";
    const left = found.length - shown;
    const out = games.count - found.length;
    printed.textContent = [
      shown ? `Printed: games ${from + 1} to ${from + shown} of ${fit} that fit` : "No game fits",
      asked.words.length ? `: ${asked.words.join("; ")}.` : ".",
      left ? ` ${left.toLocaleString("en")} more ${left === 1 ? "fits and is" : "fit and are"} not printed.` : "",
      out ? ` ${out.toLocaleString("en")} ${out === 1 ? "game does not fit and is" : "games do not fit and are"} left out.` : "",
    ].join("");
  }

  /** Buttons that turn pages; they stay in place, so that the focus is never lost. */
  function pages() {
    let last = 1;
    const step = (label, to) => {
      const button = html("button", { type: "button" }, label);
      button.addEventListener("click", () => {
        const page = to();
        if (page !== state.page && page >= 1 && page <= last) turn(page);
      });
      return button;
    };
    const first = step("First", () => 1);
    const back = step("Previous", () => state.page - 1);
    const on = step("Next", () => state.page + 1);
    const end = step("Last", () => last);
    const where = html("span", { class: "where", "aria-live": "polite" });
    const sizes = html("select", { id: "games-size" }, PAGES.map((rows) => html("option", { value: rows, selected: rows === size }, String(rows))));
    sizes.addEventListener("change", () => {
      const top = (state.page - 1) * size;
      size = Number(sizes.value);
      turn(1 + Math.floor(top / size));
    });
    const element = html(
      "nav",
      { class: "pager", "aria-label": "Pages of games" },
      html("div", { class: "buttons" }, first, back, on, end),
      where,
      html("span", { class: "size" }, html("label", { for: "games-size" }, "Rows"), " ", sizes),
    );
    return {
      element,
      show(pagesInAll, from, shown) {
        last = pagesInAll;
        for (const [buttons, off] of [[[first, back], state.page === 1], [[on, end], state.page === last]]) {
          for (const button of buttons) button.setAttribute("aria-disabled", String(off));
        }
        where.textContent = shown ? `${(from + 1).toLocaleString("en")}–${(from + shown).toLocaleString("en")} of ${found.length.toLocaleString("en")}` : "";
        element.hidden = found.length <= PAGES[0];
      },
    };
  }
}
