"""The vector engine on every backend: the same episodes, autoreset, partial stepping, and its protocol."""

import itertools
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sample_envs import Counted, Loud
from vector_backends import BACKENDS, PARALLEL, WALK, alone, episode_seed, vector, without_pid

import gem
from gem.core import Step
from gem.errors import ConfigError, GemError, ResetNeeded
from gem.rollout import rollout
from gem.rollout.policy import random_policy
from gem.turn_env import TurnEnv
from gem.vector import Reset, SlotResult, VectorEnv
from gem.vector.messages import STRIDE

pytestmark = pytest.mark.usefixtures("core_only")


def gather(envs: VectorEnv, count: int) -> dict[int, SlotResult]:
    """The next `count` results, by slot."""
    results = envs.recv(min_results=count)
    assert len(results) == count
    return {result.slot: result for result in results}


@pytest.mark.parametrize("backend", BACKENDS)
def test_each_slot_plays_as_the_env_alone_would(backend: str) -> None:
    with vector(backend, 3) as envs:
        envs.send({slot: Reset(seed=slot) for slot in range(3)}, autoreset="off")
        played = [[result.step] for _, result in sorted(gather(envs, 3).items())]
        for turn in range(4):
            envs.send(dict.fromkeys(range(3), f"go {turn}"), autoreset="off")
            for slot, result in gather(envs, 3).items():
                assert result.failure is None
                played[slot].append(result.step)

    for slot in range(3):
        steps = [without_pid(step) for step in played[slot] if step]
        assert steps == [without_pid(step) for step in alone(slot, [f"go {turn}" for turn in range(4)])]


@pytest.mark.parametrize("backend", BACKENDS)
def test_same_step_begins_the_next_episode_at_once_and_keeps_the_last_observation(backend: str) -> None:
    with vector(backend, 2, length=2, info_methods=["expert_action"]) as envs:
        first, _ = envs.reset(seed=5)
        envs.step(["a", "b"])
        observations, rewards, terminated, truncated, infos = envs.step(["c", "d"])
        after = envs.step(["e", "f"])

    assert rewards.dtype == np.float64
    assert terminated.dtype == truncated.dtype == np.bool_
    assert terminated.tolist() == [True, True]
    assert truncated.tolist() == [False, False]
    for slot, actions in enumerate((["a", "c", "e"], ["b", "d", "f"])):
        one = alone(episode_seed(5, slot, 0), actions[:2], length=2)
        two = alone(episode_seed(5, slot, 1), actions[2:], length=2)
        assert (first[slot], infos[slot]["final_observation"]) == (one[0].observation, one[2].observation)
        assert infos[slot]["final_info"] == {"success": True}
        assert (observations[slot], infos[slot]["expert_action"]) == (two[0].observation, "go")
        assert rewards[slot] == one[2].reward
        assert after.observations[slot] == two[1].observation


@pytest.mark.parametrize("backend", BACKENDS)
def test_next_step_gives_the_last_step_as_it_is_and_answers_the_next_action_with_a_reset(backend: str) -> None:
    with vector(backend, 2, length=1, autoreset="next_step") as envs:
        envs.reset(seed=5)
        last = envs.step(["a", "b"])
        again = envs.step(["not played", "not played"])
        after = envs.step(["c", "d"])

    for slot, (action, then) in enumerate((("a", "c"), ("b", "d"))):
        one = alone(episode_seed(5, slot, 0), [action], length=1)
        two = alone(episode_seed(5, slot, 1), [then], length=1)
        assert Step(*(column[slot] for column in last)) == one[1]
        assert Step(*(column[slot] for column in again)) == two[0]
        assert after.observations[slot] == two[1].observation


@pytest.mark.parametrize("backend", BACKENDS)
def test_off_leaves_an_episode_ended_until_its_slot_is_reset(backend: str) -> None:
    with vector(backend, 2, length=1, autoreset="off") as envs:
        envs.reset(seed=5)
        last = envs.step(["a", "b"])
        late = envs.step({1: "c"})
        observations, infos = envs.reset(indices=[0, 1])

    assert last.terminated.tolist() == [True, True]
    assert last.infos == [{"success": True}] * 2
    assert late.infos[0]["failure"].error.startswith("EpisodeOver: ")
    assert observations == [alone(episode_seed(5, slot, 1), [])[0].observation for slot in range(2)]
    assert infos == [{}, {}]


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_seed_gives_the_same_episodes_again_and_slots_may_be_seeded_one_by_one(backend: str) -> None:
    with vector(backend, 3, length=2, seed=8) as envs:
        runs = []
        envs.reset()
        for reset in ({}, {"seed": 8}, {"seed": [1, 2], "indices": [2, 0]}):
            observations, _ = envs.reset(**reset)
            slots = sorted(reset.get("indices", range(3)))
            steps = [envs.step(dict.fromkeys(slots, "go")) for _ in range(5)]
            runs.append([observations, *(step.observations for step in steps)])

    assert runs[0][0] == [alone(episode_seed(8, slot, 1), [])[0].observation for slot in range(3)]
    assert runs[1][0] == [alone(episode_seed(8, slot, 0), [])[0].observation for slot in range(3)]
    assert runs[1][4] == [alone(episode_seed(8, slot, 2), [])[0].observation for slot in range(3)]
    assert runs[2][0] == [alone(2, [])[0].observation, alone(1, [])[0].observation]


@pytest.mark.full
@pytest.mark.parametrize("backend", BACKENDS)
def test_the_vectors_seed_is_that_of_its_first_reset(backend: str) -> None:
    with vector(backend, 2, seed=8) as seeded, vector(backend, 2) as unseeded, vector(backend, 2) as another:
        assert seeded.reset()[0] == [alone(episode_seed(8, slot, 0), [])[0].observation for slot in range(2)]
        assert unseeded.reset() != another.reset()


@pytest.mark.parametrize("backend", BACKENDS)
def test_actions_may_be_any_text_and_seeds_any_integers(backend: str) -> None:
    with vector(backend, 2, length=2) as envs:
        observations, _ = envs.reset(seed=list(np.arange(2)))
        steps = [envs.step(list(np.array(["a", "b"]))) for _ in range(3)]

    for slot, action in enumerate("ab"):
        one = alone(slot, [action] * 2, length=2)
        two = alone((slot + STRIDE) % 2**63, [action], length=2)
        assert observations[slot] == one[0].observation
        assert [step.observations[slot] for step in steps] == [step.observation for step in (one[1], two[0], two[1])]


@pytest.mark.parametrize("backend", BACKENDS)
def test_only_the_slots_that_were_sent_something_answer_in_slot_order(backend: str) -> None:
    with vector(backend, 4) as envs:
        assert envs.recv() == []
        envs.reset(seed=0, options={"from": "abroad"})
        observations, rewards, *_ = envs.step({3: "x", 1: "y"})

        assert len(rewards) == 2
        assert [observation.partition(" ")[2] for observation in observations] == ["from abroad, y", "from abroad, x"]
        assert envs.step({}).observations == []
        assert envs.recv(timeout=0) == []


@pytest.mark.parametrize("backend", PARALLEL)
def test_a_slow_slot_delays_no_other(backend: str, tmp_path: Path) -> None:
    door = tmp_path / "door"
    with vector(backend, 4, length=9) as envs:
        envs.reset(seed=0)
        envs.send({0: "go", 1: f"await {door}", 2: "go"})
        # Slots 1 and 3 share a worker, where there are two.
        early = gather(envs, 2)
        assert envs.recv(timeout=0.01) == []
        envs.step({0: "go", 2: "go"})
        door.touch()
        late = gather(envs, 1)

    assert early.keys() == {0, 2}
    assert late.keys() == {1}


@pytest.mark.parametrize("backend", PARALLEL)
def test_what_is_done_arrives_although_a_slow_one_of_the_same_worker_is_still_at_work(
    backend: str, tmp_path: Path
) -> None:
    door = tmp_path / "door"
    with vector(backend, 3, num_workers=1) as envs:
        envs.reset(seed=0)
        envs.send({0: "go", 1: "go", 2: f"await {door}"})
        early = gather(envs, 2)
        door.touch()

        assert early.keys() == {0, 1}
        assert gather(envs, 1).keys() == {2}


@pytest.mark.parametrize("backend", PARALLEL)
def test_the_barrier_form_leaves_what_arrives_meanwhile_to_recv(backend: str, tmp_path: Path) -> None:
    door = tmp_path / "door"
    with vector(backend, 2) as envs:
        envs.reset(seed=0)
        envs.send({1: f"await {door}"})
        envs.step({0: "go"})
        door.touch()
        envs.step({0: "go"})
        assert envs.recv(timeout=20)[0].slot == 1


def test_a_step_that_is_refused_or_interrupted_loses_nothing(tmp_path: Path) -> None:
    with vector("thread", 3) as envs:
        envs.reset(seed=0)
        envs.send({0: "go", 1: f"await {tmp_path / 'door'}"})
        envs.step({2: "nap 0.3"})  # 0 arrives meanwhile
        with pytest.raises(RuntimeError, match="slot 1"):
            envs.step({1: "go"})
        (tmp_path / "door").touch()
        assert gather(envs, 2).keys() == {0, 1}

    with vector("sync", 3) as envs:
        envs.reset(seed=0)
        with pytest.raises(KeyboardInterrupt):
            envs.step(["go", "interrupt", "go"])
        results = gather(envs, 3)
        after = envs.step(["go"] * 3)

    assert [results[slot].failure is None for slot in range(3)] == [True, False, True]
    assert after.observations == [
        alone(episode_seed(0, 0, 0), ["go"] * 2)[-1].observation,
        alone(episode_seed(0, 1, 1), [])[0].observation,
        alone(episode_seed(0, 2, 0), ["go"] * 2)[-1].observation,
    ]


@pytest.mark.parametrize("backend", BACKENDS)
def test_ids_go_to_slots_in_turn_or_by_weight_and_hints_only_where_an_action_is_awaited(backend: str) -> None:
    with vector(backend, 3, ["vector_envs:Walk", "core:Echo-v0"], info_methods=["sample_action"]) as envs:
        ids = [envs.spec_of(slot).id for slot in range(3)]
        _, infos = envs.reset(seed=0)
        step = envs.step([info["sample_action"] for info in infos])
    weighted = gem.make_vec({"vector_envs:Walk": 3, "core:Echo-v0": 1.5}, 8)

    assert ids == ["vector_envs:Walk", "core:Echo-v0", "vector_envs:Walk"]
    assert step.terminated.tolist() == [False, True, False]
    assert step.infos[1].keys() == {"sample_action", "final_observation", "final_info"}
    assert step.infos[1]["final_info"].keys() == {"success"}
    assert [weighted.spec_of(slot).id for slot in range(8)] == ["vector_envs:Walk"] * 5 + ["core:Echo-v0"] * 3


@pytest.mark.parametrize("backend", BACKENDS)
def test_wrappers_and_arguments_reach_every_env(backend: str) -> None:
    with vector(backend, 2, "sample_envs:Sum", wrappers=[Counted, Loud], rounds=1) as envs:
        specs = [envs.spec_of(slot) for slot in range(2)]
        observations, _ = envs.reset(seed=0)
        step = envs.step(["\\boxed{0}"] * 2)

    assert specs == [gem.make("sample_envs:Sum", wrappers=[Counted, Loud], rounds=1).spec] * 2
    assert all(observation.startswith("1: The next number is") for observation in observations)
    assert step.observations == ["2: WRONG."] * 2


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_makes_no_sense_is_refused_and_changes_nothing(backend: str) -> None:
    with vector(backend, 2) as envs:
        with pytest.raises(ResetNeeded, match="slot 0"):
            envs.step(["go", "go"])
        envs.send({0: Reset(seed=0)})
        with pytest.raises(RuntimeError, match=r"recv\(\)"):
            envs.send({1: Reset(), 0: "go"})
        with pytest.raises(IndexError, match="slots 0 to 1"):
            envs.send({2: Reset()})
        with pytest.raises(IndexError, match="slots 0 to 1"):
            envs.send({-1: Reset()})
        with pytest.raises(TypeError, match="slot 1 takes the text of an action or a Reset, not 5"):
            envs.send({1: 5})  # pyright: ignore[reportArgumentType]
        with pytest.raises(ConfigError, match="names a slot twice"):
            envs.reset(indices=[1, 1])
        with pytest.raises(ValueError, match="not -1"):
            envs.send({1: Reset(seed=-1)})
        assert gather(envs, 1).keys() == {0}
        for text in ("it", "text"):  # one text is not a letter for each slot
            with pytest.raises(ConfigError, match=f"a list with an action for each slot, .* not '{text}'"):
                envs.step(text)
        with pytest.raises(ConfigError, match="2 actions, not 1"):
            envs.step(["go"])
        with pytest.raises(ConfigError, match="2 slots need 2 seeds"):
            envs.reset(seed=[1])
    with pytest.raises(RuntimeError, match="closed"):
        envs.reset(seed=0)


@pytest.mark.parametrize("ids", [["sample_envs:Sum", "core:Echo-v0"], {"sample_envs:Sum": 1, "core:Echo-v0": 1}])
def test_one_slot_for_each_id_by_default(ids: object) -> None:
    with gem.make_vec(ids) as envs:
        assert envs.num_envs == 2


@pytest.mark.parametrize(
    ("weights", "seats", "given"),
    [
        ({"a": 1}, 3, "aaa"),
        ({"a": 1, "b": 1}, 3, "aab"),
        ({"a": 0.5, "b": 0.3, "c": 0.2}, 10, "aaaaabbbcc"),
        ({"a": 0.1, "b": 0.1, "c": 9.8}, 2, "cc"),
        ({"a": 41, "b": 29, "c": 30}, 5, "aabcc"),
    ],
)
def test_slots_are_shared_out_by_largest_remainders(weights: dict[str, float], seats: int, given: str) -> None:
    names = {"a": "vector_envs:Walk", "b": "core:Echo-v0", "c": "sample_envs:Sum"}
    with gem.make_vec({names[name]: weight for name, weight in weights.items()}, seats) as envs:
        assert [envs.spec_of(slot).id for slot in range(seats)] == [names[name] for name in given]


def test_gems_own_arguments_are_understood() -> None:
    kwargs = [{"seed": 3, "length": 1}, {"seed": 4, "length": 2}]
    with gem.make_vec([WALK] * 2, wrappers=None, vec_kwargs=kwargs, async_mode=True) as envs:
        observations, _ = envs.reset()
        steps = [envs.step(["go", "go"]) for _ in range(2)]
    with gem.make_vec([WALK, WALK], wrappers=[lambda env: env], seed=3) as plain:
        plain.reset()

    assert observations == [alone(seed, [])[0].observation for seed in (3, 4)]
    assert [step.terminated.tolist() for step in steps] == [[True, False], [True, True]]
    assert kwargs == [{"seed": 3, "length": 1}, {"seed": 4, "length": 2}]


def test_env_kwargs_reach_the_env_and_those_of_a_slot_win() -> None:
    own = [{}, {"backend": "mine"}]
    arguments = {"seed": 3, "backend": "all"}
    with gem.make_vec("vector_envs:Shadowing", 2, env_kwargs=arguments, vec_kwargs=own, seed=5) as envs:
        specs = [envs.spec_of(slot) for slot in range(2)]

    assert [spec.kwargs for spec in specs] == [{"seed": 3, "backend": "all"}, {"seed": 3, "backend": "mine"}]


def test_results_beyond_the_wanted_ones_come_too_if_they_are_there() -> None:
    with vector("thread", 8) as envs:
        envs.send({slot: Reset(seed=slot) for slot in range(8)})
        seen = [result.slot for result in itertools.chain(envs.recv(8), envs.recv())]

    assert sorted(seen) == list(range(8))


class Meeting(TurnEnv):
    """A step ends when every env is in one."""

    MEMBERS = 1500
    gathered = threading.Barrier(MEMBERS)

    def _reset(self, options):
        return ""

    def _step(self, action):
        self.gathered.wait(timeout=60)
        return Step.ongoing("")

    def sample_action(self):
        return ""


def test_as_many_envs_wait_at_once_in_threads_as_there_are() -> None:
    with gem.make_vec("test_vector:Meeting", Meeting.MEMBERS, backend="thread", seed=0) as envs:
        envs.reset()
        envs.step(["go"] * Meeting.MEMBERS)


def test_slots_share_the_threads_there_are_where_the_system_gives_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    given, start = [], threading.Thread.start

    def reluctant(thread: threading.Thread) -> None:
        if len(given) == 3:
            raise RuntimeError("can't start new thread")
        given.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", reluctant)
    with vector("thread", 8, seed=0) as envs:
        envs.reset()
        assert not envs.step(["go 1"] * 8).truncated.any()
    assert len(given) == 3


SLIPS = [
    (lambda envs: envs.step(5), "step takes a list with an action for each slot, or slot → action, not 5"),
    (lambda envs: envs.send(["a", "b"]), "send takes slot → action or Reset, not"),
    (lambda envs: envs.reset(indices=0), "indices must be a list of the slots to reset, not 0"),
    (lambda envs: envs.step({"a": "x"}), "slot 'a' does not exist; this vector has slots 0 to 1"),
    (lambda envs: envs.reset(options=5), "options must be a mapping of names to values, not 5"),
    (lambda envs: envs.reset(options={"form": "x"}), "Walk: reset takes no option 'form'. Did you mean 'from'"),
    (lambda envs: list(rollout(random_policy(), envs, 5)), "starts must be an iterable of seeds or Starts"),
    (lambda envs: next(rollout(random_policy(), envs, ["a"])), "integer"),
    (lambda envs: next(rollout(random_policy(), envs, [1], 0)), "group_size must be an integer >= 1"),
    (lambda envs: next(rollout(lambda a, b: "", envs, [1])), "has the parameters (a, b)"),
    (lambda envs: next(rollout(None, envs, [1])), "a policy is a gem.Policy or a function that returns replies"),
]


@pytest.mark.parametrize(("slip", "message"), SLIPS)
def test_a_slip_is_one_clear_error_and_the_vector_goes_on(slip: Callable[[Any], Any], message: str) -> None:
    with vector("sync", 2) as envs:
        envs.reset(seed=0)
        with pytest.raises((GemError, IndexError, TypeError), match=re.escape(message)):
            slip(envs)
        assert len(envs.step(["a", "b"]).observations) == 2
