"""A plain function is a policy."""

import asyncio
import re
import threading
from collections.abc import Callable
from typing import Any

import pytest
from vector_backends import vector

import gem
from gem.episode import Episode
from gem.errors import Failure, PolicyError
from gem.rollout import rollout
from gem.rollout.function_policy import FunctionPolicy
from gem.rollout.policy import Completion
from gem.rollout.transcript import Transcript

pytestmark = pytest.mark.usefixtures("core_only")

SUM = "sample_envs:Sum"


def total(observations: list[str]) -> str:
    """What the expert of `sample_envs:Sum` says."""
    return f"\\boxed{{{sum(map(int, re.findall('number is ([0-9]+)', ' '.join(observations))))}}}"


def by_messages(messages: list[dict[str, Any]]) -> str:
    return total([message["content"] for message in messages[::2]])


def by_transcript(transcript: Transcript) -> Completion:
    return Completion(total([*(str(turn.observation) for turn in transcript.turns), str(transcript.observation)]))


async def by_messages_async(messages: list[dict[str, Any]], stop: list[str]) -> str:
    await asyncio.sleep(0)
    assert stop == []
    return by_messages(messages)


class CallableObject:
    def __call__(self, any_name: Transcript) -> Completion:
        return by_transcript(any_name)


def play(policy: Callable[..., Any], id: str = SUM, episodes: int = 6, num_envs: int = 3) -> list[Episode]:
    with gem.make_vec(id, num_envs) as envs:
        return list(rollout(policy, envs, range(episodes)))


@pytest.mark.parametrize(
    "policy", [by_messages, by_transcript, by_messages_async, CallableObject(), lambda t: by_messages(t.messages())]
)
def test_a_function_plays_whatever_it_asks_for_by_name(policy: Callable[..., Any]) -> None:
    episodes = play(policy)

    assert sorted(episode.seed for episode in episodes) == list(range(6))
    assert all(episode.success and len(episode.turns) == 3 for episode in episodes)


def echo(text: str) -> str:
    return text


@pytest.mark.parametrize("policy", [echo, lambda observation: observation])
def test_a_function_of_a_text_is_given_what_the_env_said_last(policy: Callable[..., Any]) -> None:
    (episode,) = play(policy, "core:Echo-v0", episodes=1)

    assert [turn.action for turn in episode.turns] == [episode.turns[0].observation]


async def meet_async(observation: str, room: set[int], size: int) -> str:
    room.add(len(room))
    while len(room) < size:
        await asyncio.sleep(0.001)
    return observation


@pytest.mark.parametrize("is_async", [False, True])
def test_calls_that_block_are_under_way_together(is_async: bool) -> None:
    together, room = threading.Barrier(8), set[int]()

    def meet(observation: str) -> str:
        together.wait(60)  # no call comes back before all are there
        return observation

    async def meet_on_a_loop(observation: str) -> str:
        return await meet_async(observation, room, 8)

    episodes = play(meet_on_a_loop if is_async else meet, "core:Echo-v0", episodes=8, num_envs=8)
    assert [episode.failure for episode in episodes] == [None] * 8


@pytest.mark.parametrize("is_async", [False, True])
def test_no_more_calls_are_under_way_than_asked_for(is_async: bool) -> None:
    now, most = 0, 0

    async def count_async(observation: str) -> str:
        nonlocal now, most
        now, most = now + 1, max(most, now + 1)
        await asyncio.sleep(0.001)
        now -= 1
        return observation

    def count(observation: str) -> str:
        return asyncio.run(count_async(observation))

    policy = FunctionPolicy(count_async if is_async else count, at_once=1)
    with vector("sync", 4, "core:Echo-v0") as envs:
        assert len(list(rollout(policy, envs, range(8)))) == 8
    policy.close()
    assert most == 1


def test_calls_share_the_threads_that_there_are_where_the_system_gives_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    begin, begun = threading.Thread.start, list[str]()

    def start(thread: threading.Thread) -> None:
        if len(begun) == 3:
            raise RuntimeError("can't start new thread")
        begun.append(thread.name)
        begin(thread)

    monkeypatch.setattr(threading.Thread, "start", start)
    episodes = play(by_transcript, episodes=30, num_envs=10)

    assert begun == ["gem-policy"] * 3
    assert sum(episode.success for episode in episodes) == 30


@pytest.mark.parametrize("is_async", [False, True])
def test_a_call_that_fails_is_one_failed_episode(is_async: bool) -> None:
    def unlucky(transcript: Transcript) -> str:
        if len(transcript.turns) == 1 and "is 9" in str(transcript.observation):
            raise ConnectionError("503 the server is busy")
        return by_transcript(transcript).text

    async def unlucky_async(transcript: Transcript) -> str:
        return unlucky(transcript)

    episodes = play(unlucky_async if is_async else unlucky, episodes=40)
    failed = [episode for episode in episodes if episode.failure]

    assert len(episodes) == 40
    assert 0 < len(failed) < 20
    assert all(episode.success for episode in episodes if not episode.failure)
    for episode in failed:
        assert episode.failure is not None
        assert episode.failure.error == "ConnectionError: 503 the server is busy"
        assert "in unlucky" in episode.failure.traceback
        assert (len(episode.turns), episode.failed_on, episode.terminated, episode.success) == (1, None, False, False)


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (None, "returns the text of a reply, not None"),
        (Completion(None), "not Completion(text=None"),  # pyright: ignore[reportArgumentType]
        (3, "not 3"),
        (SystemExit(0), "SystemExit: 0"),
    ],
)
def test_an_answer_that_is_not_text_fails_the_episode(returned: object, message: str) -> None:
    def answer(observation: str) -> Any:
        if isinstance(returned, BaseException):
            raise returned
        return returned

    (episode,) = play(answer, episodes=1)
    assert episode.failure is not None
    assert message in episode.failure.error


def test_a_call_that_is_cancelled_fails_one_episode_and_blocks_no_other() -> None:
    async def waits(observation: str) -> str:
        other = asyncio.ensure_future(asyncio.sleep(60))
        other.cancel()  # as a client does with what is under way when it is closed
        await other
        return observation

    episodes = play(waits, episodes=4, num_envs=2)
    assert [episode.failure and episode.failure.error.strip() for episode in episodes] == ["CancelledError:"] * 4


@pytest.mark.parametrize("is_async", [False, True])
def test_a_rollout_can_be_abandoned_while_a_call_hangs(is_async: bool) -> None:
    hanging = threading.Event()

    def hang(observation: str) -> str:
        if "hang" in held:
            hanging.wait(60)
        return observation

    async def hang_async(observation: str) -> str:
        if "hang" in held:
            await asyncio.sleep(60)
        return observation

    policy = FunctionPolicy(hang_async if is_async else hang)
    with gem.make_vec("core:Echo-v0", 2) as envs:
        held = {"hang"}
        observations, _ = envs.reset(seed=0)
        policy.send({slot: Transcript(observation) for slot, observation in enumerate(observations)})
        assert policy.recv(timeout=0.01) == {}
        policy.forget(0)
        policy.forget(1)
        held.clear()
        assert len(list(rollout(policy, envs, range(6)))) == 6
    policy.close()
    hanging.set()


def test_a_policy_that_gives_a_failure_fails_that_one_episode_and_what_is_neither_ends_the_rollout() -> None:
    class Failing(gem.Policy):
        returned: Any = Failure("TimeoutError: too late", "Traceback …")

        def send(self, transcripts: Any) -> None:
            self.asked = {slot: each.observation for slot, each in transcripts.items()}

        def recv(self, min_results: int = 1, timeout: float | None = None) -> dict[int, Any]:
            asked, self.asked = self.asked, {}
            return {slot: self.returned if "is 9" in seen else Completion("no box") for slot, seen in asked.items()}

    policy = Failing()
    with gem.make_vec(SUM, 2) as envs:
        episodes = list(rollout(policy, envs, range(30)))
        failed = [episode for episode in episodes if episode.failure]
        assert len(episodes) == 30
        assert 0 < len(failed) < 30
        assert {episode.turns for episode in failed} == {()}

        policy.returned = "just text"
        with pytest.raises(PolicyError, match=r"returns a gem.Completion for each slot, not 'just text'"):
            list(rollout(policy, envs, range(30)))
