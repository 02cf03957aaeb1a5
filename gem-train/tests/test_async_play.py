"""Play in a thread beside the learner: it goes on while the learner learns, keeps the bound, and can be ended."""

import json
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from play_policies import Holding, Player

import gem
from gem import seeding
from gem.episode import Completion, Episode
from gem.errors import Failure, TrainingStopped
from gem.rollout.transcript import Transcript
from gem_train.config.training import load_config
from gem_train.engines.hf import HFSampler
from gem_train.engines.turns import Turns
from gem_train.groups import Played
from gem_train.play import Play, check_lag
from gem_train.runs.display import Display
from gem_train.train import train

HERE = "play_envs"
STEPS, EPISODES = 6, 8


@contextmanager
def beside(policy: Player, num_envs: int = 5, env: Any = None, id: str = "Walk", **settings: Any) -> Iterator[Play]:
    """Play in a thread of its own, which has ended afterwards."""
    backend = settings.pop("backend", "sync")
    with gem.make_vec(f"{HERE}:{id}", num_envs, env_kwargs=env or {}, backend=backend) as envs:
        made = {"seed": 3, "steps": STEPS, "episodes": EPISODES, "max_lag": 1, "asynchronous": True, **settings}
        play = Play(policy, envs, **made)
        try:
            yield play
        finally:
            play.close()
            assert not playing()


def playing() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "gem-play"]


def until(condition: Callable[[], bool]) -> None:
    """Wait for what another thread is to do."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.002)


def counts(play: Play, version: int) -> dict[str, int]:
    return play.state(version)["counts"]


def seeds(steps: int = STEPS, group_size: int = 1) -> Counter[int]:
    """How often each seed of a run is played."""
    groups = EPISODES // group_size
    return Counter(
        {seeding.derive(3, "train", step, index): group_size for step in range(steps) for index in range(groups)}
    )


def learned(steps: list[Played]) -> Counter[int]:
    return Counter(episode.seed for step in steps for episode in step.episodes)


@pytest.mark.parametrize("max_lag", [1, 2])
def test_episodes_are_played_while_the_learner_learns_and_no_more_than_the_bound_allows(max_lag: int) -> None:
    player = Player()
    with beside(player, max_lag=max_lag) as play:
        for version in range(STEPS):
            player.steps(play, [version])
            # The learner is here all the time: who plays is another thread.
            ahead = min(version + 1 + max_lag, STEPS)
            until(lambda ahead=ahead: counts(play, 0)["started"] == ahead * EPISODES and not player.asked)
        assert counts(play, STEPS)["learned"] == STEPS * EPISODES


@pytest.mark.parametrize("late", ["wait", "drop"])
@pytest.mark.parametrize("max_lag", [1, 3])
@pytest.mark.parametrize("group_size", [1, 4])
def test_every_episode_is_learned_from_once_and_accounted_for(max_lag: int, group_size: int, late: str) -> None:
    player = Player(40)
    settings: dict[str, Any] = {"max_lag": max_lag, "group_size": group_size, "late": late, "steps": 20}
    with beside(player, num_envs=13, env={"longest": 30}, **settings) as play:
        steps = player.steps(play, range(20))

    assert learned(steps) == seeds(20, group_size)
    for step in steps:
        assert step.counts.open >= 0
        assert set(Counter(episode.seed for episode in step.episodes).values()) == {group_size}
    found = steps[-1].counts
    assert found.learned == 20 * EPISODES == found.started - found.dropped
    assert (found.failed, found.replaced, found.abandoned, found.open) == (0, 0, 0, 0)


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("late", ["wait", "drop"])
def test_groups_that_newer_ones_overtake_are_learned_from_in_time(late: str, asynchronous: bool) -> None:
    class Overtaken(Player):
        """Answers whoever started under the first weights last."""

        def send(self, transcripts: Mapping[int, Transcript]) -> None:
            for slot, transcript in transcripts.items():
                assert transcript.start is not None
                self.asked[slot] = (self.now + (1e6 if transcript.start.seed in first else 1)), transcript

    first = {seeding.derive(3, "train", step, index) for step in range(4) for index in range(EPISODES)}
    player = Overtaken()
    settings: dict[str, Any] = {"max_lag": 3, "late": late, "steps": 12, "asynchronous": asynchronous}
    with beside(player, num_envs=4 * EPISODES, **settings) as play:
        steps = player.steps(play, range(12))

    assert learned(steps) == seeds(12)
    found = steps[-1].counts
    assert found.learned == 12 * EPISODES == found.started - found.dropped


def test_episodes_that_fail_and_those_of_their_groups_are_accounted_for() -> None:
    class FailsOne(Player):
        """Fails the second episode of every fourth group."""

        def recv(self, min_results: int = 1, timeout: float | None = None) -> Any:
            asked = {slot: transcript.start for slot, (_, transcript) in self.asked.items()}
            return {
                slot: Failure("no", "") if (start := asked[slot]) and start.group and not start.seed % 4 else reply
                for slot, reply in super().recv().items()
            }

    player = FailsOne(20)
    with beside(player, group_size=2, max_lag=2) as play:
        steps = player.steps(play, range(STEPS))

    found = steps[-1].counts
    failed = [episode for step in steps for episode in step.failed]
    assert found.learned == STEPS * EPISODES == sum(map(len, (step.episodes for step in steps)))
    assert found.failed == found.replaced == len(failed) > 2
    assert found.started == found.learned + found.failed + found.replaced
    assert found.metrics()["episodes/open"] == 0


def test_an_env_process_that_is_killed_costs_the_episode_that_it_was_stepping_and_no_other(tmp_path: Path) -> None:
    player, steps = Player(20), list[Played]()
    settings: dict[str, Any] = {"env": {"folder": str(tmp_path)}, "backend": "process", "group_size": 2, "max_lag": 2}
    with beside(player, num_envs=6, id="Mortal", **settings) as play:
        for version in range(STEPS):
            if version in (1, 3):
                (tmp_path / "die").touch()
            steps += player.steps(play, [version])

    failed = [episode.failure for step in steps for episode in step.failed]
    assert ["ended by SIGKILL" in failure.error for failure in failed if failure] == [True, True]
    found = steps[-1].counts
    assert found.learned == STEPS * EPISODES == sum(map(len, (step.episodes for step in steps)))
    assert (found.failed, found.open, found.abandoned) == (2, 0, 0)
    assert found.started == found.learned + found.failed + found.replaced


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_group_that_gets_too_old_is_dropped_and_starts_again_under_newer_weights(asynchronous: bool) -> None:
    slow = seeding.derive(3, "train", 0, 5)
    policy = Holding(lambda start: start.seed == slow and policy.version < STEPS - 1)
    with beside(policy, num_envs=20, late="drop", asynchronous=asynchronous) as play:
        steps = policy.steps(play, range(STEPS))
        until(lambda: not policy.asked or not asynchronous)

    assert learned(steps) == seeds()
    [last] = [each for each in steps[-1].episodes if each.seed == slow]
    assert {turn.completion.weight_versions for turn in last.turns} == {(STEPS - 1,)}
    assert steps[-1].counts.dropped >= 2
    assert steps[-1].counts.started == STEPS * EPISODES + steps[-1].counts.dropped


def test_a_step_waits_for_a_group_that_would_be_too_old_for_the_next() -> None:
    slow = seeding.derive(3, "train", 0, 5)
    policy = Holding(lambda start: start.seed == slow)
    with beside(policy, num_envs=20) as play:
        [first] = policy.steps(play, [0])
        assert slow not in learned([first])
        release = threading.Timer(0.2, lambda: setattr(policy, "holds", lambda start: False))
        release.start()
        [second] = policy.steps(play, [1])

    assert slow in learned([second])


def test_an_error_of_the_thread_is_raised_where_the_learner_waits() -> None:
    class Broken(Player):
        answers = 0

        def recv(self, min_results: int = 1, timeout: float | None = None) -> dict[int, Completion]:
            self.answers += 1
            if self.answers == 12:
                raise ZeroDivisionError("the engine is broken")
            return super().recv(min_results, timeout)

    player = Broken()
    with beside(player) as play:
        with pytest.raises(ZeroDivisionError, match="the engine is broken"):
            player.steps(play, range(STEPS))
        assert not playing()
        assert counts(play, STEPS)["abandoned"] > 0


def test_ctrl_c_does_not_wait_for_an_env_that_hangs_and_what_it_plays_starts_again(tmp_path: Path) -> None:
    gate, player = tmp_path / "gate", Player()
    with beside(player, env={"gate": str(gate)}, id="Gated", backend="thread") as play:

        def press() -> None:
            until(lambda: counts(play, 1)["started"] == 5 and not player.asked)
            os.kill(os.getpid(), signal.SIGINT)

        pressing = threading.Thread(target=press)
        pressing.start()
        with pytest.raises(KeyboardInterrupt):
            player.steps(play, [0])
        pressing.join()
        assert not playing()
        state = json.loads(json.dumps(play.state(0)))
        assert state["counts"] == {**dict.fromkeys(state["counts"], 0), "started": 5, "abandoned": 5}
        assert len(state["upcoming"]) == 2 * EPISODES, "those that may start in the step are chosen when it begins"
        gate.touch()
        assert learned(player.steps(play, range(STEPS))) == seeds()


def test_an_evaluation_has_the_policy_for_itself_and_play_goes_on_afterwards() -> None:
    player = Player(30)
    with beside(player, max_lag=3, steps=9) as play:
        steps = player.steps(play, [0])
        play.drain()
        assert not playing()
        assert not player.asked
        steps += player.steps(play, range(1, 9))

    assert learned(steps) == seeds(9)
    assert steps[-1].counts.abandoned == 0


@pytest.mark.parametrize("made", [False, True])
def test_a_resumed_run_learns_from_every_start_once_and_counts_what_was_broken_off(made: bool) -> None:
    player = Player(30)
    with beside(player, max_lag=2, group_size=2) as play:
        steps = player.steps(play, range(3))
        state = json.loads(json.dumps(play.state(2 + made)))  # before the update or after it
    before = steps if made else steps[:-1]
    player = Player(30)
    with beside(player, max_lag=2, group_size=2) as play:
        play.restore(state)
        after = player.steps(play, range(2 + made, STEPS))

    assert learned([*before, *after]) == seeds(group_size=2)
    found, then = asdict(after[-1].counts), state["counts"]
    assert then["learned"] == sum(len(step.episodes) for step in before)
    assert found["abandoned"] == then["started"] - then["learned"]
    assert found["learned"] == STEPS * EPISODES == found["started"] - found["abandoned"]


@pytest.mark.parametrize(
    ("versions", "says"),
    [((3, 5), "versions 3 to 5"), ((6,), "versions 6 to 6"), ((), "does not have the version")],
)
def test_a_reply_that_is_too_old_or_of_unknown_age_stops_the_run(versions: tuple[int, ...], says: str) -> None:
    player = Player()
    with beside(player, asynchronous=False) as play:
        [step] = player.steps(play, [0])
    [episode, *_] = step.episodes

    def of(versions: tuple[int, ...]) -> Episode:
        turn = gem.Turn("", Completion("", weight_versions=versions), 0.0, {})
        return gem.Episode(
            **{
                **{name: getattr(episode, name) for name in ("id", "seed", "observation", "terminated", "truncated")},
                "success": True,
                "traces": (type(episode.traces[0])((turn,)),),
            }
        )

    check_lag([of((4, 5)), of((5,))], version=5, max_lag=1)
    with pytest.raises(TrainingStopped, match=f"stopped at step 6: .*{says}"):
        check_lag([of((5,)), of(versions)], version=5, max_lag=1)


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_run_whose_engine_keeps_old_weights_and_says_so_stops_at_the_bound(asynchronous: bool) -> None:
    player = Player()
    with beside(player, asynchronous=asynchronous, max_lag=2) as play:
        for version in range(3):
            play.step(version)
        with pytest.raises(TrainingStopped, match=r"rollout\.max_lag allows 2"):
            play.step(3)


def test_who_waits_for_a_lock_in_turns_has_it_before_who_takes_it_again_at_once() -> None:
    turns, had = Turns(), list[str]()

    def wait() -> None:
        with turns:
            had.append("the other")

    for _ in range(20):
        with turns:
            other = threading.Thread(target=wait)
            other.start()
            until(turns._next.locked)
        with turns:
            had.append("this one")
        other.join()

    assert had == ["the other", "this one"] * 20


RUN = {
    "id": f"{HERE}:Waiting",
    "rollout": {"episodes": 8, "num_envs": 16, "max_new_tokens": 3, "backend": "thread", "max_lag": 2, "async": True},
    "warmup": {"steps": 1, "episodes": 4},
    "eval": {"episodes": 4, "every": 2},
    "optim": {"lr": 1e-3, "lr_end": 1e-3},
    "checkpoint_every": 1,
    "env": {"longest": 6},
}


@pytest.mark.full
def test_a_run_whose_engine_says_it_has_new_weights_and_samples_from_old_ones_is_stopped(tmp_path: Path) -> None:
    def pretend(self: HFSampler, weights: Any, version: int) -> None:
        if version < 1:
            load(self, weights, version)
        self.version = version

    load = HFSampler.load
    # With two envs the learner waits for replies of the newest weights, which the gap is of; an honest one is 1e-6.
    settings = {**RUN, "steps": 30, "watch": {"max_engine_gap": 1e-3}, "eval": {"episodes": 4}}
    settings["rollout"] = {**RUN["rollout"], "num_envs": 2}
    with (
        patch.object(HFSampler, "load", pretend),
        Display(quiet=True) as display,
        pytest.raises(TrainingStopped, match="engine gap"),
    ):
        train(load_config([settings]), tmp_path / "run", display)
    assert not playing()
