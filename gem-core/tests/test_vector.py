"""The vector engine: slots, and what is sent to and received from them."""

import pytest
from sample_envs import Counted, Sum

import gem
from gem.errors import ConfigError, EpisodeOver, UnknownId
from gem.vector import Reset, VectorEnv

pytestmark = pytest.mark.usefixtures("core_only")


def test_each_slot_plays_as_the_env_alone_would() -> None:
    alone = gem.make("sample_envs:Sum")
    with gem.make_vec("sample_envs:Sum", 3) as envs:
        envs.send({slot: Reset(seed=slot) for slot in range(3)})
        starts = {arrival.slot: arrival.step for arrival in envs.recv(min_results=3)}
        envs.send(dict.fromkeys(range(3), "\\boxed{5}"))
        steps = {arrival.slot: arrival.step for arrival in envs.recv(min_results=3)}

    for slot in range(3):
        observation, info = alone.reset(seed=slot)
        assert starts[slot] == (observation, 0.0, False, False, info)
        assert steps[slot] == alone.step("\\boxed{5}")


def test_only_the_slots_that_were_sent_something_answer() -> None:
    with gem.make_vec("sample_envs:Sum", 3) as envs:
        envs.send({2: Reset(seed=0)})

        assert [arrival.slot for arrival in envs.recv()] == [2]
        assert envs.recv() == []


def test_ids_go_to_slots_in_turn_and_arguments_to_all() -> None:
    with gem.make_vec(["sample_envs:Sum", "core:Echo-v0"], 3) as envs:
        ids = [envs.id_of(slot) for slot in range(envs.num_envs)]
    with gem.make_vec("sample_envs:Sum", 2, hints=["expert_action"], rounds=1) as envs:
        envs.send({slot: Reset(seed=0) for slot in range(2)})
        envs.send({arrival.slot: arrival.step.info["expert_action"] for arrival in envs.recv(2) if arrival.step})
        steps = [arrival.step for arrival in envs.recv(2)]

    assert ids == ["sample_envs:Sum", "core:Echo-v0", "sample_envs:Sum"]
    assert [step.terminated for step in steps if step] == [True, True]


def test_one_slot_for_each_id_by_default() -> None:
    with gem.make_vec(["sample_envs:Sum", "core:Echo-v0"]) as envs:
        assert envs.num_envs == 2


def test_hints_are_given_with_every_observation_that_waits_for_an_answer() -> None:
    with gem.make_vec("sample_envs:Sum", hints=["expert_action"], rounds=2) as envs:
        envs.send({0: Reset(seed=0)})
        for _ in range(2):
            (arrival,) = envs.recv()
            assert arrival.step is not None
            envs.send({0: arrival.step.info["expert_action"]})
        (last,) = envs.recv()

    assert last.step is not None
    assert last.step.info == {"success": True}


def test_a_slot_that_does_not_exist_or_has_something_to_do_is_refused() -> None:
    with gem.make_vec("sample_envs:Sum", 2) as envs:
        for slot in (-1, 2):
            with pytest.raises(IndexError, match="slots 0 to 1"):
                envs.send({slot: Reset()})
        envs.send({0: Reset(seed=0)})
        with pytest.raises(RuntimeError, match="recv"):
            envs.send({0: "\\boxed{1}"})

        assert [arrival.slot for arrival in envs.recv()] == [0]


@pytest.mark.parametrize(("ids", "num_envs"), [("core:Echo-v0", 0), ([], None), ([], 3)])
def test_a_vector_without_slots_is_refused(ids: str | list[str], num_envs: int | None) -> None:
    with pytest.raises(ConfigError, match="at least one"):
        gem.make_vec(ids, num_envs)


def test_an_id_that_nobody_provides_is_refused_before_anything_runs() -> None:
    with pytest.raises(UnknownId):
        gem.make_vec(["core:Echo-v0", "core:Ecko-v0"])


def test_an_env_that_raises_fails_alone_and_its_slot_is_rebuilt_and_goes_on() -> None:
    with gem.make_vec("sample_envs:Fragile", 2) as envs:
        envs.send({0: Reset(seed=0), 1: Reset(seed=2)})
        envs.recv(min_results=2)
        envs.send({0: "break", 1: "\\boxed{0}"})
        broken, sound = sorted(envs.recv(min_results=2))
        envs.send({0: Reset(seed=4)})
        (again,) = envs.recv()

    assert broken.step is None
    assert broken.failure is not None
    assert broken.failure.error == "ZeroDivisionError: division by zero"
    assert "sample_envs.py" in broken.failure.traceback
    assert sound.failure is None
    assert again.step is not None


def test_a_step_without_a_reset_or_after_the_end_is_a_failure_of_that_slot() -> None:
    with gem.make_vec("sample_envs:Sum") as envs:
        envs.send({0: "\\boxed{0}"})
        (early,) = envs.recv()
        for message in (Reset(seed=0), "no box", "no box"):
            envs.send({0: message})
            (late,) = envs.recv()

    assert early.failure is not None
    assert early.failure.error.startswith("ResetNeeded: ")
    assert late.failure is not None
    assert late.failure.error.startswith(f"{EpisodeOver.__name__}: ")


def test_closing_closes_every_env_and_may_be_done_twice() -> None:
    closed: list[gem.Env] = []

    class Closing(gem.Wrapper):
        def close(self):
            closed.append(self)
            super().close()

    envs = gem.make_vec("sample_envs:Sum", 3, wrappers=[Closing])
    envs.close()
    assert len(set(closed)) == 3
    envs.close()


def test_envs_built_by_hand_are_known_by_their_class() -> None:
    with VectorEnv([lambda: Counted(Sum())]) as envs:
        assert envs.id_of(0) == "Sum"
