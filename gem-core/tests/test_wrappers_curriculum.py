"""The curriculum: which level an episode is played on, and that an episode follows from its seed and its level."""

import json
from functools import partial

import pytest
from sample_envs import Closable, Counted, Sum
from vector_backends import BACKENDS, vector

import gem
from gem.core import Env
from gem.errors import ConfigError, SnapshotError
from gem.rollout import Start, rollout
from gem.rollout.policy import expert_policy
from gem.vector import Reset
from gem.vector.mixture import MixtureEnv, options_for
from gem.wrappers import Curriculum

LEVELS = [{"largest": 9}, {"largest": 99}, {"largest": 999}]


def made(env: Env | None = None, **settings) -> Curriculum:
    return Curriculum(env or Sum(rounds=1, max_turns=5), levels=LEVELS, **{"window": 4, **settings})


def play(env: Env, outcomes: str) -> list[int]:
    """The levels of one episode for each letter: + succeeds, - fails."""
    levels = []
    for seed, outcome in enumerate(outcomes):
        _, info = env.reset(seed=seed)
        levels.append(info["level"])
        step = env.step(env.expert_action() if outcome == "+" else "no box")
        assert (step.done, step.info["success"], step.info["level"]) == (True, outcome == "+", info["level"])
    return levels


@pytest.mark.parametrize(
    ("outcomes", "levels"),
    [
        ("++++" "++++" "+++++", "0000" "1111" "22222"),  # up, and at the top it stays
        ("----" "----", "0000" "0000"),  # at the bottom it stays
        ("++-+" "+++" "+-", "0000" "000" "11"),  # 0.75 is not enough; 4 of the last 4 are
        ("++++" "-+--" "+", "0000" "1111" "0"),  # 0.25 is below 0.3
        ("++++" "-++-" "---", "0000" "1111" "110"),  # 0.5 and 0.25: the oldest are forgotten
        ("++++" "----" "----" "+", "0000" "1111" "0000" "0"),  # what was lost above does not count below
    ],
)  # fmt: skip
def test_success_leads_up_and_failure_down(outcomes, levels):
    assert play(made(), outcomes) == [int(level) for level in levels]


def test_each_level_is_the_env_with_these_settings():
    env = made(window=1, promote=1.0)
    largest = []
    for _ in range(4):
        play(env, "+")
        largest.append(env.unwrapped.largest)
    assert largest == [9, 99, 999, 999]
    assert (env.unwrapped.rounds, env.unwrapped.max_turns) == (1, 5)


def test_an_episode_that_is_given_up_does_not_count():
    env = made(window=1, promote=1.0)
    for seed in range(5):
        assert env.reset(seed=seed)[1]["level"] == 0


def test_an_episode_follows_from_its_seed_and_its_level():
    fresh, moved = made(), made()
    play(moved, "++++++")
    assert moved.level == 1
    for level in range(3):
        first, second = (env.reset(seed=7, options={"level": level}) for env in (fresh, moved))
        assert first == second
        assert fresh.env.reset(seed=7)[0] == Sum(rounds=1, max_turns=5, **LEVELS[level]).reset(seed=7)[0]


def test_without_seeds_the_episodes_of_the_next_level_are_deterministic():
    def observations():
        env = made(window=1, promote=1.0)
        seen = [env.reset(seed=3)[0]]
        for _ in range(4):
            env.step(env.expert_action())
            seen.append(env.reset()[0])
        return seen

    assert observations() == observations()
    assert len(set(observations())) > 3


def test_other_options_reach_the_env():
    class Optional(Sum):
        reset_options = ("more",)

        def _reset(self, options):
            return f"{dict(options)}"

    env = Curriculum(Optional(), levels=[{}, {}])
    assert env.reset(seed=0, options={"level": 1, "more": 2})[0] == "{'more': 2}"


def test_it_survives_a_snapshot_on_any_level_in_the_middle_of_an_episode():
    env = made(Counted(Sum(rounds=3)))
    for _ in range(5):
        env.reset(seed=0)
        while not env.step(env.expert_action()).done:
            pass
    env.reset(seed=1)
    env.step(env.expert_action())
    assert env.level == 1
    state = env.snapshot()
    other = made(Counted(Sum(rounds=3)))
    other.restore(state)
    (fork,) = env.fork(1)
    for copy in (other, fork):
        assert copy.level == 1
        assert copy.snapshot() == state
    assert env.step("\\boxed{5}") == other.step("\\boxed{5}") == fork.step("\\boxed{5}")


@pytest.mark.parametrize("state", [b"", b"nonsense", b"\0\0\0\0nonsense", b"\0\0\0\7"])
def test_a_foreign_snapshot_is_refused_and_changes_nothing(state):
    env = made()
    env.reset(seed=0)
    before = env.snapshot()
    with pytest.raises(SnapshotError):
        env.restore(state)
    assert env.snapshot() == before


def test_it_goes_into_a_vector_by_partial():
    curriculum = partial(Curriculum, levels=LEVELS)
    with gem.make_vec("sample_envs:Sum", 2, backend="process", wrappers=[curriculum]) as envs:
        _, infos = envs.reset(seed=0)
        assert [info["level"] for info in infos] == [0, 0]
        _, infos = envs.reset(seed=0, options={"level": 1})
        assert [info["level"] for info in infos] == [1, 1]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"levels": []}, "needs levels"),
        ({"levels": [{"largest": 9}, {"size": 3}]}, "level 1 of the curriculum.*size"),
        ({"levels": [{"max_turns": 0}]}, "level 0 of the curriculum.*max_turns"),
        ({"promote": 0.3}, "demote=0.3 and promote=0.3"),
        ({"demote": -0.1}, "demote=-0.1"),
        ({"promote": 1.1}, "promote=1.1"),
        ({"window": 0}, "window"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        made(**settings) if "levels" not in settings else Curriculum(Sum(), **settings)


@pytest.mark.parametrize(
    "settings", [{"levels": [{}, {"largest": 9}, {"max_turns": 0}]}, {"levels": [{}, {}], "window": 0}]
)
def test_a_curriculum_that_is_refused_leaves_no_env_open(settings):
    made = []

    class Noted(Closable):
        def __init__(self, **settings):
            super().__init__(**settings)
            made.append(self)

    with Noted() as env, pytest.raises(ConfigError):
        Curriculum(env, **settings)
    assert all(env.closed for env in made)


CURRICULUM = {"name": "curriculum", "levels": LEVELS, "window": 2}
MIXED = {"sample_envs:Sum": 3, "core:Echo-v0": 1}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("ids", "wrappers"), [("sample_envs:Sum", [CURRICULUM, "sample_envs:Counted"]), (MIXED, [])])
def test_a_vector_continues_from_the_progress_of_another_in_every_slot(backend, ids, wrappers):
    """Half of a run, and the other half in new envs, are a whole run."""
    settings = {"info_methods": ["expert_action"], "wrappers": wrappers}

    def levels(envs, seeds):
        starts = [Start(seed, "sample_envs:Sum") for seed in seeds]
        return {episode.seed: episode.turns[-1].info.get("level") for episode in rollout(expert_policy(), envs, starts)}

    with vector("sync", 2, ids, **settings) as envs:
        whole = levels(envs, range(8)) | levels(envs, range(8, 12))
    with vector(backend, 2, ids, **settings) as envs:
        first = {}
        for seeds in ([0, 1], [2, 3], [4, 5], [6, 7]):  # in step, as the sync backend plays them
            first |= levels(envs, seeds)
        kept = json.loads(json.dumps(envs.progress()))
    with vector(backend, 2, ids, **settings) as envs:
        assert envs.progress() != kept or not wrappers
        envs.set_progress(kept)
        assert envs.progress() == kept
        second = levels(envs, [8, 9]) | levels(envs, [10, 11])

    assert first | second == whole
    assert set(whole.values()) == ({0, 1, 2} if wrappers else {None})


def test_a_curriculum_in_a_mixture_keeps_its_level_and_other_ids_do_not_matter():
    makers = {"plain": Sum, "rising": made, "other": made}
    env = MixtureEnv(makers, ["plain"])
    for seed in range(9):
        env.reset(seed=seed, options=options_for("rising"))
        env.step(env.expert_action())
    later = MixtureEnv(makers, ["plain"])
    later.set_progress(env.progress())

    assert later.reset(seed=0, options=options_for("rising"))[1]["level"] == 2
    assert later.reset(seed=0, options=options_for("other"))[1]["level"] == 0
    with pytest.raises(ConfigError, match="do not play 'rising'"):
        MixtureEnv({"plain": Sum}, ["plain"]).set_progress(env.progress())


def test_the_progress_of_slots_with_a_pending_result_is_that_after_it():
    curriculum = {**CURRICULUM, "window": 1}
    with vector("thread", 2, "sample_envs:Sum", wrappers=[curriculum], rounds=1) as envs:
        envs.reset(seed=0)
        envs.send({1: "no box"}, autoreset="off")
        assert [each["successes"] for each in envs.progress()] == [[], [False]]
        (result,) = envs.recv()
        assert (result.slot, result.step.terminated) == (1, True)
        envs.send({1: Reset()})
        with pytest.raises(RuntimeError, match="slot 1 is still pending"):
            envs.set_progress([None])


def test_progress_of_another_curriculum_is_refused():
    with vector("sync", 1, "sample_envs:Sum", wrappers=[CURRICULUM]) as envs:
        kept = envs.progress()
    with (
        vector("sync", 2, "sample_envs:Sum", wrappers=[{**CURRICULUM, "levels": [{}]}]) as envs,
        pytest.raises(ConfigError, match="this curriculum has 1 levels, and not 3"),
    ):
        envs.set_progress(kept)


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_env_that_is_built_again_after_a_failure_keeps_its_level(backend):
    curriculum = {**CURRICULUM, "window": 1}
    with vector(backend, 1, "sample_envs:Fragile", wrappers=[curriculum], rounds=1, autoreset="off") as envs:
        envs.reset(seed=[0])
        kept = {"level": 1, "successes": [], "inner": [None] * 3}
        envs.set_progress([kept])
        envs.reset(seed=[2])
        assert envs.step(["break"]).infos[0]["failure"].error.startswith("ZeroDivisionError")
        assert envs.reset(seed=[4])[1][0]["level"] == 1


@pytest.mark.parametrize("level", [-1, 3, "1"])
def test_a_level_that_is_not_there_is_refused(level):
    with pytest.raises(ConfigError, match="level"):
        made().reset(options={"level": level})
