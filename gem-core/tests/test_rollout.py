"""The rollout carries what is ready, plays every episode to its end, and contains failures."""

import itertools
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from vector_backends import BACKENDS, MORTAL, PARALLEL, vector

import gem
from gem.episode import Completion, Episode
from gem.errors import MissingInfo
from gem.rollout import Failure, Start, rollout
from gem.rollout.loop import PAUSE
from gem.rollout.policy import Policy, expert_policy, random_policy
from gem.rollout.transcript import Transcript

pytestmark = pytest.mark.usefixtures("core_only")


class Slow(Policy):
    """Says the expert's word one slot at a time, the latest asked first, and never when it is merely polled."""

    info_methods = ("expert_action",)

    def __init__(self) -> None:
        self.asked: dict[int, str] = {}
        self.polls = 0

    def send(self, transcripts: Mapping[int, Transcript]) -> None:
        assert not self.asked.keys() & transcripts.keys(), "a slot has at most one request under way"
        for slot, transcript in transcripts.items():
            self.asked[slot] = transcript.info["expert_action"]

    def recv(self, min_results: int = 1, timeout: float | None = None) -> dict[int, Completion]:
        if timeout == 0:
            self.polls += 1
            return {}
        slot, action = self.asked.popitem()
        return {slot: Completion(action)}

    def forget(self, slot: int) -> None:
        self.asked.pop(slot, None)


class Saying(Policy):
    """Says one thing, and remembers what it saw and forgot."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.asked: set[int] = set()
        self.forgotten: list[int] = []

    def send(self, transcripts: Mapping[int, Transcript]) -> None:
        self.asked |= transcripts.keys()

    def recv(self, min_results: int = 1, timeout: float | None = None) -> dict[int, Completion]:
        completions = {slot: Completion(self.text) for slot in self.asked}
        self.asked.clear()
        return completions

    def forget(self, slot: int) -> None:
        self.asked.discard(slot)
        self.forgotten.append(slot)


def play(policy: Policy, num_envs: int, seeds: int, group_size: int = 1, id: str = "sample_envs:Sum") -> list[Episode]:
    with gem.make_vec(id, num_envs, info_methods=policy.info_methods, env_kwargs={"max_turns": 20}) as envs:
        return list(rollout(policy, envs, range(seeds), group_size))


def in_order(episodes: list[Episode]) -> list[Episode]:
    return sorted(episodes, key=lambda episode: (episode.seed, episode.group))


def test_an_episode_says_how_its_env_is_built_and_when_it_was_played() -> None:
    before = datetime.now(UTC)
    (episode,) = play(expert_policy(), 1, seeds=1)

    assert episode.spec == gem.make("sample_envs:Sum", max_turns=20).spec
    assert episode.started is not None
    assert before <= episode.started <= episode.started + timedelta(seconds=episode.seconds) <= datetime.now(UTC)


def test_a_failed_episode_keeps_what_the_env_failed_on() -> None:
    (broke,) = play(Saying("break"), 1, seeds=1, id="sample_envs:Fragile")
    at_reset, sound = play(Saying("break"), 1, seeds=2, id="sample_envs:Fragile")[1], play(Saying(""), 1, seeds=1)[0]

    assert broke.failed_on == Completion("break")
    assert at_reset.failure is not None
    assert at_reset.failed_on is None
    assert sound.failed_on is None


@pytest.mark.parametrize("num_envs", [1, 3, 16])
def test_every_seed_is_played_once_for_each_member_of_its_group(num_envs: int) -> None:
    episodes = in_order(play(random_policy(), num_envs, seeds=4, group_size=2))

    assert [(episode.seed, episode.group) for episode in episodes] == [(s, g) for s in range(4) for g in range(2)]


@pytest.mark.parametrize("make_policy", [random_policy, expert_policy, Slow])
def test_the_episodes_do_not_depend_on_how_many_run_at_once(make_policy: type[Policy]) -> None:
    one, three, many = (in_order(play(make_policy(), num_envs, seeds=5)) for num_envs in (1, 3, 9))

    assert one == three == many


def test_a_policy_that_answers_out_of_order_one_at_a_time_plays_as_a_quick_one_does() -> None:
    slow = Slow()

    assert in_order(play(slow, 4, seeds=9)) == in_order(play(expert_policy(), 4, seeds=9))
    assert slow.asked == {}
    assert slow.polls > 0


def test_an_episode_is_what_the_env_said_and_what_the_policy_answered() -> None:
    (episode,) = play(expert_policy(), 1, seeds=1)
    env = gem.make("sample_envs:Sum", max_turns=20)
    observation, _ = env.reset(seed=0)

    for turn in episode.turns:
        assert turn.observation == observation
        assert turn.action == env.expert_action()
        step = env.step(turn.action)
        assert turn.reward == step.reward
        observation = step.observation
    assert episode.observation == observation
    assert (episode.id, episode.terminated, episode.truncated, episode.success) == (
        "sample_envs:Sum",
        True,
        False,
        True,
    )
    assert (episode.rewards, episode.total_reward, episode.failure) == ((1.0, 1.0, 1.0), 3.0, None)


def test_equal_seeds_give_equal_starts_within_a_group() -> None:
    episodes = play(random_policy(), 5, seeds=3, group_size=4)
    starts = {seed: {e.turns[0].observation for e in episodes if e.seed == seed} for seed in range(3)}

    assert all(len(observations) == 1 for observations in starts.values())


def test_the_policy_reads_the_whole_conversation() -> None:
    seen: list[list[str]] = []

    class Reader(Saying):
        def send(self, transcripts: Mapping[int, Transcript]) -> None:
            super().send(transcripts)
            (transcript,) = transcripts.values()
            seen.append([message["role"] for message in transcript.messages()])
            assert [m["content"] for m in transcript.messages()[1::2]] == ["\\boxed{0}"] * len(transcript.turns)

    play(Reader("\\boxed{0}"), 1, seeds=1)

    assert seen == [["user", *["assistant", "user"] * turns] for turns in range(20)]


def test_an_episode_at_the_turn_limit_is_truncated_and_no_success() -> None:
    (episode,) = play(Saying("\\boxed{0}"), 1, seeds=1)

    assert (len(episode.turns), episode.truncated, episode.terminated, episode.success) == (20, True, False, False)


class Endless(gem.TurnEnv):
    """Continues after any action."""

    def _reset(self, options: object) -> str:
        return "go"

    def _step(self, action: str) -> gem.Step:
        return gem.Step.ongoing("on", 1.0)

    def sample_action(self) -> str:
        return "go"


@pytest.mark.parametrize(
    ("own", "asked", "turns"), [(None, None, 1000), (None, 7, 7), (5, 7, 5), (1003, None, 1003), (1003, 1001, 1001)]
)
def test_an_env_that_never_ends_is_cut_off(own: int | None, asked: int | None, turns: int) -> None:
    with gem.make_vec("test_rollout:Endless", 2, info_methods=["sample_action"], env_kwargs={"max_turns": own}) as envs:
        for episode in rollout(random_policy(), envs, range(3), max_turns=asked):
            assert (len(episode.turns), episode.total_reward, episode.observation) == (turns, turns, "on")
            assert (episode.truncated, episode.terminated, episode.success) == (True, False, False)
            assert episode.cut_off == (turns != own)
            assert episode.turns[-1].info["success"] is False


WORK = -1.0


class Filling(Saying):
    """Says something twice, and then finds that the conversation fills the model's context."""

    def __init__(self, turns: int = 2) -> None:
        super().__init__("go")
        self.turns = turns
        self.seen: dict[int, Transcript] = {}

    def send(self, transcripts: Mapping[int, Transcript]) -> None:
        super().send(transcripts)
        self.seen.update(transcripts)

    def recv(self, min_results: int = 1, timeout: float | None = None) -> dict[int, Completion]:
        asked, self.asked = self.asked, set()
        full = {slot for slot in asked if len(self.seen[slot].turns) == self.turns}
        # The last reply before that was cut: it has ids, and goes to the env.
        cut = Completion("go", ids=(1,), finish_reason="context")
        return {slot: Completion("", finish_reason="context") if slot in full else cut for slot in asked}


@pytest.mark.parametrize("turns", [0, 2])
def test_an_episode_that_has_outgrown_the_context_is_truncated_and_the_others_are_played(turns: int) -> None:
    policy = Filling(turns)
    with gem.make_vec("test_rollout:Endless", 2) as envs:
        episodes = list(rollout(policy, envs, range(5)))

    assert [episode.seed for episode in in_order(episodes)] == list(range(5))
    for episode in episodes:
        assert (len(episode.turns), episode.total_reward, episode.failure) == (turns, float(turns), None)
        assert (episode.truncated, episode.terminated, episode.success) == (True, False, False)
        assert (episode.cut_off, episode.out_of_context) == (True, True)
        assert [turn.completion.finish_reason for turn in episode.turns] == ["context"] * turns
        assert [turn.info.get("success") for turn in episode.turns[-1:]] == [False] * (turns > 0)
    assert len(policy.forgotten) == 5


def test_a_start_chooses_the_options_of_its_reset_and_the_policy_knows_it() -> None:
    policy = Filling(1)
    given = [Start(3, options={"index": 2}), 5, Start(3, group=4)]
    with gem.make_vec("test_dataset_env:Capital", 1) as envs:
        episodes = list(rollout(policy, envs, given, group_size=2))

    id = "test_dataset_env:Capital"
    assert [episode.start for episode in episodes] == [
        Start(3, id, {"index": 2}, 0),
        Start(3, id, {"index": 2}, 1),
        Start(5, id, None, 0),
        Start(5, id, None, 1),
        Start(3, id, None, 4),
        Start(3, id, None, 5),
    ]
    assert [episode.turns[0].observation for episode in episodes[:2]] == ["What is the capital of Kenya?"] * 2
    assert policy.seen[0].start == episodes[-1].start


def test_long_episodes_are_played_to_their_end_beside_short_ones() -> None:
    with gem.make_vec(["core:Echo-v0", "sample_envs:Sum"], info_methods=["expert_action"]) as envs:
        episodes = list(rollout(expert_policy(), envs, range(9)))

    assert {episode.id: len(episode.turns) for episode in episodes} == {"core:Echo-v0": 1, "sample_envs:Sum": 3}
    assert all(episode.success for episode in episodes)
    assert sorted(episode.seed for episode in episodes) == list(range(9))


def test_a_failure_in_a_reset_is_an_episode_without_turns_and_leaves_the_others_alone() -> None:
    episodes = in_order(play(expert_policy(), 2, seeds=6, id="sample_envs:Fragile"))

    assert [episode.seed for episode in episodes] == list(range(6))
    for episode in episodes:
        assert (episode.failure is not None) == (episode.seed % 2 == 1)
        assert episode.success == (episode.seed % 2 == 0)
        if episode.failure:
            assert episode.failure.error == "OSError: the disk is full"
            assert episode.turns == ()


def test_a_failure_in_a_step_keeps_the_turns_before_it() -> None:
    class ThenBreak(Saying):
        def send(self, transcripts: Mapping[int, Transcript]) -> None:
            super().send(transcripts)
            (transcript,) = transcripts.values()
            self.text = "break" if len(transcript.turns) == 2 else "\\boxed{0}"

    (episode,) = play(ThenBreak(""), 1, seeds=1, id="sample_envs:Fragile")

    assert episode.failure is not None
    assert "ZeroDivisionError" in episode.failure.traceback
    assert (len(episode.turns), episode.terminated, episode.truncated, episode.success) == (2, False, False, False)


def test_the_policy_is_told_to_forget_each_conversation_that_ended() -> None:
    policy = Saying("no box")
    play(policy, 2, seeds=5)

    assert len(policy.forgotten) == 5
    assert set(policy.forgotten) == {0, 1}


def test_seeds_may_be_endless_and_are_taken_only_as_slots_become_free() -> None:
    taken: list[int] = []
    seeds = (taken.append(seed) or seed for seed in itertools.count())
    with gem.make_vec("core:Echo-v0", 2, info_methods=["expert_action"]) as envs:
        episodes = list(itertools.islice(rollout(expert_policy(), envs, seeds), 10))

    assert len(episodes) == 10
    assert len(taken) <= 14


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("autoreset", ["same_step", "next_step", "off"])
def test_the_episodes_do_not_depend_on_the_backend_or_its_autoreset(backend: str, autoreset: str) -> None:
    policy = random_policy()
    with vector(
        backend, 3, "sample_envs:Sum", autoreset=autoreset, info_methods=policy.info_methods, max_turns=20
    ) as envs:
        episodes = in_order(list(rollout(policy, envs, range(5), group_size=2)))

    for episode, expected in zip(episodes, in_order(play(random_policy(), 1, seeds=5, group_size=2)), strict=True):
        assert (episode.seed, episode.group, episode.turns) == (expected.seed, expected.group, expected.turns)
        assert (episode.observation, episode.success) == (expected.observation, expected.success)


@pytest.mark.parametrize("backend", PARALLEL)
def test_a_rollout_begins_afresh_although_an_abandoned_one_left_envs_at_work(backend: str) -> None:
    policy = expert_policy()
    with vector(backend, 4, "sample_envs:Sum", info_methods=policy.info_methods) as envs:
        episodes = rollout(policy, envs, itertools.count())
        next(episodes)
        episodes.close()
        assert [len(episode.turns) for episode in rollout(policy, envs, range(6))] == [3] * 6


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_vector_can_be_reset_after_an_abandoned_rollout(backend: str) -> None:
    policy = expert_policy()
    with vector(backend, 4, "sample_envs:Sum", info_methods=policy.info_methods) as envs:
        fresh, _ = envs.reset(seed=5)
        episodes = rollout(policy, envs, itertools.count())
        next(episodes)
        episodes.close()
        observations, infos = envs.reset(seed=5)

        assert observations == fresh
        assert envs.step([info["expert_action"] for info in infos]).rewards.tolist() == [1.0] * 4
        assert envs.recv(timeout=0) == []


@pytest.mark.parametrize("backend", MORTAL)
def test_an_episode_whose_worker_dies_fails_and_the_others_are_played_to_their_end(backend: str) -> None:
    class ThenDie(Slow):
        info_methods = ()

        def send(self, transcripts: Mapping[int, Transcript]) -> None:
            for slot, transcript in transcripts.items():
                self.asked[slot] = "die" if slot == 1 and len(transcript.turns) == 2 else "go"

    with vector(backend, 3, num_workers=1, length=5) as envs:
        episodes = list(rollout(ThenDie(), envs, [0, 2, 4]))

    assert sorted(len(episode.turns) for episode in episodes) == [2, 5, 5]
    (failed,) = [episode for episode in episodes if episode.failure]
    assert (failed.seed, failed.failed_on) == (2, Completion("die"))


def test_an_abandoned_rollout_forgets_its_requests_and_leaves_the_envs_usable() -> None:
    policy = Slow()
    with gem.make_vec("sample_envs:Sum", 4, info_methods=policy.info_methods) as envs:
        episodes = rollout(policy, envs, itertools.count())
        next(episodes)
        episodes.close()

        assert policy.asked == {}
        assert len(list(rollout(policy, envs, range(6)))) == 6


def test_an_abandoned_rollout_forgets_the_conversations_whose_envs_are_at_work_too() -> None:
    class FailsOne(Saying):
        def recv(self, min_results: int = 1, timeout: float | None = None) -> Any:
            answers = super().recv()
            return {slot: answer if slot else Failure("no", "") for slot, answer in answers.items()}

    policy = FailsOne("\\boxed{0}")
    with gem.make_vec("sample_envs:Sum", 3) as envs:
        episodes = rollout(policy, envs, itertools.count())
        next(episodes)
        episodes.close()

    assert sorted(policy.forgotten) == [0, 1, 2]


def test_an_episode_that_is_given_up_is_not_yielded_and_its_slot_plays_the_next() -> None:
    unwanted = {3, 4}

    class Mute(Slow):
        """Never answers the episodes that will be given up."""

        def recv(self, min_results: int = 1, timeout: float | None = None) -> dict[int, Completion]:
            ready = [slot for slot in self.asked if self.seeds[slot] not in unwanted]
            if not ready:
                time.sleep(timeout or 0)
            return {slot: Completion(self.asked.pop(slot)) for slot in ready}

        def send(self, transcripts: Mapping[int, Transcript]) -> None:
            super().send(transcripts)
            self.seeds = {**self.seeds, **{slot: each.start.seed for slot, each in transcripts.items() if each.start}}

        seeds: Mapping[int, int] = {}

    policy = Mute()
    with gem.make_vec("sample_envs:Sum", 2, info_methods=policy.info_methods) as envs:
        episodes = list(rollout(policy, envs, range(8), given_up=lambda start: start.seed in unwanted))

    assert sorted(episode.seed for episode in episodes) == [0, 1, 2, 5, 6, 7]
    assert policy.asked == {}


@pytest.mark.parametrize("backend", ["thread", "process"])
def test_a_rollout_of_which_all_is_given_up_ends_although_its_envs_hang(backend: str, tmp_path: Path) -> None:
    policy, looks = Saying(f"await {tmp_path / 'end'}"), itertools.count()
    with vector(backend, 2) as envs:
        assert list(rollout(policy, envs, itertools.count(), given_up=lambda start: next(looks) > 6)) == []
        assert sorted(policy.forgotten) == [0, 1]
        (tmp_path / "end").touch()
        assert len(list(rollout(Saying("go"), envs, range(3)))) == 3


def test_starts_may_come_later_while_an_episode_is_running() -> None:
    more: list[Start | None] = [Start(0), Start(1), None]

    class Later(Iterator[Start | None]):
        def __next__(self) -> Start | None:
            return more.pop(0) if more else None

    played: list[int] = []
    with gem.make_vec("core:Echo-v0", 4) as envs:
        for episode in rollout(Saying("x"), envs, Later()):
            played.append(episode.seed)
            if len(played) == 2:
                more += [Start(2), None, Start(3)]

    assert sorted(played) == [0, 1, 2, 3]


def test_a_policy_that_works_when_it_is_polled_is_not_kept_waiting_for_envs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float | None] = []

    class Working(Saying):
        """Sends one env off until it has answered the other one, in small pieces of work."""

        pieces = 5

        def recv(self, min_results: int = 1, timeout: float | None = None) -> dict[int, Completion]:
            if 1 in self.asked:
                self.asked.remove(1)
                return {1: Completion(f"await {tmp_path}/file")}
            if not self.asked or timeout is None:
                return super().recv()
            waits.append(WORK)
            time.sleep(3 * PAUSE)
            self.pieces -= 1
            if self.pieces:
                return {}
            (tmp_path / "file").touch()
            return super().recv()

    with vector("thread", 2, length=1) as envs:
        receive = envs.recv

        def recv(min_results: int = 1, timeout: float | None = None) -> list[Any]:
            waits.append(timeout)
            return receive(min_results, timeout)

        monkeypatch.setattr(envs, "recv", recv)
        assert len(list(rollout(Working("go"), envs, range(2)))) == 2

    pieces = [index for index, wait in enumerate(waits) if wait == WORK]
    assert len(pieces) == 5
    assert PAUSE not in waits[pieces[0] : pieces[-1]]


def test_seeds_may_be_numpys_integers_and_never_negative() -> None:
    with vector("sync", 2, info_methods=["sample_action"]) as envs:
        (episode,) = rollout(random_policy(), envs, np.array([3]))
        with pytest.raises(ValueError, match="not -1"):
            list(rollout(random_policy(), envs, [-1]))

    assert (type(episode.seed), episode.seed, episode.failure) == (int, 3, None)


def test_no_seeds_give_no_episodes() -> None:
    assert play(random_policy(), 3, seeds=0) == []


def test_a_policy_that_lacks_an_info_method_says_so() -> None:
    with (
        gem.make_vec("sample_envs:Sum") as envs,
        pytest.raises(MissingInfo, match=r"info_methods=\('expert_action',\)"),
    ):
        next(rollout(expert_policy(), envs, [0]))
    with pytest.raises(MissingInfo, match="does not have an expert"):
        play(expert_policy(), 1, seeds=1, id="sample_envs:NoExpert")
