// Curves of training.

const FIRST = ["success", "return", "turns", "loss", "policy_loss", "entropy", "kl", "engine_gap_max", "grad_norm"];

function svg(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function ticks(low, high) { // round numbers, at most six
  const size = 10 ** Math.floor(Math.log10((high - low) / 3)), step = [1, 2, 5, 10].map((each) => each * size).find((each) => (high - low) / each <= 5);
  const found = [];
  for (let at = Math.ceil(low / step - 1e-9); at * step <= high + 1e-9 * step; at++) found.push(at * step);
  return found;
}

// As many as tell neighbouring ticks apart.
const digits = (value, range) => Math.min(12, Math.max(3, 2 + Math.ceil(Math.log10(Math.abs(value) / range))));

function figure(name, lines, levels = []) {
  const W = 420, H = 220, left = 68, right = 12, top = 10, bottom = 26;
  const all = lines.flatMap((line) => line.points);
  const ends = (axis) => all.reduce(([low, high], point) => [Math.min(low, point[axis]), Math.max(high, point[axis])], [Infinity, -Infinity]);
  const [x0, x1] = ends(0);
  let [y0, y1] = /^success/.test(name) ? [0, 1] : ends(1);
  if (y1 - y0 <= 1e-12 * Math.max(Math.abs(y0), Math.abs(y1))) { const size = Math.abs(y0) || 1; y0 -= size / 2; y1 += size / 2; }
  const x = (value) => left + (W - left - right) * (x1 === x0 ? 0.5 : (value - x0) / (x1 - x0));
  const y = (value) => H - bottom - (H - top - bottom) * ((value - y0) / (y1 - y0));
  const picture = svg("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": name });
  for (const value of ticks(y0, y1)) picture.append(svg("line", { class: "axis", x1: left, x2: W - right, y1: y(value), y2: y(value) }), svg("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, Math.abs(value) < 1e-9 * (y1 - y0) ? "0" : number(value, digits(value, y1 - y0))));
  picture.append(svg("text", { x: left, y: H - 8 }, `step ${number(x0)}`), svg("text", { x: W - right, y: H - 8, "text-anchor": "end" }, number(x1)));
  for (const [word, value] of levels) {
    if (typeof value === "number") picture.append(svg("line", { class: "level", x1: left, x2: W - right, y1: y(value), y2: y(value) }), svg("text", { x: W - right, y: y(value) + (value > 0.9 ? 12 : -4), "text-anchor": "end" }, word));
  }
  for (const { points, phase, colour } of lines) {
    picture.append(svg("polyline", { class: `series s${colour}` + (phase === "eval" ? " dashed" : ""), points: points.map((p) => `${x(p[0]).toFixed(1)},${y(p[1]).toFixed(1)}`).join(" ") }));
    if (points.length < 12) picture.append(...points.map((p) => svg("circle", { class: `dot s${colour}`, cx: x(p[0]), cy: y(p[1]), r: 2.5 })));
  }
  const cursor = svg("line", { class: "cursor", y1: top, y2: H - bottom, x1: -9, x2: -9 }), told = make("div", { class: "told" }), usual = [...new Set(lines.map((line) => line.phase))].join(", ");
  picture.append(cursor);
  const leave = () => { cursor.setAttribute("x1", -9); cursor.setAttribute("x2", -9); told.textContent = usual; };
  const move = (event) => {
    const box = picture.getBoundingClientRect(), at = x0 + ((((event.clientX - box.left) / box.width) * W - left) / (W - left - right)) * (x1 - x0);
    const near = lines.map((line) => [line, line.points.reduce((a, b) => (Math.abs(b[0] - at) < Math.abs(a[0] - at) ? b : a))]);
    const [step] = near.map(([, point]) => point[0]).sort((a, b) => Math.abs(a - at) - Math.abs(b - at));
    cursor.setAttribute("x1", x(step)); cursor.setAttribute("x2", x(step));
    told.textContent = `step ${number(step)}: ` + near.filter(([, point]) => point[0] === step).map(([line, point]) => `${lines.length > 1 ? line.title + " " : ""}${number(point[1])}`).join(", ");
  };
  leave();
  picture.addEventListener("pointermove", move);
  picture.addEventListener("pointerleave", leave);
  return make("figure", {}, make("figcaption", {}, name), told, picture);
}

function curves_page() {
  const trained = RUNS.map((run, index) => ({ run, colour: index % 6 })).filter(({ run }) => Object.keys(run.curves).length);
  const names = [...new Set(trained.flatMap(({ run }) => Object.keys(run.curves)))];
  const constant = new Set(names.filter((name) => new Set(trained.flatMap(({ run }) => (run.curves[name] ?? []).flatMap((line) => line.points.map((p) => p[1])))).size < 2));
  const last = (name) => constant.has(name) && !FIRST.includes(name);
  names.sort((a, b) => last(a) - last(b) || (FIRST.indexOf(a) + 1 || 99) - (FIRST.indexOf(b) + 1 || 99) || (a < b ? -1 : 1));
  const [holder, redraw] = redrawn(() => [make("div", { class: "charts" }, ...names.filter((name) => name.includes(state.metric)).flatMap((name) => [false, true].map((warm) => {
    // Warming up is another thing than training: it has curves of its own.
    const lines = trained.flatMap(({ run, colour }) => (run.curves[name] ?? []).filter((line) => (line.phase === "warmup") === warm && line.points.length > 1)
      .map((line) => ({ ...line, colour, title: trained.length > 1 ? `${run.name} ${line.phase}` : line.phase })));
    return lines.length ? figure(name + (warm ? " (warm-up)" : ""), lines, name === "success" && trained.length === 1 ? Object.entries(trained[0].run.floors) : []) : null;
  })))]);
  const input = (event) => { note({ metric: event.target.value }); redraw(); };
  return [make("div", { class: "filters" }, make("label", {}, "metric", make("input", { type: "search", placeholder: "a part of its name", value: state.metric, on: { input } })),
    trained.length > 1 ? make("p", { class: "legend" }, ...trained.map(({ run, colour }) => make("span", {}, make("span", { class: `mark s${colour}` }), ` ${run.name}`))) : null), holder];
}
