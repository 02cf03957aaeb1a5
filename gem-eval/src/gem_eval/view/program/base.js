"use strict";
// Data becomes text nodes only (`make`), never markup. The place on the page is in its address, so that Back, links and
// reloading keep it.

const RUNS = JSON.parse(document.getElementById("data").textContent).runs;
for (const episode of RUNS.flatMap((run) => run.episodes)) { // the turns of all players in order; what the codec leaves out
  const turns = episode.traces.flatMap(({ turns, steps, player = "agent" }) => turns.map((turn, index) => ({ ...turn, ...turn.completion, player, step: steps ? steps[index] : index })));
  Object.assign(episode, { group: 0, labels: {}, seconds: 0, ...episode, turns: turns.sort((a, b) => a.step - b.step), policy: episode.traces[0]?.policy ?? null });
}
const STEP = 200; // rows shown at first, and added by each "show more"
const DEFAULTS = { tab: "", run: 0, open: -1, first: 0, second: 1, by: "", down: 0, id: "", phase: "", outcome: "", players: "", low: "", high: "", text: "", differ: "", metric: "", plain: 0 };
const state = { ...DEFAULTS };

function read_address() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  for (const [name, value] of Object.entries(DEFAULTS)) state[name] = wanted.has(name) ? (typeof value === "number" ? Number(wanted.get(name)) : wanted.get(name)) : value;
}
function address(changes) {
  const kept = Object.entries({ ...state, ...changes }).filter(([name, value]) => value !== DEFAULTS[name]);
  return "#" + new URLSearchParams(kept.map(([name, value]) => [name, String(value)]));
}
const go = (changes) => { if (address(changes) !== (location.hash || "#")) location.hash = address(changes); };
const note = (changes) => { Object.assign(state, changes); history.replaceState(null, "", address({})); }; // no drawing

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") for (const [event, call] of Object.entries(value)) element.addEventListener(event, call);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.flat(2).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

// Characters that are not seen, or that change how others are seen, are shown by their numbers.
const UNSEEN = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
function shown(text) {
  const nodes = [];
  let end = 0;
  for (const match of text.matchAll(UNSEEN)) {
    const code = "U+" + match[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    nodes.push(text.slice(end, match.index), make("span", { class: "unseen", title: "a character that is not seen" }, code));
    end = match.index + match[0].length;
  }
  return [...nodes, text.slice(end)];
}

function number(value, digits = 4) {
  if (value === null || value === undefined) return "";
  if (Number.isInteger(value) || typeof value === "string") return String(value);
  const size = Math.abs(value);
  return size < 1e-3 || size >= 1e6 ? value.toExponential(digits - 1).replace(/\.?0+e/, "e") : value.toPrecision(digits).replace(/\.?0+$/, "");
}
const percent = (value) => (100 * value).toFixed(1) + "%";
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const few = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
const name_of = (policy) => (policy === null ? "" : typeof policy === "string" ? policy : policy.model ? `${policy.name}:${policy.model}` : policy.path ?? policy.name);
const text_or_json = (value) => (typeof value === "string" ? value : JSON.stringify(value));
const seats_of = (episode) => Object.values(episode.labels.seats ?? {}).map(text_or_json); // the names of who plays in a tournament
const outcome_of = (episode) => (episode.end === "failed" ? "failed" : episode.success ? "success" : "no success");
const outcome = (episode) => make("span", { class: "pill " + outcome_of(episode).replace(" ", "-") }, outcome_of(episode));
const signed = (value) => (value > 0 ? "good" : value < 0 ? "bad" : "dim");
const start_of = (episode) => (episode.options && episode.options.index !== undefined ? "row " + episode.options.index : episode.seed);
const place_of = (episode) => start_of(episode) + (episode.group ? ` (${episode.group + 1})` : ""); // attempts at one item are numbered
const short_place = (episode) => make("span", { title: place_of(episode) }, place_of(episode).replace(/^(\d{5})\d{6,}(\d{3})/, "$1…$2"));

// Controls.

function choice(label, name, options, { always = false, change = (value) => go({ [name]: value }) } = {}) {
  if (!always && options.length < 3) return null; // "all" and a single other
  return make("label", {}, label, make("select", { on: { change: (event) => change(event.target.value) } },
    ...options.map(([value, text]) => make("option", { value, selected: String(state[name]) === String(value) ? "" : null }, text))));
}
const run_options = () => RUNS.map((run, index) => [index, run.name]);

// A table whose heads sort it. A column: title, value(row) to sort by, show(row), and classes.
function table(rows, columns, { open, more }) {
  const by = columns.find((column) => column.title === state.by);
  const sorted = by ? [...rows].sort((a, b) => (by.value(a) < by.value(b) ? -1 : by.value(a) > by.value(b) ? 1 : 0) * (state.down ? -1 : 1)) : rows;
  const sort = (column) => { note({ by: column.title, down: Number(by === column && !state.down) }); more(0); };
  const pressed = (call) => ({ click: call, keydown: (event) => { if (event.key === "Enter") call(); } });
  const head = columns.map((column) => make("th", { class: column.style, tabindex: 0, on: pressed(() => sort(column)), "aria-sort": by === column ? (state.down ? "descending" : "ascending") : null },
    column.title, by === column ? (state.down ? " ↓" : " ↑") : ""));
  const body = sorted.slice(0, more.shown).map((row) => make("tr", { tabindex: 0, on: pressed(() => open(row)) },
    ...columns.map((column) => make("td", { class: column.style }, (column.show ?? column.value)(row)))));
  const rest = sorted.length - body.length;
  return [make("div", { class: "scroll" }, make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...body))),
    rest > 0 ? make("p", {}, make("button", { on: { click: () => more(STEP) } }, `Show ${Math.min(STEP, rest)} more of ${sorted.length}`)) : null];
}

// Draws a part of the page again as it is filtered, without the controls above it.
function redrawn(part) {
  const holder = make("div");
  const more = (rows) => { more.shown = rows ? more.shown + rows : STEP; holder.replaceChildren(...part(more).flat().filter(Boolean)); };
  more(0);
  return [holder, () => more(0)];
}
