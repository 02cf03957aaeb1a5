"""Tools that tell the answer to anybody who calls them."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from gem.audit.finding import Finding
from gem.audit.showing import SHORTEST, bare
from gem.audit.task import Task
from gem.errors import BadArguments
from gem.testing.play import PlayedEpisode, play, replay_actions
from gem.testing.subject import Inapplicable
from gem.tool import Tool, ToolCall
from gem.wrappers.tool_env import ToolEnv, tool_envs

EPISODES = 10
OFTEN = 0.5
"""The share of episodes from which it is no chance."""
_PLAIN: Mapping[str, object] = {"string": "x", "integer": 1, "number": 1, "boolean": False, "array": [], "object": {}}


def probe(task: Task) -> Iterator[Finding]:
    """A call with arguments that mean nothing does not give the gold answer."""
    with task.make() as env:
        calls = {name: call for each in tool_envs(env) for name, call in _calls(each).items()}
    if not calls:
        raise Inapplicable("the env offers no tools, or none whose arguments can be made up")
    answers = _answers(task)
    for name, reply in calls.items():
        with task.make() as env:
            played = [play(env, seed, 1, replay_actions([reply])) for seed in answers]
        telling = [episode for episode in played if _tells(episode, answers[episode.seed])]
        if len(telling) > OFTEN * len(answers):
            yield Finding.of(
                telling[0],
                f"A call of {name} without a meaning gives the right answer in {len(telling)} of {len(answers)} "
                "episodes.",
                "A tool must not know the gold answer: let it work on what the agent gives it, or on a corpus.",
            )


def _answers(task: Task) -> dict[int, str]:
    """Seed → the answer with which the expert wins, where that differs between questions."""
    episodes = [episode for episode in task.by_expert if episode.won and not episode.infos[-1].get("tool")]
    found = {episode.seed: bare(episode.actions[-1]).casefold() for episode in episodes[:EPISODES]}
    found = {seed: answer for seed, answer in found.items() if len(answer) >= SHORTEST}
    if len(set(found.values())) <= len(found) / 2:
        raise Inapplicable("the expert gives no answers that differ, and are long enough to be seen")
    return found


def _calls(env: ToolEnv) -> dict[str, str]:
    """Tool → a reply that calls it with arguments that mean nothing, if there are such."""
    made: dict[str, str] = {}
    for name, tool in env.tools.items():
        arguments = _arguments(tool)
        try:
            tool.validate(arguments)
        except BadArguments:
            continue
        made[name] = env.format.write(ToolCall(name, arguments), env.tools)
    return made


def _arguments(tool: Tool) -> dict[str, Any]:
    properties: Mapping[str, Any] = tool.parameters.get("properties", {})
    return {name: _value(properties.get(name, {})) for name in tool.parameters.get("required", ())}


def _value(schema: Mapping[str, Any]) -> object:
    if schema.get("enum"):
        return schema["enum"][0]
    options = cast("list[Mapping[str, Any]]", schema.get("anyOf") or ())
    return _value(options[0]) if options else _PLAIN.get(str(schema.get("type")), "x")


def _tells(episode: PlayedEpisode, answer: str) -> bool:
    question, result = (text.casefold() for text in episode.observations[:2])
    return answer in result and answer not in question
