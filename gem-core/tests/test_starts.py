"""Samplers of starts: which env plays each seed, and that a sampler continues where its state says."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pytest
from vector_backends import BACKENDS, vector

import gem
from gem.errors import Failure
from gem.rollout import Episode, rollout
from gem.rollout.policy import expert_policy
from gem.rollout.starts import ByWeight, Curriculum, StartSampler
from gem.vector import Share, VectorEnv

SHORT, LONG, BROKEN = "core:Echo-v0", "sample_envs:Sum", "sample_envs:Fragile"
LEVELS = ["easy", {"medium": 3, LONG: 1}, "hard"]
SHARES = [
    Share(LONG),
    *(Share(LONG, kwargs={"largest": most, "rounds": 1}, name=name) for name, most in [("easy", 9), ("medium", 99)]),
    Share(LONG, kwargs={"largest": 999, "rounds": 1}, name="hard"),
]


@pytest.fixture(scope="module")
def envs():
    with gem.make_vec(SHARES, 4, info_methods=["expert_action"]) as envs:
        yield envs


def ended(envs: VectorEnv, name: str | None, outcome: str) -> Episode:
    """An episode that succeeded, +, or did not, -, or failed, x."""
    failure = Failure("OSError", "") if outcome == "x" else None
    how = {"terminated": True, "truncated": False, "success": outcome == "+", "failure": failure}
    return Episode(id="", seed=0, traces=(), observation="", spec=envs.spec_of(0, name), **how)


def play(sampler: Curriculum, envs: VectorEnv, outcomes: str) -> str:
    """The levels of one episode for each letter."""
    levels = ""
    for seed, outcome in enumerate(outcomes):
        levels += str(sampler.level)
        sampler.ended([ended(envs, sampler.start(seed).id, outcome)])
    return levels


@pytest.mark.parametrize("weights", [{SHORT: 1, LONG: 1}, {SHORT: 3, LONG: 1}, {SHORT: 1, LONG: 2, BROKEN: 4.5}])
def test_the_shares_hold_at_any_time_and_from_any_first_seed(weights: Mapping[str, float]) -> None:
    whole = sum(weights.values())
    for first in range(0, 3000, 100):
        counts, sampler = Counter[str](), ByWeight(weights)
        for played in range(300):
            start = sampler.start(first + played)
            assert start.seed == first + played
            counts[str(start.id)] += 1
            for each, weight in weights.items():
                assert abs(counts[each] - (played + 1) * weight / whole) < 2


def test_a_rare_env_is_played_in_its_share_of_short_rollouts_too() -> None:
    counts = Counter(ByWeight({SHORT: 9, LONG: 1}).start(seed).id for seed in range(1000))

    assert 60 < counts[LONG] < 140


@pytest.mark.parametrize(
    ("outcomes", "levels"),
    [
        ("++++" "++++" "+++++", "0000" "1111" "22222"),  # up, and at the top it stays
        ("----" "----", "0000" "0000"),  # at the bottom it stays
        ("++-+" "+++" "+-", "0000" "000" "11"),  # 0.75 is not enough; 4 of the last 4 are
        ("++++" "-+--" "+", "0000" "1111" "0"),  # 0.25 is below 0.3
        ("++++" "-++-" "---", "0000" "1111" "110"),  # 0.5 and 0.25: the oldest are forgotten
        ("++++" "----" "----" "+", "0000" "1111" "0000" "0"),  # what was lost above does not count below
        ("+++xx+" "x", "000000" "1"),  # what failed does not count
    ],
)  # fmt: skip
def test_success_leads_up_and_failure_down(envs, outcomes, levels):
    assert play(Curriculum(envs, LEVELS, window=4), envs, outcomes) == levels


def test_episodes_told_at_once_move_one_level_and_those_of_other_levels_do_not_count(envs):
    sampler = Curriculum(envs, LEVELS, window=4)
    sampler.ended([ended(envs, "hard", "+")] * 9)
    assert sampler.metrics() == {"level": 0}
    sampler.ended([ended(envs, "easy", outcome) for outcome in "++++----+++++++++++"])
    assert sampler.metrics() == {"level": 1}
    sampler.ended([ended(envs, "easy", "-")] * 9)
    assert sampler.metrics() == {"level": 1}
    assert Counter(sampler.start(seed).id for seed in range(100)) == {"medium": 75, LONG: 25}


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_rollout_goes_through_levels_of_one_id_with_other_kwargs(backend):
    with vector(backend, 4, SHARES, info_methods=["expert_action"]) as envs:
        sampler = Curriculum(envs, LEVELS, window=3)
        by_seed = {}  # of several workers, one may end its first episode last
        for episode in rollout(expert_policy(), envs, map(sampler.start, range(60))):
            sampler.ended([episode])
            assert (episode.id, episode.failure, episode.success) == (LONG, None, True)
            by_seed[episode.seed] = episode.spec.kwargs.get("largest")

    largest = [by_seed[seed] for seed in range(60)]
    assert largest[0] == 9
    assert set(largest[-20:]) == {999}
    assert {9, 99, 999} <= set(largest)
    assert gem.make(episode.spec).reset(seed=episode.seed)[0] == episode.turns[0].observation  # it can be replayed


class Forgetful(Curriculum):
    """The planted fault: a sampler that keeps its level, and forgets which successes led there."""

    def state(self):
        return {**super().state(), "successes": []}


class Unplaced(ByWeight):
    """Another: one that begins its shares again."""

    def state(self):
        return {}


def resumes_exactly(make: Callable[[], StartSampler], envs: VectorEnv) -> bool:
    """Whether a sampler that is restored after any number of starts makes the same ones as one that was not."""

    def starts(sampler: StartSampler, seeds: Sequence[int]) -> list[Any]:
        made = []
        for seed in seeds:
            made.append(sampler.start(seed))
            sampler.ended([ended(envs, made[-1].id, "+-"[seed % 5 == 1])])
        return made

    whole = starts(make(), range(40))
    for count in range(40):
        before, after = make(), make()
        first = starts(before, range(count))
        kept = before.state()
        text = json.dumps(kept)
        starts(before, range(count, 40))
        assert json.dumps(kept) == text, "a state does not change afterwards"
        after.restore(json.loads(text))
        if first + starts(after, range(count, 40)) != whole:
            return False
    return len({start.id for start in whole}) > 2


@pytest.mark.parametrize(
    ("sampler", "exact"), [(Curriculum, True), (ByWeight, True), (Forgetful, False), (Unplaced, False)]
)
def test_a_sampler_continues_from_its_state_and_one_that_forgets_is_found(envs, sampler, exact):
    settings = (envs, LEVELS) if issubclass(sampler, Curriculum) else ({"easy": 1, "medium": 3, "hard": 0.7},)
    window = {"window": 4} if issubclass(sampler, Curriculum) else {}

    assert resumes_exactly(partial(sampler, *settings, **window), envs) == exact
