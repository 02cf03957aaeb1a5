"""Self-play: whom the learner meets, which traces it learns from, and what counts as a success."""

import json
import math
from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest
from duel_env import PLAYERS
from msgspec.structs import replace

import gem
from gem.errors import ConfigError, GemError
from gem.rollout import Start, rollout
from gem_train.batch import collate
from gem_train.build import build, make_evaluation, make_seats
from gem_train.config.training import TrainConfig, load_config
from gem_train.distributed.world import ALONE
from gem_train.play import Play
from gem_train.selfplay.pool import Pool
from gem_train.selfplay.seats import Seats

ID = "duel_env:Pennies"
SEATS = Seats(0, {ID: PLAYERS})
WORDS = {"odd": "\\boxed{0}", "even": "\\boxed{1}"}
"""Replies with which odd always wins."""


def config(**settings: Any) -> TrainConfig:
    small = {
        "id": ID,
        "steps": 3,
        "rollout": {"episodes": 16, "num_envs": 8, "group_size": 4, "max_new_tokens": 6},
        "warmup": {"steps": 0},
        "eval": {"episodes": 8},
        "log": {"tensorboard": False},
        "watch": {"stop": False},
    }
    return load_config([small, settings])


def test_the_pool_has_the_model_before_training_and_then_every_so_many_steps_the_newest():
    pool = Pool("uniform", every=3, size=4)
    assert [pool.members(step) for step in (0, 2, 3, 8, 14)] == [[0], [0], [0, 3], [0, 3, 6], [3, 6, 9, 12]]
    assert Pool("newest", every=3, size=4).draw(14, 2, seed=0) == [12]
    assert len(pool.draw(14, 3, seed=5)) == 3
    assert pool.draw(14, 9, seed=5) == [3, 6, 9, 12]


@pytest.mark.parametrize("choice", ["uniform", "prioritised"])
def test_the_prioritised_choice_prefers_those_who_beat_the_learner_as_the_formula_says(choice):
    pool = Pool(choice, every=1, size=3)
    pool.add(2, {0: [True] * 18, 1: [True, False] * 4, 2: [False] * 8})
    again = Pool(choice, every=1, size=3)
    again.restore(json.loads(json.dumps(pool.state())))
    assert [pool.win_rate(member) for member in (0, 1, 2)] == [19 / 20, 1 / 2, 1 / 10]
    weights = [(1 / 20) ** 2, (1 / 2) ** 2, (9 / 10) ** 2] if choice == "prioritised" else [1, 1, 1]
    drawn = Counter(pool.draw(2, 1, seed)[0] for seed in range(4000))
    for member, weight in enumerate(weights):
        assert drawn[member] / 4000 == pytest.approx(weight / sum(weights), abs=0.03)
    assert [again.draw(2, 2, seed) for seed in range(50)] == [pool.draw(2, 2, seed) for seed in range(50)]


def test_results_fade_and_those_of_members_that_left_are_dropped():
    pool = Pool("prioritised", every=1, size=2)
    pool.add(1, {0: [False] * 20, 1: [False] * 20})
    before = pool.win_rate(1)
    for _ in range(100):
        pool.add(2, {})
    assert before < 0.1
    assert pool.win_rate(1) == pytest.approx(0.5, abs=0.05)
    assert pool.metrics().keys() == {"opponents", "won/step-1"}


def test_a_learner_sits_on_each_seat_equally_often_and_a_group_on_one():
    seats = Counter(SEATS.of(Start(seed, ID)) for seed in range(2000))
    assert all(abs(count - 1000) < 100 for count in seats.values())
    assert all(len({SEATS.of(Start(seed, ID, group=group)) for group in range(4)}) == 1 for seed in range(50))


def test_an_episode_is_seen_as_the_learner_s_own_and_is_a_success_if_it_won():
    with gem.make_vec(ID, 4) as envs:
        episodes = list(rollout({player: lambda _, said=said: said for player, said in WORDS.items()}, envs, range(30)))
    for episode in episodes:
        seen = SEATS.seen(episode)
        (trace,) = seen.traces
        assert trace.player == SEATS.of(episode.start)
        assert seen.success == (trace.player == "odd")
        assert seen.total_reward == (1.0 if seen.success else -1.0)
    assert len({SEATS.seen(episode).success for episode in episodes}) == 2


def test_an_env_that_does_not_say_who_won_is_named():
    with gem.make_vec(ID, 1) as envs:
        (episode,) = rollout({player: lambda _, said=said: said for player, said in WORDS.items()}, envs, [0])
    (last,) = episode.traces[1].turns
    silent = replace(last, info={name: value for name, value in last.info.items() if name != "won"})
    traces = tuple(replace(trace, turns=(silent,)) for trace in episode.traces)
    with pytest.raises(ConfigError, match="duel_env:Pennies does not say who won"):
        SEATS.seen(replace(episode, traces=traces))


def test_only_what_the_learner_said_is_trained_on_and_members_play_with_their_own_weights():
    settings = config(selfplay={"pool": "uniform", "every": 1, "present": 0.3, "at_once": 2})
    seats = make_seats(settings, ALONE)
    with build(settings, seats=seats) as parts:
        match, asked = parts.match, []

        def read(member: int):
            asked.append(member)
            return [(name, tensor * 0) for name, tensor in parts.learner.weights()]

        parts.sampler.load(parts.learner.weights(), 7)
        match.begin(7, read)
        play = Play(
            match.policy,
            parts.envs,
            seed=3,
            steps=8,
            episodes=64,
            group_size=4,
            traces=match.trained,
        )
        play.restore({"steps": 7, "upcoming": [], "counts": {}, "starts": {}})
        episodes = play.step(7).episodes  # it checks that what is trained on has the weights of now
        batch = collate(episodes, match.trained)
        match.learned(7, episodes)
        met = match.metrics()
    assert len(asked) == 2
    assert set(batch.version.tolist()) == {7}
    others = Counter()
    for episode in episodes:
        seat = seats.of(episode.start)
        own = {trace.player for trace in match.trained(episode)}
        for trace in episode.traces:
            versions = {version for turn in trace.turns for version in turn.completion.weight_versions}
            if trace.player in own:
                assert versions == {7}
            else:
                assert trace.player != seat
                assert own <= {seat}
                others.update(versions)
                # All weights of the members were given as 0, so each token is as likely as another.
                assert trace.turns[0].completion.logprobs[0] == pytest.approx(-math.log(512), abs=1e-4)
    assert set(others) == set(asked)
    learners = {(each.seed, *(trace.player for trace in match.trained(each))) for each in episodes}
    assert len(learners) == 64 // 4  # the same in all episodes of a group
    assert met["opponents"] == 2


def test_evaluations_are_against_a_policy_and_count_what_the_measured_one_has_won():
    settings = config(selfplay={"opponent": "random"}, eval={"episodes": 200})
    seats = make_seats(settings, ALONE)
    evaluation = make_evaluation(settings, settings.evaluated, seats=seats)
    result = evaluation.floor("random", lambda *_: None)
    assert result is not None
    assert result.success == pytest.approx(0.5, abs=0.15)
    assert abs(result.return_mean) < 0.3

    class Junk(gem.Policy):
        def send(self, transcripts):
            self.asked = transcripts

        def recv(self, min_results=1, timeout=None):
            asked, self.asked = self.asked, {}
            return {slot: gem.Completion("junk") for slot in asked}

    played = evaluation.play(Junk(), lambda *_: None)
    assert all(len(episode.traces) == 2 for episode in played if evaluation.seen(episode).traces[0].player == "even")
    assert {evaluation.seen(episode).success for episode in played} == {False}
    assert {evaluation.seen(episode).total_reward for episode in played} == {-2.0}


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"selfplay": {"pool": "uniform", "opponent": "random"}}, "not both"),
        ({"selfplay": {"pool": "uniform"}, "rollout": {"max_lag": 1}}, "leave rollout.max_lag at 0"),
        ({"selfplay": {"opponent": "random"}, "rollout": {"max_lag": 1, "async": True}}, "leave rollout.max_lag at 0"),
        ({"selfplay": {"pool": "newest"}, "rollout": {"engine": "vllm_server"}}, "set rollout.engine=hf"),
        ({"selfplay": {"pool": "newest"}, "id": "core:Echo-v0"}, "core:Echo-v0 is not a game of several players"),
        ({"eval": {"opponent": "random"}, "id": "core:Echo-v0"}, "core:Echo-v0 is not a game of several players"),
        ({"selfplay": {"pool": "newest"}, "rollout": {"players": ["evn"]}}, "no player 'evn'. Did you mean 'even'"),
        ({"rollout": {"players": ["evn"]}}, "no player 'evn'. Did you mean 'even'"),
    ],
)
def test_what_does_not_fit_self_play_is_refused(settings, said):
    with pytest.raises(GemError, match=said):
        make_seats(config(**settings), ALONE)


def test_self_play_in_several_processes_is_refused():
    with pytest.raises(ConfigError, match="self-play needs one process, and this run has 2"):
        make_seats(config(selfplay={"pool": "uniform"}), SimpleNamespace(size=2))
