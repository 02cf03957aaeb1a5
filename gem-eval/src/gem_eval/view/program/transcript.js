// One episode, turn by turn.

function content(value) {
  if (typeof value === "string") return [make("pre", {}, shown(value))];
  return value.map((part) => {
    const address = part.image_url && part.image_url.url;
    if (typeof address === "string" && /^data:image\/(png|jpeg|gif|webp);base64,/.test(address)) return make("img", { src: address, alt: "an image of the observation" });
    return make("pre", {}, shown(typeof part.text === "string" ? part.text : JSON.stringify(part)));
  });
}

const block = (style, who, ...inside) => make("div", { class: style }, make("div", { class: "who" }, ...who), ...inside);

// Without the description of tools that the request had in a field of its own.
function without(value, texts) {
  const cut = (text) => texts.reduce((rest, each) => rest.replace(`\n\n${each}`, ""), text);
  return typeof value === "string" ? cut(value) : value.map((part) => typeof part.text === "string" ? { ...part, text: cut(part.text) } : part);
}

function observed(value, index, after) {
  const tool = after && after.info.tool;
  return block(tool ? "world tool" : "world", [tool ? `result of ${tool.name ?? "a tool"}` : index === null ? "last observation" : `observation ${index + 1}`], ...content(value));
}

// The scores of rewards besides the env's, which `gem.rewards` records; null for anything else of that name.
function scores_of(kept) {
  const table = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
  if (!table(kept) || !table(kept.scores) || !table(kept.weights) || !Object.values(kept.scores).every(table)) return null;
  const plainly = (value) => Array.isArray(value) ? value.map(plainly).join("; ") : typeof value === "number" ? number(value) : typeof value === "string" ? value : JSON.stringify(value);
  return Object.entries(kept.scores).map(([name, { score, ...told }]) => [
    `${name}: ${number(Number(score))} × ${number(Number(kept.weights[name] ?? 1))}`,
    ...Object.entries(told).map(([what, value]) => `    ${what}: ${plainly(value)}`)].join("\n")).join("\n");
}

const UNTOLD = ["tool", "stop", "success"], UNTOLD_OF_PLAYERS = [...UNTOLD, "player", "rewards"]; // they are shown elsewhere
function acted(turn, index) {
  const tool = turn.info.tool, untold = turn.player === "agent" ? UNTOLD : UNTOLD_OF_PLAYERS;
  const scores = scores_of(turn.info.scored);
  const rest = Object.entries(turn.info).filter(([name]) => !untold.includes(name) && !(scores && name === "scored")).map(([name, value]) => [name, JSON.stringify(value)]);
  const short = rest.filter(([, text]) => text.length <= 40), long = rest.filter(([, text]) => text.length > 40);
  return block("agent" + (tool ? " call" : ""), [
    make("span", {}, `action ${index + 1}` + (turn.player === "agent" ? "" : ` of ${turn.player}`)),
    make("span", { class: "pill " + signed(Number(turn.reward)) }, `reward ${number(turn.reward)}`),
    ...Object.entries(turn.parts ?? {}).map(([name, value]) => make("span", { class: "pill" }, shown(`${name} ${number(value)}`))),
    tool ? make("span", { class: "pill" }, shown(`tool ${tool.name ?? ""}: ${tool.status ?? ""}`)) : null,
    turn.finish_reason ? make("span", { class: "pill bad" }, `cut: ${turn.finish_reason}`) : null,
    turn.usage ? make("span", {}, (turn.usage.completion ? `${turn.usage.prompt ?? 0} + ${few(turn.usage.completion, "token")}, ` : "") + `${number(turn.usage.seconds ?? 0, 3)} s`) : null,
    ...short.map(([name, text]) => make("span", {}, shown(`${name} ${text}`)))],
  turn.reasoning ? make("details", {}, make("summary", {}, "reasoning"), make("pre", { class: "dim" }, shown(turn.reasoning))) : null,
  turn.tokens && !state.plain ? token_view(turn.tokens) : said(turn),
  scores ? make("details", {}, make("summary", {}, "scores"), make("pre", {}, shown(scores))) : null,
  ...long.map(([name, text]) => make("details", {}, make("summary", {}, shown(name)), make("pre", {}, shown(text)))));
}

// A message of a chat API is recorded as its JSON: shown are its text and its calls, and below it the JSON.
function said(turn) {
  let message = null;
  try { message = turn.info.tool || turn.text.includes('"tool_calls"') ? JSON.parse(turn.text) : null; } catch { /* other text */ }
  const calls = message && Array.isArray(message.tool_calls) ? message.tool_calls : [];
  if (!calls.length || !calls.every((call) => call && call.function)) return make("pre", {}, shown(turn.text));
  const told = calls.map((call) => `${call.function.name}(${typeof call.function.arguments === "string" ? call.function.arguments : JSON.stringify(call.function.arguments)})`);
  return [typeof message.content === "string" && message.content ? make("pre", {}, shown(message.content)) : null,
    make("pre", { class: "calls" }, shown(told.join("\n"))),
    make("details", {}, make("summary", {}, "as it was sent"), make("pre", { class: "dim" }, shown(turn.text)))];
}

function turn_of(episode, index) {
  const turn = episode.turns[index], { tools } = turn;
  const seen = observed(tools ? without(turn.observation, tools.text ?? []) : turn.observation, index, episode.turns[index - 1]);
  if (tools) seen.append(make("details", {}, make("summary", {}, few(tools.functions.length, "tool") + " of the chat API"), make("pre", {}, shown(JSON.stringify(tools.functions, null, 2)))));
  return make("section", { class: "turn" }, seen, acted(turn, index));
}

function end_of(episode) {
  const failure = episode.failure;
  if (!failure) return make("section", { class: "turn" }, observed(episode.observation, null, episode.turns[episode.turns.length - 1]));
  return make("section", { class: "turn" }, block("world", [make("span", { class: "pill failed" }, "failure")], make("pre", {}, shown(failure.error)),
    episode.failed_on ? make("pre", {}, shown(episode.failed_on.text)) : null, make("details", {}, make("summary", {}, "traceback"), make("pre", {}, shown(failure.traceback)))));
}

const system_of = (episode) => episode.traces.filter(({ system }) => system).map(({ system, player }) =>
  make("section", { class: "turn" }, block("world", [`system message${episode.traces.length > 1 ? ` of ${player}` : ""}`], make("pre", {}, shown(system)))));
const transcript = (episode) => [...system_of(episode), ...episode.turns.map((_, index) => turn_of(episode, index)), end_of(episode)];

const total_of = ({ turns }) => turns.reduce((sum, turn) => sum + Number(turn.reward), 0);
const player_of = (episode, { player, policy = null }) => text_or_json(episode.labels.seats?.[player] ?? name_of(policy));
function returned(episode, trace) {
  const played_by = player_of(episode, trace);
  return `${trace.player} ${number(total_of(trace))}${played_by ? ` (${played_by})` : ""}`;
}

function heading(episode) {
  const labels = Object.entries(episode.labels).filter(([name]) => name !== "seats").map(([name, value]) => `${name} ${typeof value === "object" ? JSON.stringify(value) : value}`);
  const players = episode.traces.length > 1 ? `returns: ${episode.traces.map((trace) => returned(episode, trace)).join(", ")}` : "";
  const place = `${start_of(episode) === episode.seed ? "seed " : ""}${place_of(episode)}`;
  const facts = [episode.id, players || `return ${number(episode.return)}`, few(episode.turns.length, "turn"), episode.end, place, players ? "" : name_of(episode.policy), ...labels];
  const told = seats_of(episode).length && !episode.failure ? [] : [outcome(episode), " "]; // players win, not a game
  return make("p", { class: "summary" }, ...told, shown(facts.filter(Boolean).join(" · ")));
}

// Tokens: the less probable, the redder; those that training left out are struck through.

function token_view(tokens) {
  const { text, logprobs = [], mask = [], prompt } = tokens;
  const spans = text.map((piece, index) => {
    const known = logprobs[index] !== undefined, logprob = Number(logprobs[index]);
    const told = [known ? `log-probability ${number(logprob)}, probability ${percent(Math.exp(logprob))}` : "", mask[index] === 0 ? "not learned from" : ""].filter(Boolean).join("; ");
    const red = known ? Math.min(1, Math.max(0, -logprob / 5)) : 0;
    return make("span", { class: "token" + (mask[index] === 0 ? " left-out" : ""), title: told || null, style: red > 0.02 ? `background: rgb(226 72 38 / ${(0.75 * red).toFixed(2)})` : null },
      piece === "" ? "·" : shown(piece.replace(/\n/g, "↵\n")));
  });
  const read = prompt ? make("details", {}, make("summary", {}, "what the model read before it"), make("pre", { class: "dim" }, shown(prompt))) : null;
  return make("div", {}, make("pre", { class: "tokens" }, ...spans), read);
}

function token_switch(episodes) {
  const all = episodes.flatMap((episode) => episode.turns.map((turn) => turn.tokens).filter(Boolean));
  if (!all.length) return null;
  const change = (event) => { note({ plain: Number(!event.target.checked) }); render(); };
  const scale = ["100%", "37%", "8%", "< 1%"].map((text, index) => make("span", { class: "token", style: `background: rgb(226 72 38 / ${0.75 * Math.min(1, [0, 1, 2.5, 5][index] / 5)})` }, text));
  return make("p", { class: "legend" }, make("label", {}, make("input", { type: "checkbox", checked: state.plain ? null : "", on: { change } }), " tokens"),
    ...(state.plain ? [] : [all.some((each) => each.logprobs) ? make("span", {}, "probability ", ...scale) : null,
      all.some((each) => each.mask) ? make("span", {}, make("span", { class: "token left-out" }, "not learned from")) : null]));
}
