"""Every wrapper and every stack of three, in the middle of an episode: snapshot, restore, fork, pickle, copy."""

import copy
import itertools
import pickle
from functools import partial

import pytest
from sample_envs import Sum

import gem
from gem.core import Env
from gem.errors import SnapshotError
from gem.wrappers import (
    Concat,
    ConcatChat,
    ConcatChatOnReset,
    ConcatWithAction,
    EpisodeTracking,
    TimeLimit,
    TurnLimit,
)


def tagged(messages) -> str:
    return "".join(f"<{message['role']}>{message['content']}" for message in messages)


WRAPPERS = {
    "concat": partial(Concat, max_history_length=3),
    "concat_with_action": ConcatWithAction,
    "concat_chat": partial(ConcatChat, tokenizer=tagged, max_history_length=2),
    "concat_chat_on_reset": partial(ConcatChatOnReset, tokenizer=tagged),
    "episode_tracking": EpisodeTracking,
    "turn_limit": partial(TurnLimit, max_turns=7),
    "time_limit": partial(TimeLimit, seconds=3600),
}
STACKS = [(), *((name,) for name in WRAPPERS), *itertools.permutations(WRAPPERS, 3)]


def build(names: tuple[str, ...], **kwargs: int) -> Env:
    env: Env = Sum(rounds=8, largest=10**6, max_turns=12, **kwargs)
    for name in names:
        env = WRAPPERS[name](env)
    return env


def play(env: Env, turns: int) -> list[object]:
    """Right, wrong and random answers, until the end or for `turns`."""
    seen: list[object] = []
    for turn in range(turns):
        action = [env.expert_action(), "\\boxed{0}", env.sample_action()][turn % 3]
        seen.append((action, env.step(action)))
        if seen[-1][1].done:
            break
    return seen


@pytest.mark.parametrize("innermost", ["none", *WRAPPERS])
def test_a_restored_stack_of_wrappers_continues_in_the_middle_of_an_episode(innermost: str) -> None:
    for names in (stack for stack in STACKS if (stack or ("none",))[0] == innermost):
        env, other = build(names), build(names)
        env.reset(seed=5)
        other.reset(seed=6)
        play(env, 4)
        play(other, 2)
        state = env.snapshot()
        (fork,) = env.fork(1)
        expected = (play(env, 99), env.reset(), play(env, 3))

        env.restore(state)
        other.restore(state)

        for again in (env, other, fork):
            assert (play(again, 99), again.reset(), play(again, 3)) == expected, names


@pytest.mark.parametrize("turns", range(8))
def test_a_snapshot_after_any_turn_leads_to_the_same_end(turns: int) -> None:
    names = ("concat_with_action", "turn_limit", "episode_tracking")
    env, other = build(names), build(names)
    env.reset(seed=5)
    other.reset(seed=5)
    before = play(env, turns)
    state = env.snapshot()
    other.restore(state)

    assert len(before) == turns
    if not (before and before[-1][1].done):
        assert play(env, 99) == play(other, 99)
    for finished in (env, other):
        with pytest.raises(gem.errors.EpisodeOver):
            finished.step("\\boxed{1}")


@pytest.mark.parametrize("name", WRAPPERS)
def test_a_wrapper_can_be_pickled_in_mid_episode(name: str) -> None:
    env = build(("episode_tracking", name))
    env.reset(seed=5)
    play(env, 4)

    copies = [pickle.loads(pickle.dumps(env)), copy.deepcopy(env)]

    expected = play(env, 99)
    assert [play(each, 99) for each in copies] == [expected] * 2


def test_a_tokenizer_is_neither_in_a_snapshot_nor_copied_by_a_fork() -> None:
    class Tokenizer:
        def __reduce__(self):
            raise TypeError("far too large")

        def apply_chat_template(self, conversation, *, tokenize, add_generation_prompt):
            return str(len(conversation))

    for wrapper, shown in ((ConcatChat, "3"), (ConcatChatOnReset, "1\n\\boxed{0}\nWrong.\n")):
        tokenizer = Tokenizer()
        env = wrapper(Sum(), tokenizer)
        env.reset(seed=0)
        (fork,) = env.fork(1)

        assert fork.tokenizer is tokenizer
        assert fork.step("\\boxed{0}").observation == shown


def test_a_snapshot_of_a_wrapper_with_other_settings_is_refused() -> None:
    env, other, same = (TurnLimit(Sum(), max_turns=limit) for limit in (2, 9, 2))
    env.reset(seed=0)
    with pytest.raises(SnapshotError, match="of a TurnLimit with max_turns=2, and this one has max_turns=9"):
        other.restore(env.snapshot())
    same.restore(env.snapshot())

    assert [same.step("\\boxed{0}").truncated for _ in range(2)] == [False, True]


def test_a_snapshot_of_another_stack_is_refused_and_changes_nothing() -> None:
    env = build(("concat", "turn_limit"))
    env.reset(seed=0)
    (same,) = env.fork(1)
    for names in (("turn_limit", "concat"), ("concat",), ("concat_with_action", "turn_limit"), ()):
        other_env = build(names)
        other_env.reset(seed=9)
        with pytest.raises(SnapshotError):
            env.restore(other_env.snapshot())

    assert play(env, 99) == play(same, 99)


def test_the_spec_and_the_attributes_of_the_env_show_through_a_stack() -> None:
    env = gem.make(
        "sample_envs:Sum", wrappers=[WRAPPERS[name] for name in ("concat", "episode_tracking", "turn_limit")], rounds=5
    )

    assert env.spec is env.unwrapped.spec
    assert env.spec.kwargs == {"rounds": 5}
    assert env.rounds == 5
    assert not hasattr(env, "no_such_thing")
    with pytest.raises(AttributeError, match="TurnLimit has no attribute '_lengths'"):
        _ = env._lengths


def test_a_half_made_wrapper_has_no_attributes_and_no_endless_recursion() -> None:
    blank = TurnLimit.__new__(TurnLimit)

    with pytest.raises(AttributeError, match="'env'"):
        _ = blank.env
    with pytest.raises(AttributeError):
        _ = blank.rounds
