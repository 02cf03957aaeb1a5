// The standings of tournaments.

// Ratings with their intervals, the highest first.
function ratings_picture(players) {
  const W = 720, row = 26, left = 210, right = 20, top = 6, H = top + row * players.length + 28;
  const low = Math.min(...players.map((each) => each.rating_ci[0])), high = Math.max(...players.map((each) => each.rating_ci[1]));
  const pad = Math.max(20, 0.03 * (high - low)), x0 = low - pad, x1 = high + pad;
  const x = (value) => left + ((W - left - right) * (value - x0)) / (x1 - x0);
  const picture = svg("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": "ratings with 95% intervals" });
  for (const value of ticks(x0, x1)) picture.append(svg("line", { class: "axis", x1: x(value), x2: x(value), y1: top, y2: H - 24 }), svg("text", { x: x(value), y: H - 8, "text-anchor": "middle" }, number(value)));
  players.forEach((each, index) => {
    const y = top + row * (index + 0.5), name = each.name.length > 28 ? each.name.slice(0, 27) + "…" : each.name;
    picture.append(svg("text", { class: "named", x: left - 12, y: y + 4, "text-anchor": "end" }, ...shown(name).map((part) => (typeof part === "string" ? part : part.textContent))),
      svg("line", { class: "series s0", x1: x(each.rating_ci[0]), x2: x(each.rating_ci[1]), y1: y, y2: y }, svg("title", {}, interval_of(each))),
      svg("circle", { class: "dot s0", cx: x(each.rating), cy: y, r: 4 }, svg("title", {}, `${each.name}: ${points(each.rating)}`)));
  });
  return make("figure", { class: "ratings" }, make("figcaption", {}, "Ratings, with 95% intervals"), picture);
}
const points = (rating) => (rating > 0 ? "+" : "") + rating.toFixed(0);
const interval_of = (each) => each.rating_ci.map(points).join(" to ");

const STANDING_COLUMNS = [
  { title: "policy", value: (row) => row.name, show: (row) => shown(row.name) },
  { title: "rating", value: (row) => row.rating, style: "number", show: (row) => points(row.rating) },
  { title: "95%", value: (row) => row.rating_ci[0], style: "number dim", show: interval_of },
  ...["games", "won", "drawn", "lost"].map((title) => ({ title, value: (row) => row[title], style: "number" })),
];

function standings_of(run, index) {
  const { players, pairs, env, games, asked } = run.standings, seats = [...new Set(players.flatMap((each) => Object.keys(each.returns)))];
  const columns = [...STANDING_COLUMNS, ...seats.map((seat) => ({ title: `return as ${seat}`, style: "number wide", value: (row) => row.returns[seat] ?? -Infinity, show: (row) => number(row.returns[seat]) })),
    { title: "failed", value: (row) => row.failures, style: "number wide", show: (row) => String(row.failures || "") }];
  const open = (...names) => go({ ...DEFAULTS, tab: "Episodes", run: index, players: [...names].sort().join("\n") });
  const [holder] = redrawn((more) => table(players, columns, { more, open: (row) => open(row.name) }));
  return [make("h2", {}, shown(`${run.name}: ${env}`)), make("p", { class: "summary" }, games < asked ? `${games} of ${asked} games` : few(games, "game")),
    players.length ? ratings_picture(players) : null, holder, make("h2", {}, "Each against each"), pairs_table(players, pairs, open)];
}

// Row against column: the share of points, and what was won, drawn and lost.
function pairs_table(players, pairs, open) {
  const between = (one, other) => {
    const pair = pairs.find((each) => each.first === one && each.second === other), back = pairs.find((each) => each.first === other && each.second === one);
    return pair ?? (back && { won: back.lost, drawn: back.drawn, lost: back.won });
  };
  const cell = (one, other) => {
    const found = one.name === other.name ? null : between(one.name, other.name), count = found ? found.won + found.drawn + found.lost : 0;
    if (!count) return make("td", { class: "number dim" }, "–");
    const share = (found.won + found.drawn / 2) / count, pressed = () => open(one.name, other.name);
    return make("td", { class: "number shaded", tabindex: 0, style: `--share: ${(100 * share).toFixed(0)}%`, on: { click: pressed, keydown: (event) => { if (event.key === "Enter") pressed(); } } },
      percent(share), make("div", { class: "small" }, `${found.won} · ${found.drawn} · ${found.lost}`));
  };
  const head = make("tr", {}, make("th", { class: "plain" }, "row against column"), ...players.map((each) => make("th", { class: "number plain" }, shown(each.name))));
  return [make("p", { class: "summary" }, "Share of points of the row's policy, and games won, drawn and lost. A cell opens the games of the two."),
    make("div", { class: "scroll" }, make("table", { class: "pairs" }, make("thead", {}, head), make("tbody", {}, ...players.map((one) => make("tr", {}, make("td", {}, shown(one.name)), ...players.map((other) => cell(one, other)))))))];
}

function ratings_page() {
  return RUNS.flatMap((run, index) => (run.standings ? standings_of(run, index) : []));
}
