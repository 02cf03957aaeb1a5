"use strict";
// Shows the data of the page. Data becomes text nodes only (`make`), never markup.

const RUNS = JSON.parse(document.getElementById("data").textContent).runs;
const ROWS = 200; // shown at first, and added by each "show more"
const COLOURS = ["#2a6fdb", "#d9822b", "#2f9e5b", "#b8439b", "#7a5cd6", "#c0392b"];
const state = { tab: null, run: 0, filters: {}, sort: { by: null, down: false }, shown: ROWS, open: null, first: 0, second: 1 };

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") for (const [event, call] of Object.entries(value)) element.addEventListener(event, call);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined).map(String_or_node));
  return element;
}
const String_or_node = (child) => (child instanceof Node ? child : document.createTextNode(String(child)));

function number(value, digits = 4) {
  if (value === null || value === undefined) return "";
  if (Number.isInteger(value)) return String(value);
  const size = Math.abs(value);
  return size < 1e-3 || size >= 1e6 ? value.toExponential(1) : value.toPrecision(digits).replace(/\.?0+$/, "");
}
const percent = (value) => (100 * value).toFixed(1) + "%";
const outcome = (episode) =>
  episode.end === "failed" ? make("span", { class: "bad" }, "failed")
    : episode.success ? make("span", { class: "good" }, "success")
      : make("span", { class: "dim" }, "no success");
const name_of = (policy) => (policy === null ? "" : typeof policy === "string" ? policy : policy.name);

// The episodes of a run.

const COLUMNS = [
  { title: "environment", value: (e) => e.id },
  { title: "outcome", value: (e) => (e.end === "failed" ? -1 : Number(e.success)), show: outcome },
  { title: "return", value: (e) => e.return, number: true, show: (e) => number(e.return) },
  { title: "turns", value: (e) => e.turns.length, number: true, show: (e) => e.turns.length },
  { title: "end", value: (e) => e.end, wide: true, show: (e) => e.end },
  { title: "step", value: (e) => (e.labels.step === undefined ? -1 : e.labels.step), number: true, show: (e) => e.labels.step ?? "" },
  { title: "phase", value: (e) => e.labels.phase ?? "", wide: true },
  { title: "policy", value: (e) => name_of(e.policy), wide: true },
  { title: "seed or row", value: (e) => (e.options && e.options.index !== undefined ? e.options.index : e.seed), wide: true, show: (e) => (e.options && e.options.index !== undefined ? "row " + e.options.index : e.seed) },
  { title: "seconds", value: (e) => e.seconds, number: true, wide: true, show: (e) => number(e.seconds) },
];

function chosen(episodes) {
  const f = state.filters;
  const text = (f.text || "").toLowerCase();
  return episodes.filter((e) =>
    (!f.id || e.id === f.id) &&
    (!f.phase || (e.labels.phase ?? "") === f.phase) &&
    (!f.outcome || (f.outcome === "failed" ? e.end === "failed" : f.outcome === "cut off" ? e.end === "cut off" : e.end !== "failed" && e.success === (f.outcome === "success"))) &&
    (f.low === undefined || e.return >= f.low) &&
    (f.high === undefined || e.return <= f.high) &&
    (!text || text_of(e).includes(text)));
}
function text_of(episode) { // kept, because searching asks for it at every key
  if (episode.text === undefined) {
    const parts = episode.turns.flatMap((turn) => [plain(turn.observation), turn.action]);
    episode.text = [...parts, plain(episode.last), episode.failure ? episode.failure.error : ""].join("\n").toLowerCase();
  }
  return episode.text;
}
const plain = (content) => (typeof content === "string" ? content : content.map((part) => part.text ?? "").join("\n"));

function filters(episodes, redraw) {
  const options = (values, name, label) => {
    const found = [...new Set(values)].filter((value) => value !== "").sort();
    if (found.length < 2) return null;
    const change = (event) => { state.filters[name] = event.target.value; redraw(); };
    const select = make("select", { on: { change } }, make("option", { value: "" }, "all"), ...found.map((value) => make("option", { value, selected: state.filters[name] === value ? "" : null }, value)));
    return make("label", {}, label, select);
  };
  const bound = (name, label) => {
    const input = (event) => { state.filters[name] = event.target.value === "" ? undefined : Number(event.target.value); redraw(); };
    return make("label", {}, label, make("input", { type: "number", step: "any", value: state.filters[name] ?? null, on: { input } }));
  };
  const search = (event) => { state.filters.text = event.target.value; redraw(); };
  const outcomes = episodes.flatMap((e) => [e.end === "failed" ? "failed" : e.success ? "success" : "no success", e.end === "cut off" ? "cut off" : ""]);
  return make("div", { class: "filters" },
    options(episodes.map((e) => e.id), "id", "environment"),
    options(episodes.map((e) => e.labels.phase ?? ""), "phase", "phase"),
    options(outcomes, "outcome", "outcome"),
    bound("low", "return from"), bound("high", "return to"),
    make("label", {}, "text", make("input", { type: "search", placeholder: "in any turn", value: state.filters.text ?? null, on: { input: search } })));
}

function summary(episodes, run) {
  const sound = episodes.filter((e) => e.end !== "failed");
  const failed = episodes.length - sound.length;
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const words = [`${episodes.length} episodes`];
  if (run.recorded > run.episodes.length) words.push(`${run.episodes.length} of ${run.recorded} recorded ones are in this page`);
  if (sound.length) words.push(`success ${percent(mean(sound.map((e) => Number(e.success))))}`, `mean return ${number(mean(sound.map((e) => e.return)))}`, `mean turns ${number(mean(sound.map((e) => e.turns.length)))}`);
  if (failed) words.push(`${failed} failed, left out of the means`);
  return make("p", { class: "summary" }, words.join(" · "));
}

function episodes_page(main) {
  const run = RUNS[state.run];
  if (state.open !== null) return episode_page(main, run, run.episodes[state.open]);
  const holder = make("div");
  const redraw = () => { state.shown = ROWS; draw(); };
  function draw() {
    const rows = chosen(run.episodes);
    if (state.sort.by !== null) {
      const value = COLUMNS[state.sort.by].value, sign = state.sort.down ? -1 : 1;
      rows.sort((a, b) => (value(a) < value(b) ? -sign : value(a) > value(b) ? sign : 0));
    }
    const columns = COLUMNS.map((column, index) => ({ ...column, index })).filter((column) => run.episodes.some((e) => column.value(e) !== "" && column.value(e) !== -1) );
    const head = make("tr", {}, ...columns.map((column) => make("th", {
      class: (column.number ? "number " : "") + (column.wide ? "wide" : ""), "aria-sort": state.sort.by === column.index ? (state.sort.down ? "descending" : "ascending") : null,
      on: { click: () => { state.sort = { by: column.index, down: state.sort.by === column.index && !state.sort.down }; draw(); } },
    }, column.title + (state.sort.by === column.index ? (state.sort.down ? " ↓" : " ↑") : ""))));
    const body = rows.slice(0, state.shown).map((episode) => {
      const open = () => { state.open = run.episodes.indexOf(episode); render(); scrollTo(0, 0); };
      return make("tr", { tabindex: 0, on: { click: open, keydown: (event) => { if (event.key === "Enter") open(); } } },
        ...columns.map((column) => make("td", { class: (column.number ? "number " : "") + (column.wide ? "wide" : "") }, (column.show ?? column.value)(episode))));
    });
    const more = rows.length > state.shown ? make("p", {}, make("button", { on: { click: () => { state.shown += ROWS; draw(); } } }, `Show ${Math.min(ROWS, rows.length - state.shown)} more of ${rows.length}`)) : null;
    holder.replaceChildren(summary(rows, run), make("div", { class: "scroll" }, make("table", {}, make("thead", {}, head), make("tbody", {}, ...body))), ...(more ? [more] : []));
  }
  main.append(run_choice(), filters(run.episodes, redraw), holder);
  draw();
}

// One episode.

function content(value) {
  if (typeof value === "string") return [make("pre", {}, value)];
  return value.map((part) => {
    const address = part.image_url && part.image_url.url;
    if (typeof address === "string" && /^data:image\/(png|jpeg|gif|webp);base64,/.test(address)) return make("img", { src: address, alt: "an image of the observation" });
    return make("pre", {}, part.text ?? JSON.stringify(part));
  });
}

function transcript(episode) {
  const turns = episode.turns.map((turn, index) => {
    const tool = turn.info.tool;
    const rest = Object.entries(turn.info).filter(([name]) => name !== "tool" && name !== "stop");
    return make("section", { class: "turn" },
      make("div", { class: "world" }, make("div", { class: "who" }, `observation ${index + 1}`), ...content(turn.observation)),
      make("div", { class: "agent" + (tool ? " call" : "") },
        make("div", { class: "who" }, make("span", {}, `action ${index + 1}`),
          make("span", { class: turn.reward > 0 ? "good" : turn.reward < 0 ? "bad" : "" }, `reward ${number(turn.reward)}`),
          tool ? make("span", {}, `tool ${tool.name ?? ""}: ${tool.status ?? ""}`) : null,
          turn.finish !== "stop" ? make("span", { class: "bad" }, `cut: ${turn.finish}`) : null,
          ...rest.map(([name, value]) => make("span", {}, `${name} ${JSON.stringify(value)}`))),
        make("pre", {}, turn.action)));
  });
  const last = make("section", { class: "turn" }, make("div", { class: "world" }, make("div", { class: "who" }, "last observation"), ...content(episode.last)));
  const failure = episode.failure ? make("section", { class: "turn" }, make("div", {}, make("div", { class: "who bad" }, "failure"), make("pre", {}, episode.failure.error),
    episode.failure.action ? make("pre", {}, episode.failure.action) : null, make("details", {}, make("summary", {}, "traceback"), make("pre", {}, episode.failure.traceback)))) : null;
  return [...turns, ...(episode.failure ? [] : [last]), ...(failure ? [failure] : [])];
}

function heading(episode) {
  const labels = Object.entries(episode.labels).map(([name, value]) => `${name} ${typeof value === "object" ? JSON.stringify(value) : value}`);
  return make("p", { class: "summary" }, outcome(episode), ` · ${episode.id} · return ${number(episode.return)} · ${episode.turns.length} turns · ${episode.end} · seed ${episode.seed}`, ...labels.map((label) => ` · ${label}`));
}

function episode_page(main, run, episode) {
  const rows = chosen(run.episodes), at = rows.indexOf(episode);
  const go = (to) => { state.open = run.episodes.indexOf(rows[to]); render(); scrollTo(0, 0); };
  main.append(make("p", {}, make("button", { on: { click: () => { state.open = null; render(); } } }, "← all episodes"), " ",
    at > 0 ? make("button", { on: { click: () => go(at - 1) } }, "previous") : null, " ",
    at >= 0 && at + 1 < rows.length ? make("button", { on: { click: () => go(at + 1) } }, "next") : null), heading(episode), ...transcript(episode));
}

// Two runs side by side, by item.

function compare_page(main) {
  const [one, other] = [RUNS[state.first], RUNS[state.second]];
  const choice = (name, label) => {
    const change = (event) => { state[name] = Number(event.target.value); state.open = null; render(); };
    return make("label", {}, label, make("select", { on: { change } }, ...RUNS.map((run, index) => make("option", { value: index, selected: state[name] === index ? "" : null }, run.name))));
  };
  main.append(make("div", { class: "filters" }, choice("first", "first"), choice("second", "second")));
  const key = (e) => e.item + " / " + e.group;
  const theirs = new Map(other.episodes.map((e) => [key(e), e]));
  const pairs = one.episodes.filter((e) => theirs.has(key(e))).map((e) => [e, theirs.get(key(e))]);
  if (!pairs.length) { main.append(make("p", {}, "These runs share no item: play both from the same seed.")); return; }
  if (state.open !== null) {
    const [left, right] = pairs[state.open];
    main.append(make("p", {}, make("button", { on: { click: () => { state.open = null; render(); } } }, "← all items")),
      make("div", { class: "columns" }, ...[[one, left], [other, right]].map(([run, e]) => make("div", {}, make("h2", {}, run.name), heading(e), ...transcript(e)))));
    return;
  }
  const sound = pairs.filter(([a, b]) => a.end !== "failed" && b.end !== "failed");
  const better = sound.filter(([a, b]) => b.return > a.return).length, worse = sound.filter(([a, b]) => b.return < a.return).length;
  main.append(make("p", { class: "summary" }, `${pairs.length} items in both · the second has the higher return in ${better}, the lower in ${worse}`));
  const body = pairs.map(([a, b], index) => {
    const open = () => { state.open = index; render(); scrollTo(0, 0); };
    const difference = b.return - a.return;
    return make("tr", { tabindex: 0, on: { click: open, keydown: (event) => { if (event.key === "Enter") open(); } } },
      make("td", {}, a.id), make("td", { class: "wide" }, a.item.slice(a.id.length)), make("td", {}, outcome(a)), make("td", {}, outcome(b)),
      make("td", { class: "number" }, number(a.return)), make("td", { class: "number" }, number(b.return)),
      make("td", { class: "number " + (difference > 0 ? "good" : difference < 0 ? "bad" : "") }, number(difference)));
  });
  const titles = [["environment"], ["item", "wide"], ["first"], ["second"], ["return", "number"], ["return", "number"], ["difference", "number"]];
  main.append(make("div", { class: "scroll" }, make("table", {}, make("thead", {}, make("tr", {}, ...titles.map(([title, style]) => make("th", { class: style }, title)))), make("tbody", {}, ...body.slice(0, 2000)))));
}

// Curves of training.

function svg(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function chart(name, lines) {
  const W = 420, H = 220, left = 52, right = 10, top = 10, bottom = 26;
  const all = lines.flatMap((line) => line.points);
  const [x0, x1] = [Math.min(...all.map((p) => p[0])), Math.max(...all.map((p) => p[0]))];
  let [y0, y1] = [Math.min(...all.map((p) => p[1])), Math.max(...all.map((p) => p[1]))];
  if (name === "success") [y0, y1] = [0, 1];
  if (y0 === y1) { y0 -= 0.5; y1 += 0.5; }
  const x = (value) => left + (W - left - right) * (x1 === x0 ? 0.5 : (value - x0) / (x1 - x0));
  const y = (value) => H - bottom - (H - top - bottom) * ((value - y0) / (y1 - y0));
  const picture = svg("svg", { viewBox: `0 0 ${W} ${H}`, role: "img" }, svg("title", {}, name));
  for (let tick = 0; tick <= 4; tick++) {
    const value = y0 + ((y1 - y0) * tick) / 4;
    picture.append(svg("line", { class: "axis", x1: left, x2: W - right, y1: y(value), y2: y(value) }), svg("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, Math.abs(value) < 1e-12 * (y1 - y0) ? "0" : number(value, 3)));
  }
  picture.append(svg("text", { x: left, y: H - 8 }, `step ${number(x0)}`), svg("text", { x: W - right, y: H - 8, "text-anchor": "end" }, number(x1)));
  lines.forEach((line) => {
    const colour = line.colour;
    const points = line.points.map((p) => `${x(p[0]).toFixed(1)},${y(p[1]).toFixed(1)}`);
    picture.append(svg("polyline", { points: points.join(" "), fill: "none", stroke: colour, "stroke-width": 1.6, "stroke-dasharray": line.phase === "eval" ? "4 3" : "none" }));
    if (line.points.length < 12) line.points.forEach((p) => picture.append(svg("circle", { cx: x(p[0]), cy: y(p[1]), r: 2.5, fill: colour })));
  });
  return picture;
}

function curves_page(main) {
  const trained = RUNS.map((run, index) => ({ run, colour: COLOURS[index % COLOURS.length] })).filter(({ run }) => Object.keys(run.curves).length);
  const names = [...new Set(trained.flatMap(({ run }) => Object.keys(run.curves)))];
  const first = ["success", "return_mean", "loss", "turns_mean", "entropy", "kl", "engine_gap_max", "grad_norm"];
  const constant = (name) => new Set(trained.flatMap(({ run }) => (run.curves[name] ?? []).flatMap((line) => line.points.map((p) => p[1])))).size < 2;
  names.sort((a, b) => constant(a) - constant(b) || (first.indexOf(a) + 1 || 99) - (first.indexOf(b) + 1 || 99) || (a < b ? -1 : 1));
  if (trained.length > 1) main.append(make("p", { class: "summary" }, ...trained.map(({ run, colour }) => make("span", { style: `color:${colour}` }, `● ${run.name}  `))));
  const charts = make("div", { class: "charts" });
  for (const name of names) {
    // Warming up is another thing than training: it has curves of its own.
    for (const warm of [false, true]) {
      const lines = trained.flatMap(({ run, colour }) => (run.curves[name] ?? []).filter((line) => (line.phase === "warmup") === warm && line.points.length > 1).map((line) => ({ ...line, colour })));
      if (lines.length) charts.append(make("figure", {}, make("figcaption", {}, name + (warm ? " (warm-up)" : "")), make("div", { class: "dim" }, [...new Set(lines.map((line) => line.phase))].join(", ")), chart(name, lines)));
    }
  }
  main.append(charts);
  for (const { run } of trained) for (const [title, text] of Object.entries(run.facts)) main.append(make("details", {}, make("summary", {}, `${run.name}: ${title}`), make("pre", {}, text)));
}

function run_choice() {
  if (RUNS.length < 2) return make("p", { class: "summary" }, RUNS[0].path);
  const change = (event) => { Object.assign(state, { run: Number(event.target.value), open: null, shown: ROWS, filters: {} }); render(); };
  return make("div", { class: "filters" }, make("label", {}, "run", make("select", { on: { change } }, ...RUNS.map((run, index) => make("option", { value: index, selected: state.run === index ? "" : null }, run.name)))));
}

const TABS = [
  { name: "Episodes", draw: episodes_page, has: RUNS.some((run) => run.episodes.length) },
  { name: "Compare", draw: compare_page, has: RUNS.filter((run) => run.episodes.length).length > 1 },
  { name: "Training", draw: curves_page, has: RUNS.some((run) => Object.keys(run.curves).length) },
].filter((tab) => tab.has);

function render() {
  const main = document.getElementById("main");
  main.replaceChildren();
  document.getElementById("tabs").replaceChildren(...(TABS.length > 1 ? TABS.map((tab) => make("button", { "aria-current": tab === state.tab, on: { click: () => { state.tab = tab; state.open = null; render(); } } }, tab.name)) : []));
  if (state.tab) state.tab.draw(main);
  else main.append(make("p", {}, "There is nothing to show."));
}

const wanted = new URLSearchParams(location.hash.slice(1)); // #tab=Compare&open=3, to link to a place
state.tab = TABS.find((tab) => tab.name === wanted.get("tab")) ?? TABS[0] ?? null;
if (wanted.has("open")) state.open = Number(wanted.get("open"));
if (wanted.has("run")) state.run = Number(wanted.get("run"));
render();
