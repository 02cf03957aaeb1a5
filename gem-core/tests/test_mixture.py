"""A mixture of ids is one of episodes: their shares do not depend on how long they take."""

import itertools
from collections import Counter

import pytest
from sample_envs import Sum
from vector_backends import BACKENDS, vector

import gem
from gem.errors import SpecError
from gem.rollout import Start, rollout
from gem.rollout.policy import expert_policy, random_policy
from gem.vector import Share
from gem.vector.mixture import MixtureEnv

pytestmark = pytest.mark.usefixtures("core_only")

SHORT, LONG, BROKEN = "core:Echo-v0", "sample_envs:Sum", "sample_envs:Fragile"
MIXED = f"{SHORT}, {LONG}"


@pytest.mark.parametrize("backend", BACKENDS)
def test_two_ids_play_equally_many_episodes_although_one_takes_longer(backend: str) -> None:
    with vector(backend, 4, MIXED, info_methods=["expert_action"]) as envs:
        first = list(itertools.islice(rollout(expert_policy(), envs, itertools.count()), 40))
        whole = list(rollout(expert_policy(), envs, range(10)))

    assert Counter(len(episode.turns) for episode in first)[3] >= 18  # of the last four, some were still under way
    assert {episode.id: len(episode.turns) for episode in first} == {SHORT: 1, LONG: 3}
    assert all(episode.success for episode in first)
    assert Counter(episode.id for episode in whole) == {SHORT: 5, LONG: 5}


def test_which_id_plays_a_seed_does_not_depend_on_how_many_play_at_once() -> None:
    played: list[set[tuple[str, int, int]]] = []
    for num_envs in (1, 3, 8):
        with gem.make_vec({SHORT: 2, LONG: 1}, num_envs, info_methods=["expert_action"]) as envs:
            episodes = list(rollout(expert_policy(), envs, range(9), group_size=2))
            played.append({(episode.id, episode.seed, episode.group) for episode in episodes})
    ids = {(seed, id) for id, seed, _ in played[0]}

    assert played[0] == played[1] == played[2]
    assert Counter(id for _, id in ids) == {SHORT: 6, LONG: 3}, "a group is of one id"


def test_an_episode_of_a_mixture_has_the_spec_it_can_be_built_again_from_and_options_reach_the_env() -> None:
    with gem.make_vec([SHORT, LONG], 1, info_methods=["expert_action"], wrappers=["episode_tracking"]) as envs:
        episodes = list(rollout(expert_policy(), envs, [Start(3, LONG), Start(4, SHORT)]))
        with pytest.raises(SpecError, match=f"these envs play {SHORT}, {LONG}, and not 'core:Other'"):
            next(rollout(expert_policy(), envs, [Start(1, "core:Other")]))

    assert [episode.id for episode in episodes] == [LONG, SHORT]
    assert [episode.spec for episode in episodes] == [
        gem.make(id, wrappers=["episode_tracking"]).spec for id in (LONG, SHORT)
    ]


def test_the_options_of_a_start_reach_the_env_of_its_id() -> None:
    capital = "test_dataset_env:Capital"
    starts = [Start(seed, capital, {"index": 1}) for seed in range(3)]
    with gem.make_vec({capital: 1, SHORT: 1}, 2, info_methods=["sample_action"]) as envs:
        episodes = list(rollout(random_policy(), envs, starts))

    assert [episode.turns[0].observation for episode in episodes] == ["What is the capital of Japan?"] * 3
    assert [episode.options for episode in episodes] == [{"index": 1}] * 3


@pytest.mark.parametrize("backend", ["sync", "process"])
def test_each_id_of_a_mix_has_its_own_kwargs_and_wrappers_inside_those_of_all(backend: str) -> None:
    shares = [
        Share(LONG, 3, {"rounds": 1}, ["sample_envs:Counted", {"name": "turn_limit", "max_turns": 7}]),
        Share(SHORT, 1, wrappers="sample_envs:Loud"),
    ]
    with vector(backend, 4, shares, wrappers="episode_tracking", info_methods=["expert_action"]) as envs:
        assert [envs.spec_of(slot).id for slot in range(4)] == [LONG, LONG, LONG, SHORT]
        episodes = list(rollout(expert_policy(), envs, range(40)))

    assert Counter(episode.id for episode in episodes) == {LONG: 30, SHORT: 10}
    long, short = ({episode.id: episode for episode in episodes}[id] for id in (LONG, SHORT))
    limit = {"name": "turn_limit", "max_turns": 7}
    assert long.spec == gem.make(LONG, rounds=1, wrappers=["sample_envs:Counted", limit, "episode_tracking"]).spec
    assert short.spec == gem.make(SHORT, wrappers=["sample_envs:Loud", "episode_tracking"]).spec
    assert (len(long.turns), str(long.turns[0].observation)[:3]) == (1, "1: ")
    assert str(short.turns[0].observation)[:3] == "Say"


def test_a_class_that_is_named_with_dots_is_played_in_a_mixture() -> None:
    with gem.make_vec({"gem.packs.echo:Echo": 1, LONG: 1}, 2, info_methods=["expert_action"]) as envs:
        episodes = list(rollout(expert_policy(), envs, range(4)))

    assert Counter(episode.id for episode in episodes if episode.success) == {"gem_packs_echo:Echo": 2, LONG: 2}


def test_an_env_that_cannot_be_closed_leaves_none_of_the_others_open() -> None:
    closed: list[int] = []

    class Stuck(Sum):
        def __init__(self, number: int = 0) -> None:
            super().__init__()
            self.number = number

        def close(self) -> None:
            closed.append(self.number)
            raise OSError("no")

    mixture = MixtureEnv({"a": lambda: Stuck(1), "b": lambda: Stuck(2)}, ["a", "b"])
    with pytest.raises(OSError, match="no"):
        mixture.close()

    assert sorted(closed) == [1, 2]


def test_a_failure_of_one_id_leaves_the_others_alone() -> None:
    with gem.make_vec([BROKEN, SHORT], 2, info_methods=["expert_action"]) as envs:
        episodes = list(rollout(expert_policy(), envs, range(20)))

    for episode in episodes:
        assert (episode.failure is not None) == (episode.id == BROKEN and episode.seed % 2 == 1)


def test_reset_and_step_play_the_id_of_each_slot() -> None:
    with gem.make_vec(MIXED, 4, seed=1) as envs, gem.make_vec(SHORT, 4, seed=1) as alone:
        mixture_makers, _ = envs.reset()
        same, _ = alone.reset()
        assert [envs.spec_of(slot).id for slot in range(4)] == [SHORT, LONG, SHORT, LONG]
        assert mixture_makers[0] == same[0]
        assert mixture_makers[1] != same[1]
        assert list(envs.step(["\\boxed{1}"] * 4).terminated) == [True, False, True, False]
