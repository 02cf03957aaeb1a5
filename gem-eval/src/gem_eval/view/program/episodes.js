// The episodes of a run.

const COLUMNS = [
  { title: "environment", value: (e) => e.id },
  { title: "outcome", value: (e) => (e.end === "failed" ? -1 : Number(e.success)), show: outcome },
  { title: "players", value: (e) => seats_of(e).join(" – "), show: (e) => shown(seats_of(e).join(" – ")) },
  { title: "returns", value: (e) => returns_in(e).join(), show: (e) => returns_in(e).map((total) => (total === null ? "–" : number(total))).join(" – ") },
  { title: "return", value: (e) => Number(e.return), style: "number", show: (e) => number(e.return) },
  { title: "turns", value: (e) => e.turns.length, style: "number" },
  { title: "end", value: (e) => e.end, style: "wide dim" },
  { title: "step", value: (e) => e.labels.step ?? -1, style: "number", show: (e) => String(e.labels.step ?? "") },
  { title: "phase", value: (e) => String(e.labels.phase ?? ""), style: "wide dim" },
  { title: "policy", value: (e) => name_of(e.policy), style: "wide dim" },
  { title: "tokens", value: (e) => tokens_in(e), style: "number wide", show: (e) => String(tokens_in(e) || "") },
  { title: "seed or row", value: (e) => place_of(e).padStart(24), style: "wide dim", show: short_place },
  { title: "seconds", value: (e) => e.seconds, style: "number wide", show: (e) => number(e.seconds, 3) },
];
const returns_in = (episode) => Object.keys(episode.labels.seats ?? {}).map((seat) => { const trace = episode.traces.find((each) => each.player === seat); return trace ? total_of(trace) : null; });
const UNTOLD_OF_GAMES = ["outcome", "return", "policy"]; // they are of one player
const tokens_in = (episode) => episode.turns.reduce((sum, turn) => sum + (turn.tokens ? turn.tokens.text.length : 0), 0);

function chosen(episodes) {
  const f = state, text = f.text.toLowerCase();
  return episodes.filter((e) =>
    (!f.id || e.id === f.id) &&
    (!f.phase || String(e.labels.phase ?? "") === f.phase) &&
    (!f.outcome || (f.outcome === "cut off" ? e.end === "cut off" : outcome_of(e) === f.outcome)) &&
    (!f.players || f.players.split("\n").every((name) => seats_of(e).includes(name))) &&
    (f.low === "" || Number(e.return) >= Number(f.low)) &&
    (f.high === "" || Number(e.return) <= Number(f.high)) &&
    (!text || text_of(e).includes(text)));
}
function text_of(episode) { // kept, because searching asks for it at every key
  if (episode.text === undefined) {
    const parts = episode.turns.flatMap((turn) => [plain(turn.observation), turn.text]);
    episode.text = [...episode.traces.map(({ system = "" }) => system), ...parts, plain(episode.observation), episode.failure ? episode.failure.error : "", episode.seed].join("\n").toLowerCase();
  }
  return episode.text;
}
const plain = (content) => (typeof content === "string" ? content : content.map((part) => part.text ?? "").join("\n"));

function filters(episodes, redraw) {
  const options = (name, label, values) => choice(label, name, [["", "all"], ...[...new Set(values)].filter(Boolean).sort().map((value) => [value, value])],
    { change: (value) => { note({ [name]: value }); redraw(); } });
  const typed = (name, label, attributes) => make("label", {}, label, make("input", { ...attributes, value: state[name], on: { input: (event) => { note({ [name]: event.target.value }); redraw(); } } }));
  return [
    options("id", "environment", episodes.map((e) => e.id)),
    options("phase", "phase", episodes.map((e) => String(e.labels.phase ?? ""))),
    choice("players", "players", [["", "all"], ...players_in(episodes).map((names) => [names.join("\n"), names.join(" against ")])], { change: (value) => { note({ players: value }); redraw(); } }),
    options("outcome", "outcome", episodes.flatMap((e) => [outcome_of(e), e.end === "cut off" ? e.end : ""])),
    typed("low", "return from", { type: "number", step: "any" }), typed("high", "to", { type: "number", step: "any" }),
    typed("text", "text", { type: "search", placeholder: "in any turn" })];
}

function players_in(episodes) { // each, and each two
  const names = [...new Set(episodes.flatMap(seats_of))].sort();
  return [...names.map((name) => [name]), ...names.flatMap((one, index) => names.slice(index + 1).map((other) => [one, other]))];
}

function summary(episodes, run) {
  const sound = episodes.filter((e) => e.end !== "failed");
  const words = [few(episodes.length, "episode")];
  if (run.recorded > run.episodes.length) words.push(`of ${run.recorded} recorded ones, ${run.episodes.length} are in this page`);
  if (sound.some((e) => seats_of(e).length)) words.push(`mean turns ${number(mean(sound.map((e) => e.turns.length)))}`);
  else if (sound.length) words.push(`success ${percent(mean(sound.map((e) => Number(e.success))))}`, `mean return ${number(mean(sound.map((e) => Number(e.return))))}`, `mean turns ${number(mean(sound.map((e) => e.turns.length)))}`);
  if (episodes.length > sound.length) words.push(`${episodes.length - sound.length} failed, left out of the means`);
  return make("p", { class: "summary" }, words.join(" · "));
}

function episodes_page() {
  const run = RUNS[state.run] ?? RUNS[0];
  if (run.episodes[state.open]) return episode_page(run, run.episodes[state.open]);
  const game = run.episodes.some((e) => seats_of(e).length), columns = game ? COLUMNS.filter((column) => !UNTOLD_OF_GAMES.includes(column.title)) : COLUMNS;
  const told = columns.filter((column) => run.episodes.some((e) => !["", -1, 0].includes(column.value(e))) || ["outcome", "return"].includes(column.title))
    .map((column) => (column.title === "environment" && run.episodes.every((e) => e.id === run.episodes[0].id) ? { ...column, style: "wide" } : column));
  const [holder, redraw] = redrawn((more) => {
    const rows = chosen(run.episodes);
    return [summary(rows, run), ...table(rows, told, { more, open: (episode) => go({ open: run.episodes.indexOf(episode) }) })];
  });
  const change = (value) => go({ ...DEFAULTS, tab: state.tab, run: Number(value) });
  return [make("div", { class: "filters" }, RUNS.length > 1 ? choice("run", "run", run_options(), { always: true, change }) : null, ...filters(run.episodes, redraw)), holder];
}

function episode_page(run, episode) {
  const rows = chosen(run.episodes), at = rows.indexOf(episode);
  const to = (row) => row && go({ open: run.episodes.indexOf(row) });
  return [walker(() => go({ open: -1 }), "← all episodes", at, rows.length, () => to(rows[at - 1]), () => to(rows[at + 1])), heading(episode), token_switch([episode]), ...transcript(episode)];
}

// Buttons to leave an item and to walk to its neighbours; the arrow keys do it too.
function walker(leave, text, at, count, back, on) {
  keys = { Escape: leave, ArrowLeft: at > 0 ? back : null, ArrowRight: at >= 0 && at + 1 < count ? on : null };
  const button = (label, call) => make("button", { disabled: call ? null : "", on: { click: call ?? (() => {}) } }, label);
  return make("p", { class: "walker" }, button(text, leave), button("previous", keys.ArrowLeft), button("next", keys.ArrowRight), at >= 0 ? make("span", { class: "dim" }, `${at + 1} of ${count}`) : null);
}
let keys = {};
addEventListener("keydown", (event) => { if (!/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && !event.ctrlKey && !event.altKey && !event.metaKey && keys[event.key]) keys[event.key](); });
