"""`gymnasium:NAME`: Gymnasium's environments, compared with what Gymnasium itself plays."""

import random
import re
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from sources import broken_checks, differing, recorded

import gem
from gem.errors import ConfigError, MissingExtra, SnapshotError, UnknownId
from gem_interop.envs.gymnasium import GymnasiumEnv, names, resolve
from gem_interop.envs.spaces import actions_of, check_readable, shown

NAMES = ["FrozenLake-v1", "CartPole-v1", "Blackjack-v1", "Taxi-v4", "CliffWalking-v1"]
IDS = [f"gymnasium:{name}" for name in NAMES]
FULL = pytest.mark.full


@pytest.mark.parametrize("name", NAMES)
def test_an_episode_is_the_one_that_gymnasium_plays_from_that_seed(name: str) -> None:
    theirs, rng = gymnasium.make(name), random.Random(0)
    with gem.make(f"gymnasium:{name}") as ours:
        for seed in (0, 1, 2**62):
            expected, _ = theirs.reset(seed=seed)
            observation, _ = ours.reset(seed=seed)
            done = False
            while not done:
                assert shown(theirs.observation_space, expected, ours._labels) in observation
                action = rng.randrange(theirs.action_space.n)
                expected, reward, terminated, truncated, _ = theirs.step(action)
                step = ours.step(f"I choose \\boxed{{{action}}}.")
                assert (step.reward, step.terminated) == (reward, terminated)
                # FrozenLake and others have their limit in Gymnasium's wrapper, CliffWalking has it here alone.
                assert step.truncated == truncated or ours.turn == 200
                observation, done = step.observation, step.done


def test_actions_are_read_by_name_or_number_in_a_box_or_alone() -> None:
    with gem.make("gymnasium:FrozenLake-v1", is_slippery=False) as env:
        for reply in ("right", " Right\n", "2", "\\boxed{right}", "not \\boxed{up} but \\boxed{RIGHT}"):
            first, _ = env.reset(seed=0)
            assert re.search(r"The actions are left, down, right, up\..*\[S\]FFF", first, re.DOTALL)
            assert env.step(reply).observation.startswith("tile 1\n\n(Right)\nS[F]FF")
        for reply in ("", "rightwards", "4", "-1", "\\boxed{4} right", "the action is right", "٢"):
            env.reset(seed=0)
            step = env.step(reply)
            assert (step.terminated, step.reward, step.info) == (True, 0.0, {"success": False, "malformed": True})


def test_success_is_the_registered_threshold_or_one_that_was_given() -> None:
    won = {}
    for threshold in (None, 5, 1000):
        with gem.make("gymnasium:CartPole-v1", success_at=threshold, max_turns=None) as env:
            env.reset(seed=0)
            while not (step := env.step(env.sample_action())).done:
                pass
            won[threshold] = step.info["success"]
    assert won == {None: False, 5: True, 1000: False}


def test_a_limit_on_steps_is_gymnasiums_own_unless_it_is_given() -> None:
    assert [gem.get_spec(id).max_turns for id in IDS] == [100, 500, 200, 200, 200]
    with gem.make("gymnasium:FrozenLake-v1", max_turns=2, is_slippery=False) as env:
        env.reset(seed=0)
        assert [env.step("left").truncated for _ in range(2)] == [False, True]


@pytest.mark.parametrize(
    ("id", "kwargs", "error", "message"),
    [
        ("gymnasium:Pendulum-v1", {}, ConfigError, "cannot be played by writing: its actions are Box"),
        ("gymnasium:FrozenLake-v2", {}, UnknownId, "Did you mean 'gymnasium:FrozenLake-v1'"),
        ("gymnasium:LunarLander-v3", {}, MissingExtra, "needs more: Box2D is not installed"),
        ("gymnasium:phys2d/CartPole-v1", {}, MissingExtra, "needs more: No module named 'jax'"),
        ("gymnasium:FrozenLake-v1", {"slippery": 1}, ConfigError, r"does not take \{'slippery': 1\}: .*unexpected"),
        ("gymnasium:FrozenLake-v1", {"actions": ["a"]}, ConfigError, "there are 4 actions, and 1 names in actions="),
    ],
)
def test_what_cannot_be_played_is_refused_with_the_reason(id: str, kwargs: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        gem.make(id, **kwargs)


def test_every_listed_environment_can_be_played() -> None:
    listed = names()

    assert set(NAMES) <= set(listed)
    for name in listed:
        with gem.make(f"gymnasium:{name}") as env:
            env.reset(seed=0)
            assert env.step(env.sample_action()).info.get("malformed") is None


@pytest.mark.parametrize(
    ("space", "readable", "unreadable"),
    [
        (spaces.Discrete(3, start=5), {"\\boxed{5}": 5, " 7 ": 7}, ["4", "8", "9" * 5000, "seven"]),
        (spaces.MultiDiscrete([2, 3]), {"\\boxed{1, 2}": [1, 2], "(0 0)": [0, 0]}, ["1", "2 0", "1 2 0", "1 x"]),
        (spaces.MultiBinary(3), {"0 1 1": [0, 1, 1]}, ["0 1", "0 1 2"]),
        (spaces.Text(5, charset="ab "), {"ab a": "ab a"}, ["abc", "a" * 6, ""]),
    ],
)
def test_a_reply_is_an_action_of_every_space_that_can_be_written(
    space: Any, readable: dict[str, Any], unreadable: list[str]
) -> None:
    actions = actions_of(space)
    for reply, expected in readable.items():
        action = actions.of_reply(reply)
        assert space.contains(action)
        assert np.array_equal(action, expected)
    assert [reply for reply in unreadable if actions.of_reply(reply) is not None] == []
    rng = random.Random(0)
    assert all(space.contains(actions.of_reply(actions.sample(rng))) for _ in range(50))


def test_observations_of_every_space_that_can_be_read_are_text() -> None:
    grid, odds = spaces.Box(0, 5, (2, 2), np.int64), spaces.Box(0, 1, (2,))
    space = spaces.Dict({"at": spaces.Discrete(9), "grid": grid, "say": spaces.Text(9), "odds": odds})
    value = {"at": np.int64(3), "grid": np.array([[1, 2], [3, 4]]), "say": "hm \ud800", "odds": np.array([1 / 3, 1.0])}
    check_readable(space)

    assert shown(space, value) == "at: 3\ngrid: 1 2\n3 4\nodds: 0.3333, 1\nsay: hm ?"
    for odd in (spaces.Box(0, 255, (64, 64, 3), np.uint8), spaces.Tuple([spaces.Graph(spaces.Discrete(2), None)])):
        with pytest.raises(ConfigError, match=r"arrays of 64 x 64 x 3 numbers|of the space Graph"):
            check_readable(odd)


class Fickle(gymnasium.Env[int, int]):
    """Observes something else every time it is asked."""

    observation_space, action_space = spaces.Discrete(10**6), spaces.Discrete(2)
    count = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        return self._count(), {}

    def step(self, action: int) -> Any:
        return self._count(), 0.0, False, False, {"arrays": np.zeros(2), "object": self.action_space}

    def _count(self) -> int:
        Fickle.count += 1
        return Fickle.count


def test_what_does_not_repeat_itself_is_said_and_its_snapshot_refused() -> None:
    gymnasium.register("Fickle-v0", Fickle, nondeterministic=True)
    try:
        spec = resolve("Fickle-v0")
        assert spec
        assert any("not deterministic" in note for note in spec.notes)
        with gem.make("gymnasium:Fickle-v0") as env:
            env.reset(seed=0)
            assert env.step("1").info["gymnasium"] == {"arrays": [0.0, 0.0], "object": "Discrete(2)"}
            with pytest.raises(SnapshotError, match="another observation, '4'"):
                env.restore(env.snapshot())
    finally:
        del gymnasium.registry["Fickle-v0"]


@pytest.mark.parametrize("id", [IDS[0], *(pytest.param(id, marks=FULL) for id in IDS[1:])])
def test_the_contract_is_kept(id: str) -> None:
    leave_out = () if id == IDS[1] else ("spawning", "determinism", "leaks", "imports")  # these are slow, and alike
    assert broken_checks(id, leave_out) == {}


@pytest.mark.parametrize(
    ("backend", "episodes"),
    [("thread", 2), pytest.param("thread", 20, marks=FULL), pytest.param("process", 20, marks=FULL)],
)
def test_episodes_of_each_in_a_vector_are_recorded_and_reproduced(backend: str, episodes: int, tmp_path: Path) -> None:
    records = recorded(tmp_path / "episodes.jsonl", IDS, backend, episodes)

    assert differing(records) == []


def test_an_env_is_closed_that_cannot_be_played(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[str] = []
    monkeypatch.setattr(GymnasiumEnv, "close", lambda self: closed.append("closed"))
    with pytest.raises(ConfigError):
        gem.make("gymnasium:Pendulum-v1")

    assert closed == ["closed"]
