// Cards of the audit: environments against probes.

const MARKS = { sound: "✓", found: "✗", known: "○", skipped: "–" };
const STYLES = { sound: "good", found: "pill failed", known: "pill warn", skipped: "dim" };
const STATES = ["found", "known", "sound", "skipped"];
const worst = (card) => STATES.find((each) => card.outcomes.some((outcome) => outcome.state === each)) ?? "skipped";
const count_of = (card, wanted) => card.outcomes.filter((outcome) => outcome.state === wanted).length;
const counted = (card) => STATES.filter((each) => count_of(card, each)).map((each) => `${count_of(card, each)} ${each}`).join(", ");

function audit_page() {
  const audited = RUNS.map((run, index) => ({ run, index })).filter(({ run }) => run.cards);
  const { run } = audited.find(({ index }) => index === state.run) ?? audited[0];
  if (run.cards[state.open]) return card_page(run, run.cards[state.open]);
  const probes = [...new Set(run.cards.flatMap((card) => card.outcomes.map((outcome) => outcome.probe)))];
  const of = (card, probe) => card.outcomes.find((outcome) => outcome.probe === probe);
  const columns = [
    { title: "environment", value: (card) => card.id, show: (card) => shown(card.id) },
    { title: "card", value: (card) => STATES.indexOf(worst(card)), show: (card) => make("span", { class: STYLES[worst(card)] }, worst(card)) },
    ...probes.map((probe) => ({ title: probe, style: "upright", value: (card) => STATES.indexOf(of(card, probe)?.state ?? "skipped"), show: (card) => mark_of(of(card, probe)) })),
    { title: "seconds", value: (card) => card.seconds, style: "number wide dim", show: (card) => number(card.seconds, 3) },
  ];
  const [holder, redraw] = redrawn((more) => {
    const rows = matching(run.cards);
    return [make("p", { class: "summary" }, `${few(rows.length, "environment")} · ${rows.filter((card) => card.sound).length} sound · ${few(probes.length, "probe")}. A row opens what was found.`),
      make("p", { class: "legend" }, ...STATES.map((each) => make("span", {}, make("span", { class: STYLES[each].replace("pill ", "") }, MARKS[each]), ` ${each}`))),
      ...table(rows, columns, { more, open: (card) => go({ open: run.cards.indexOf(card) }) })];
  });
  const typed = make("label", {}, "environment", make("input", { type: "search", placeholder: "a part of its id", value: state.text, on: { input: (event) => { note({ text: event.target.value }); redraw(); } } }));
  const runs = audited.length > 1 ? choice("cards", "run", audited.map(({ run, index }) => [index, run.name]), { always: true, change: (value) => go({ ...DEFAULTS, tab: state.tab, run: Number(value) }) }) : null;
  return [make("div", { class: "filters" }, runs, typed, choice("with", "outcome", [["", "all"], ...STATES.filter((each) => run.cards.some((card) => count_of(card, each))).map((each) => [each, each])], { change: (value) => { note({ outcome: value }); redraw(); } })), holder];
}

const matching = (cards) => cards.filter((card) => card.id.toLowerCase().includes(state.text.toLowerCase()) && (!state.outcome || count_of(card, state.outcome)));
const mark_of = (outcome) => outcome ? make("span", { class: STYLES[outcome.state].replace("pill ", ""), "aria-label": outcome.state, title: [outcome.state, outcome.reason, ...outcome.findings.map((finding) => finding.what)].filter(Boolean).join("\n") }, MARKS[outcome.state]) : "";

function card_page(run, card) {
  const rows = matching(run.cards), at = rows.indexOf(card);
  const to = (row) => row && go({ open: run.cards.indexOf(row) });
  const names = (wanted) => card.outcomes.filter((outcome) => outcome.state === wanted).map((outcome) => outcome.probe + (wanted === "skipped" && outcome.reason ? `: ${outcome.reason}` : ""));
  const listed = (title, texts) => texts.length ? make("details", { open: "" }, make("summary", {}, title), make("pre", {}, shown(texts.join("\n")))) : null;
  return [walker(() => go({ open: -1 }), "← all environments", at, rows.length, () => to(rows[at - 1]), () => to(rows[at + 1])),
    make("h2", {}, shown(card.id)), make("p", { class: "summary" }, shown([card.pack, counted(card), `${number(card.seconds, 3)} s`].filter(Boolean).join(" · "))),
    ...["found", "known"].flatMap((wanted) => card.outcomes.filter((outcome) => outcome.state === wanted).map(outcome_section)),
    listed("Sound", names("sound")), listed("Skipped", names("skipped"))];
}

function outcome_section(outcome) {
  const head = [make("span", {}, shown(outcome.probe)), make("span", { class: STYLES[outcome.state] }, outcome.state)];
  return make("section", { class: "turn" }, block("world", head,
    outcome.reason ? make("p", {}, "It stays: ", ...shown(outcome.reason)) : null,
    ...outcome.findings.map(finding_of),
    outcome.traceback ? make("details", {}, make("summary", {}, "traceback"), make("pre", {}, shown(outcome.traceback))) : null));
}

function finding_of(finding) {
  const facts = [finding.seed === null ? "" : `seed ${finding.seed}`, ...["options", "kwargs"].map((name) => (finding[name] ? `${name} ${finding[name]}` : ""))].filter(Boolean);
  const actions = finding.actions.map((text, index) => make("pre", { class: "action", title: `action ${index + 1}` }, text === "" ? make("span", { class: "dim" }, "(empty)") : shown(text)));
  return make("div", { class: "finding" }, make("p", {}, shown(finding.what)), make("p", { class: "dim" }, shown(finding.fix)),
    facts.length ? make("p", { class: "small" }, shown(facts.join(" · "))) : null,
    actions.length ? make("details", actions.length <= 3 ? { open: "" } : {}, make("summary", {}, few(actions.length, "action")), ...actions) : null);
}
