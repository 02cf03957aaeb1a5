// All runs in one table, their settings and summaries; then what draws the page.

function wilson(successes, count) { // the 95% interval of a share
  const z = 1.959964, share = successes / count, middle = share + (z * z) / (2 * count), half = z * Math.sqrt((share * (1 - share)) / count + (z * z) / (4 * count * count));
  return [Math.max(0, (middle - half) / (1 + (z * z) / count)), Math.min(1, (middle + half) / (1 + (z * z) / count))];
}

// Rows of an evaluation that has ended are its own results; others are those of the episodes in the page.
function results(run, index) {
  if (run.kind === "tournament") return [{ run, index, id: run.standings?.env ?? "", phase: "", policy: "", episodes: run.standings?.games ?? run.recorded, failures: 0 }];
  if (run.results.length) return run.results.map((each) => ({ ...each, run, index, phase: "", policy: name_of(run.episodes[0]?.policy ?? null), interval: each.success_ci, returned: each.return_mean }));
  const groups = new Map();
  for (const episode of run.episodes) {
    const key = JSON.stringify([episode.id, String(episode.labels.phase ?? ""), name_of(episode.policy)]);
    groups.set(key, [...(groups.get(key) ?? []), episode]);
  }
  return [...groups].map(([key, episodes]) => {
    const [id, phase, policy] = JSON.parse(key), sound = episodes.filter((e) => e.end !== "failed"), won = sound.filter((e) => e.success).length;
    const rates = sound.length ? { success: won / sound.length, interval: wilson(won, sound.length), returned: mean(sound.map((e) => Number(e.return))) } : {};
    return { run, index, id, phase, policy, episodes: episodes.length, failures: episodes.length - sound.length, ...rates };
  });
}

const share = (name, title, style = "number") => ({ title, style, value: (row) => row[name] ?? -1, show: (row) => (typeof row[name] === "number" ? percent(row[name]) : "") });
const RUN_COLUMNS = [
  { title: "run", value: (row) => row.run.name },
  { title: "kind", value: (row) => row.run.kind + (row.phase ? `, ${row.phase}` : ""), style: "wide dim" },
  { title: "environment", value: (row) => (row.group ? `${row.group}: ` : "") + row.id },
  { title: "model", value: (row) => row.policy, style: "wide dim" },
  { title: "episodes", value: (row) => row.episodes, style: "number wide" },
  share("success", "success"),
  { title: "95%", value: (row) => row.interval?.[0] ?? -1, style: "number wide dim", show: (row) => (typeof row.interval?.[0] === "number" ? row.interval.map(percent).join(" to ") : "") },
  share("random", "random", "number wide dim"), share("expert", "expert", "number wide dim"),
  { ...share("pass_at", "pass@k", "number wide"), show: (row) => (row.k > 1 ? `${percent(row.pass_at)} (k = ${row.k})` : "") },
  { ...share("pass_hat", "pass^k", "number wide"), show: (row) => (row.k > 1 ? percent(row.pass_hat) : "") },
  { title: "return", value: (row) => row.returned ?? -Infinity, style: "number", show: (row) => number(row.returned) },
  { title: "failed", value: (row) => row.failures, style: "number wide", show: (row) => String(row.failures || "") },
];

function runs_page() {
  const rows = RUNS.flatMap(results), told = RUN_COLUMNS.filter((column) => rows.some((row) => (column.show ?? column.value)(row) !== ""));
  const open = (row) => go({ ...DEFAULTS, tab: "Episodes", run: row.index, id: new Set(row.run.episodes.map((e) => e.id)).size > 1 ? row.id : "", phase: row.phase });
  const [holder] = redrawn((more) => table(rows, told, { more, open }));
  const facts = RUNS.flatMap((run) => Object.entries(run.facts).map(([title, text]) => make("details", {}, make("summary", {}, `${run.name}: ${title}`), make("pre", {}, shown(text)))));
  if (!rows.length) return [make("p", {}, "These runs hold no episodes, or none yet."), ...facts];
  return [make("p", { class: "summary" }, "Evaluations that have ended show their own results; of the others, the episodes in this page count, with 95% intervals by Wilson, as if no item were repeated. A row opens its episodes."), holder, ...facts];
}

const TABS = [
  { name: "Ratings", draw: ratings_page, has: RUNS.some((run) => run.standings) },
  { name: "Audit", draw: audit_page, has: RUNS.some((run) => run.cards) },
  { name: "Episodes", draw: episodes_page, has: RUNS.some((run) => run.episodes.length) },
  { name: "Compare", draw: compare_page, has: RUNS.filter((run) => run.episodes.length).length > 1 },
  { name: "Training", draw: curves_page, has: RUNS.some((run) => Object.keys(run.curves).length) },
  { name: "Runs", draw: runs_page, has: RUNS.some((run) => !run.cards) },
].filter((tab) => tab.has);

function render() {
  const tab = TABS.find((each) => each.name === state.tab) ?? TABS[0];
  keys = {};
  document.getElementById("tabs").replaceChildren(...TABS.map((each) => make("button", { "aria-current": each === tab ? "page" : null, on: { click: () => go({ ...DEFAULTS, tab: each.name, run: state.run, first: state.first, second: state.second }) } }, each.name)));
  document.getElementById("main").replaceChildren(...tab.draw().flat().filter(Boolean));
}

addEventListener("hashchange", () => { read_address(); render(); if (state.open >= 0) scrollTo(0, 0); });
document.getElementById("where").append(...shown(RUNS.map((run) => run.name).join(" · ")));
read_address();
render();
