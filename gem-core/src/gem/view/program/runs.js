// All runs in one table, their settings and summaries; then what draws the page.

function wilson(successes, count) { // the 95% interval of a share
  const z = 1.959964, share = successes / count, middle = share + (z * z) / (2 * count), half = z * Math.sqrt((share * (1 - share)) / count + (z * z) / (4 * count * count));
  return [Math.max(0, (middle - half) / (1 + (z * z) / count)), Math.min(1, (middle + half) / (1 + (z * z) / count))];
}

function runs_page() {
  const rows = RUNS.flatMap((run, index) => {
    const groups = new Map();
    for (const episode of run.episodes) {
      const key = JSON.stringify([episode.id, String(episode.labels.phase ?? ""), name_of(episode.policy)]);
      groups.set(key, [...(groups.get(key) ?? []), episode]);
    }
    return [...groups].map(([key, episodes]) => {
      const [id, phase, policy] = JSON.parse(key), sound = episodes.filter((e) => e.end !== "failed"), won = sound.filter((e) => e.success).length;
      return { run, index, id, phase, policy, episodes, sound, won, interval: sound.length ? wilson(won, sound.length) : null };
    });
  });
  const columns = [
    { title: "run", value: (row) => row.run.name },
    { title: "kind", value: (row) => row.run.kind + (row.phase ? `, ${row.phase}` : ""), style: "wide dim" },
    { title: "environment", value: (row) => row.id },
    { title: "policy", value: (row) => row.policy, style: "wide dim" },
    { title: "episodes", value: (row) => row.episodes.length, style: "number wide" },
    { title: "success", value: (row) => (row.sound.length ? row.won / row.sound.length : -1), style: "number", show: (row) => (row.sound.length ? percent(row.won / row.sound.length) : "") },
    { title: "95%", value: (row) => (row.interval ? row.interval[0] : -1), style: "number wide dim", show: (row) => (row.interval ? row.interval.map(percent).join(" to ") : "") },
    { title: "return", value: (row) => (row.sound.length ? mean(row.sound.map((e) => Number(e.return))) : -Infinity), style: "number", show: (row) => (row.sound.length ? number(mean(row.sound.map((e) => Number(e.return)))) : "") },
    { title: "failed", value: (row) => row.episodes.length - row.sound.length, style: "number wide", show: (row) => String(row.episodes.length - row.sound.length || "") },
  ];
  const [holder] = redrawn((more) => table(rows, columns, { more, open: (row) => go({ ...DEFAULTS, tab: "Episodes", run: row.index, id: new Set(row.run.episodes.map((e) => e.id)).size > 1 ? row.id : "", phase: row.phase }) }));
  const facts = RUNS.flatMap((run) => Object.entries(run.facts).map(([title, text]) => make("details", {}, make("summary", {}, `${run.name}: ${title}`), make("pre", {}, shown(text)))));
  return [make("p", { class: "summary" }, "Of the episodes in this page; 95% intervals by Wilson, as if no item were repeated. A row opens its episodes."), holder, ...facts];
}

const TABS = [
  { name: "Episodes", draw: episodes_page, has: RUNS.some((run) => run.episodes.length) },
  { name: "Compare", draw: compare_page, has: RUNS.filter((run) => run.episodes.length).length > 1 },
  { name: "Training", draw: curves_page, has: RUNS.some((run) => Object.keys(run.curves).length) },
  { name: "Runs", draw: runs_page, has: RUNS.length > 0 },
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
