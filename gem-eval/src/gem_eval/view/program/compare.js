// Two runs side by side, by item.

const result = (episode) => (episode.end === "failed" ? -1 : Number(episode.success));
// Where the outcomes differ comes first, then where only the returns do.
const rank = ([a, b]) => (a.end === "failed" || b.end === "failed" ? 2 : result(a) !== result(b) ? 0 : Number(a.return) !== Number(b.return) ? 1 : 3);

function pairs_of(one, other) {
  const key = (episode) => JSON.stringify([episode.item, episode.group]);
  const waiting = new Map();
  for (const episode of other.episodes) waiting.set(key(episode), [...(waiting.get(key(episode)) ?? []), episode]);
  const pairs = one.episodes.flatMap((episode) => { const found = (waiting.get(key(episode)) ?? []).shift(); return found ? [[episode, found]] : []; });
  return pairs.sort((a, b) => rank(a) - rank(b));
}

const GROUPS = {
  "": ["all items", () => true],
  outcome: ["outcome differs", (pair) => rank(pair) === 0],
  better: ["only the second succeeds", ([a, b]) => rank([a, b]) === 0 && b.success],
  worse: ["only the first succeeds", ([a, b]) => rank([a, b]) === 0 && a.success],
  return: ["return differs", ([a, b]) => rank([a, b]) < 2 && Number(a.return) !== Number(b.return)],
  same: ["outcome and return equal", (pair) => rank(pair) === 3],
  failed: ["one failed", (pair) => rank(pair) === 2],
};

const PAIR_COLUMNS = [
  { title: "environment", value: ([a]) => a.id },
  { title: "seed or row", value: ([a]) => place_of(a).padStart(24), style: "wide dim", show: ([a]) => short_place(a) },
  { title: "first", value: ([a]) => result(a), show: ([a]) => outcome(a) },
  { title: "second", value: ([, b]) => result(b), show: ([, b]) => outcome(b) },
  { title: "return 1", value: ([a]) => Number(a.return), style: "number wide", show: ([a]) => number(a.return) },
  { title: "return 2", value: ([, b]) => Number(b.return), style: "number wide", show: ([, b]) => number(b.return) },
  { title: "difference", value: ([a, b]) => b.return - a.return, style: "number", show: ([a, b]) => make("span", { class: signed(b.return - a.return) }, (b.return > a.return ? "+" : "") + number(b.return - a.return)) },
];

function compare_page() {
  let [one, other] = [RUNS[state.first] ?? RUNS[0], RUNS[state.second] ?? RUNS[1]], pairs = pairs_of(one, other);
  if (!pairs.length && state.first === DEFAULTS.first && state.second === DEFAULTS.second) {
    // At first the first two that can be compared.
    const found = RUNS.flatMap((_, first) => RUNS.map((_, second) => [first, second])).find(([first, second]) => first < second && pairs_of(RUNS[first], RUNS[second]).length);
    if (found) { note({ first: found[0], second: found[1] }); [one, other] = [RUNS[found[0]], RUNS[found[1]]]; pairs = pairs_of(one, other); }
  }
  const [, wanted] = GROUPS[state.differ] ?? GROUPS[""];
  const rows = pairs.filter(wanted);
  const tell = (name) => (value) => go({ [name]: Number(value), open: -1 });
  const controls = make("div", { class: "filters" },
    choice("first", "first", run_options(), { always: true, change: tell("first") }), choice("second", "second", run_options(), { always: true, change: tell("second") }),
    pairs.length ? choice("items", "differ", Object.entries(GROUPS).map(([name, [text, within]]) => [name, `${text} (${pairs.filter(within).length})`]).filter(([name, text]) => !name || !text.endsWith("(0)")), { change: (value) => go({ differ: value, open: -1 }) }) : null);
  if (!pairs.length) return [controls, make("p", {}, "These runs share no item: evaluate both with the same seed.")];
  if (pairs[state.open]) return pair_page(one, other, pairs, rows);
  const left = one.episodes.length + other.episodes.length - 2 * pairs.length;
  const [holder] = redrawn((more) => [make("p", { class: "summary" }, `${few(pairs.length, "episode")} with equal starts in both`, left ? ` · ${few(left, "episode")} in one only` : "", ` · a positive difference is in favour of ${other.name}`),
    ...table(rows, PAIR_COLUMNS, { more, open: (pair) => go({ open: pairs.indexOf(pair) }) })]);
  return [controls, holder];
}

function pair_page(one, other, pairs, rows) {
  const pair = pairs[state.open], [a, b] = pair, at = rows.indexOf(pair);
  const to = (row) => row && go({ open: pairs.indexOf(row) });
  const same = (index) => a.turns[index] && b.turns[index] && ["observation", "text"].every((part) => JSON.stringify(a.turns[index][part]) === JSON.stringify(b.turns[index][part]));
  const turns = [...Array(Math.max(a.turns.length, b.turns.length)).keys()];
  const first = turns.find((index) => !same(index));
  const side = (episode, index, which) => make("div", { class: `side s${which}` }, index < episode.turns.length ? turn_of(episode, index) : index === episode.turns.length ? end_of(episode) : null);
  return [walker(() => go({ open: -1 }), "← all items", at, rows.length, () => to(rows[at - 1]), () => to(rows[at + 1])), token_switch(pair),
    make("div", { class: "columns" },
      ...[[one, a], [other, b]].map(([run, episode], which) => make("div", { class: "top" }, make("h2", {}, make("span", { class: `mark s${which}` }), " ", run.name), heading(episode))),
      ...[...turns, turns.length].flatMap((index) => [
        index === first && first > 0 ? make("div", { class: "divider" }, "from here on they differ") : null,
        side(a, index, 0), side(b, index, 1)]))];
}
