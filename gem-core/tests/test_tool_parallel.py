"""Several calls in one reply."""

import asyncio
import threading
from collections.abc import Sequence
from typing import Any

import pytest
from tool_samples import Lamp, Listener, book, note, now, python, search

import gem
from gem.errors import ConfigError
from gem.rollout import rollout
from gem.tool import FORMATS, BadCall, Tool, ToolCall, ToolError, tool
from gem.wrappers.tool_env import ToolEnv

TOOLS = {each.name: each for each in (python, search, book, now)}


def reply(*calls: tuple[str, dict[str, Any]], format: str = "hermes") -> str:
    """A reply with these calls, in text or as a message of a chat API."""
    every = [ToolCall(name, arguments) for name, arguments in calls]
    texts = [FORMATS[format].write(call, {}) for call in every]
    if format == "hermes":
        return "First this.\n" + "\nand then\n".join(texts) + "\nIt said 5."
    return '{"content": null, "tool_calls": [' + ", ".join(text[text.index("[") + 1 : -2] for text in texts) + "]}"


def meeting(count: int) -> Tool:
    """A tool whose calls all wait until `count` of them are there."""
    there, all_there = [0], asyncio.Event()

    @tool
    async def meet(n: int) -> str:
        """Wait for the others."""
        there[0] += 1
        if there[0] == count:
            all_there.set()
        await asyncio.wait_for(all_there.wait(), 30)
        return f"met {n}"

    return meet


@pytest.mark.parametrize("format", ["hermes", "openai"])
def test_calls_of_a_reply_run_at_once_and_are_answered_in_order(format: str) -> None:
    env = ToolEnv(Listener(), [meeting(3), search], format=format, parallel=True)
    env.reset(seed=0)

    calls = [("meet", {"n": 1}), ("search", {"query": "ö"}), ("meet", {"n": 2}), ("meet", {"n": 3})]
    step = env.step(reply(*calls, format=format))

    assert [each["status"] for each in step.info["calls"]] == ["ok", "error", "ok", "ok"]
    texts = ["met 1", "only English is indexed", "met 2", "met 3"]
    places = [str(step.observation).index(text) for text in texts]
    assert places == sorted(places)
    assert (step.info["tool_use_counter"], step.info["tool_success_counter"]) == (4, 3)


def test_without_the_setting_a_text_with_several_calls_is_refused_and_those_of_a_message_go_in_order() -> None:
    env = ToolEnv(Listener(), [search, now], format="hermes")
    env.reset(seed=0)
    assert env.step(reply(("now", {}), ("now", {}))).info["tool"]["status"] == "doubled"

    running: list[int] = []

    @tool
    async def alone(n: int) -> str:
        """Check that nothing else runs."""
        running.append(n)
        await asyncio.sleep(0.001)
        assert running == [n]
        running.remove(n)
        return ""

    env = ToolEnv(Listener(), [alone], format="openai")
    env.reset(seed=0)
    step = env.step(reply(*(("alone", {"n": n}) for n in range(5)), format="openai"))
    assert [each["status"] for each in step.info["calls"]] == ["ok"] * 5


@pytest.mark.parametrize("format", ["tags", "fenced"])
def test_a_format_with_one_call_in_a_reply_refuses_several(format: str) -> None:
    with pytest.raises(ConfigError, match="choose the format 'auto', 'hermes' or 'openai'"):
        ToolEnv(Listener(), [python], format=format, parallel=True)


def test_auto_is_hermes_in_text_and_no_text_ends_a_reply() -> None:
    env = ToolEnv(Listener(), [python, now], parallel=True)
    observation, info = env.reset(seed=0)

    assert "once for each call" in str(observation)
    assert info["stop"] == []
    step = env.step(reply(("python", {"code": "1"}), ("now", {})))
    assert [each["answer"] for each in step.info["calls"]] == [
        f"<tool_response>\n{text}\n</tool_response>" for text in ("ran 1", "noon")
    ]
    assert env.step(reply(("now", {}), ("now", {}), format="openai")).info["calls"][0]["answer"] == "noon"


def test_each_call_counts_and_each_is_refused_by_itself() -> None:
    ran: list[int] = []

    @tool
    def count(n: int) -> str:
        """Count."""
        ran.append(n)
        return str(n)

    env = ToolEnv(Listener(), [count], format="hermes", parallel=True, max_calls=3, max_refused=4)
    env.reset(seed=0)
    calls = [("count", {"n": 0}), ("count", {"m": 1}), ("cuont", {}), *(("count", {"n": n}) for n in (2, 3, 4))]
    step = env.step(reply(*calls))

    statuses = ["ok", "arguments", "unknown", "ok", "ok", "over_budget"]
    assert [each["status"] for each in step.info["calls"]] == statuses
    assert sorted(ran) == [0, 2, 3]
    assert (step.info["tool_use_counter"], step.info["tool_refused_counter"]) == (3, 3)
    last = env.step(reply(("count", {"n": 5}), ("count", {"n": 6})))
    assert (last.truncated, len(last.info["calls"]), len(ran)) == (True, 1, 3)


def test_tools_with_a_state_go_one_after_another_in_order() -> None:
    order: list[str] = []
    started = threading.Event()

    @tool
    def slow() -> str:
        """Take a while."""
        started.wait(30)
        order.append("slow")
        return ""

    @tool
    def quick() -> str:
        """Take no time."""
        started.set()
        order.append("quick")
        return ""

    env = ToolEnv(Listener(), [slow, quick, note], format="hermes", parallel=True)
    env.reset(seed=0)
    step = env.step(reply(("note", {"text": "a"}), ("slow", {}), ("note", {"text": "b"}), ("quick", {})))

    assert order == ["quick", "slow"]
    assert [each["answer"].split("\n")[1] for each in step.info["calls"]] == ["a", "", "a | b", ""]


def test_methods_of_an_env_go_one_after_another_and_none_follows_the_end() -> None:
    env = ToolEnv(Lamp(max_turns=None), format="hermes", parallel=True)
    env.reset(seed=0)
    step = env.step(reply(*[("brighten", {"by": by}) for by in (2, 4, 3, 1)]))

    assert step.terminated
    assert [each["status"] for each in step.info["calls"]] == ["ok", "error", "ok"]
    assert "It is at 2." in step.info["calls"][0]["answer"]
    assert "The bulb is gone." in step.info["calls"][2]["answer"]


def test_a_fault_of_one_call_fails_the_episode_and_ends_the_others() -> None:
    ended = threading.Event()

    @tool
    async def forever() -> str:
        """Never return."""
        try:
            await asyncio.sleep(1000)
        finally:
            ended.set()
        return ""

    @tool
    async def broken() -> str:
        """Fail."""
        await asyncio.sleep(0.001)
        raise KeyError("the disk")

    env = ToolEnv(Listener(), [forever, broken], format="hermes", parallel=True)
    env.reset(seed=0)
    with pytest.raises(KeyError, match="the disk"):
        env.step(reply(("broken", {}), ("forever", {})))
    assert ended.wait(30)


def test_a_tool_env_around_another_has_the_setting_of_that_one() -> None:
    with pytest.raises(ConfigError, match="give parallel=True to that one"):
        ToolEnv(ToolEnv(Listener(), [now], format="hermes"), [python], parallel=True)
    env = ToolEnv(ToolEnv(Listener(), [now], format="hermes", parallel=True), [meeting(2)])
    env.reset(seed=0)
    step = env.step(reply(("meet", {"n": 1}), ("meet", {"n": 2})))
    assert [each["status"] for each in step.info["calls"]] == ["ok", "ok"]
    assert env.step(reply(("meet", {"n": 1}), ("now", {}))).info["tool"]["status"] == "doubled"


READ: Sequence[tuple[str, list[str]]] = [
    ('<tool_call>{"name": "now"}</tool_call>', ["now"]),
    ('<tool_call>{"name": "now"}</tool_call> <tool_call>{"name": "now"}', ["now", "malformed"]),
    ('<tool_call>{"name": "now"} <tool_call>{"name": "now"}</tool_call>', ["malformed", "now"]),
    ('<tool_call>{"name": "now"}</tool_call><tool_call>{]</tool_call>', ["now", "malformed"]),
    ('<think><tool_call>{"name": "now"}</tool_call></think><tool_call>{"name": "now"}</tool_call>', ["now"]),
    ('</tool_call><tool_call>{"name": "now"}</tool_call><tool_call>', ["malformed"]),
    ("no call", []),
]


@pytest.mark.parametrize(("text", "found"), READ, ids=range(len(READ)))
def test_each_call_of_a_text_is_read_by_itself(text: str, found: list[str]) -> None:
    calls = FORMATS["hermes"].several().read_each(text, TOOLS)

    assert [call.problem if isinstance(call, BadCall) else call.name for call in calls] == found


def test_episodes_with_several_calls_are_equal_on_every_backend_and_restored_from_a_snapshot() -> None:
    env = ToolEnv(Listener(), [search, note], format="hermes", parallel=True)
    env.reset(seed=0)
    first = reply(("search", {"query": "a"}), ("note", {"text": "x"}), ("search", {"query": "b"}))
    env.step(first)
    (fork,) = env.fork(1)
    assert env.step(first) == fork.step(first)
    env.close(), fork.close()

    wrapper = {"name": "tool_env", "tools": ["tool_samples:search", "tool_samples:now"], "parallel": True}

    def played(backend: str) -> list[Any]:
        envs = gem.make_vec("tool_samples:Listener", 2, backend=backend, wrappers=[wrapper])  # type: ignore[arg-type]
        with envs:
            said = reply(("search", {"query": "a"}), ("now", {}))
            episodes = list(rollout(lambda _: said, envs, range(4), max_turns=3))
        return sorted(repr([turn.observation for turn in episode.turns]) for episode in episodes)

    assert played("sync") == played("thread") == played("process")


def test_an_error_that_a_tool_shows_is_an_answer_among_others() -> None:
    @tool
    def shy(n: int) -> str:
        """Answer some."""
        if n % 2:
            raise ToolError(f"not {n}")
        return f"yes {n}"

    env = ToolEnv(Listener(), [shy], format="hermes", parallel=True, tool_reward=1.0, tool_error_reward=-3.0)
    env.reset(seed=0)
    step = env.step(reply(*(("shy", {"n": n}) for n in range(4))))
    assert step.reward == 4 - 6
    assert [each["status"] for each in step.info["calls"]] == ["ok", "error", "ok", "error"]
