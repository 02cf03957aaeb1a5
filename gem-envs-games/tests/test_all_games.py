"""Rules that all games share, beyond the contract: replies, ends of episodes, and the observations."""

import random

import pytest

import gem
from gem_envs_games import plugin

IDS = [spec.id for spec in plugin.gem_envs()]
GAMES = [id for id in IDS if id.endswith("-easy")]
"""One id of each game."""
WITH_BOARD = [id for id in GAMES if "GuessTheNumber" not in id]
LOSING_WITHOUT_A_MOVE = [id for id in GAMES if "WikiGame" not in id]
"""In WikiGame a reply without a title costs a turn, as in gem-llm."""
SAME_EVERY_TIME = {"game:TowerofHanoi-v0", "game:TowerofHanoi-v0-easy", "game:TowerofHanoi-v0-hard"}

JUNK = [
    "\\boxed",
    "\\boxed{" * 1000,
    "}" * 1000,
    "\\boxed{" + "x" * 100_000 + "}",
    "\\boxed{" + " " * 100_000 + "}",
    "\\boxed{" + "1 " * 50_000 + "}",
    "\\boxed{1" + " " * 100_000 + "1" + " " * 100_000 + "1}",
    "\\boxed{" + "9" * 9 + "}",
    "\\boxed{-1}",
    "\\boxed{-1 -1 -1}",
    "\\boxed{99 99 99}",
    "\\boxed{999999999 999999999 999999999}",
    "\\boxed{0 0 0}",
    "\\boxed{reveal -1 -1}",
    "\\boxed{reveal 999999999 0}",
    "\\boxed{flag 99999999999999999999 0}",
    "\\boxed{dig 1 1}",
    "\\boxed{reveal ١ ٢}",
    "\\boxed{reveal ¹ ²}",
    "\\boxed{１ ２ ３}",
    "\\boxed{A D}",
    "\\boxed{А С}",
    "\\boxed{A A}",
    "\\boxed{\\boxed{1 1 1}}",
    "\\boxed{{1}}",
    "\\boxed{up down}",
    "\\boxed{r\u0131ght}",
    "\\boxed{1.5}",
    "\\boxed{1e9}",
    "\\boxed{NaN}",
]
"""Replies that look like moves of some game; those that look like none are the contract's."""


def fuzzed(count):
    """Random strings of the pieces that moves are made of."""
    pieces = [*("\\boxed{", "{", "}", "reveal", "flag", "up", "Left", "A", "C"), *" ,-01٣é\n\x00", "7" * 5000]
    rng = random.Random(0)
    return ["".join(rng.choices(pieces, k=rng.randint(1, 12))) for _ in range(count)]


def play(env, method, seed):
    """The steps of an episode in which this method of the env chooses the actions."""
    env.reset(seed=seed)
    steps = [env.step(getattr(env, method)())]
    while not steps[-1].done:
        steps.append(env.step(getattr(env, method)()))
    return steps


@pytest.mark.parametrize("id", GAMES)
def test_replies_that_look_like_moves_raise_nothing_and_are_echoed_in_bounded_pieces(id):
    env = gem.make(id)
    env.reset(seed=0)
    for action in [*JUNK, *fuzzed(100)]:
        step = env.step(action)
        assert len(step.observation) < 3000
        if step.done:
            env.reset()


@pytest.mark.parametrize("id", LOSING_WITHOUT_A_MOVE)
def test_a_reply_without_a_move_costs_a_tenth_and_loses(id):
    env = gem.make(id)
    for action in ["", "no box", "\\boxed{}", "\\boxed{what?}", "\\boxed{1 2", "\\boxed{½}"]:
        env.reset(seed=0)
        step = env.step(action)
        assert (step.reward, step.terminated, step.truncated) == (-0.1, True, False)
        assert step.info == {"success": False, "malformed": True}


@pytest.mark.parametrize("id", GAMES)
def test_the_last_box_counts_that_holds_a_move(id):
    env, other = gem.make(id), gem.make(id)
    assert env.reset(seed=3) == other.reset(seed=3)
    action = env.expert_action()
    # In WikiGame any text in a box is a title.
    unreadable = "" if "WikiGame" in id else "Not \\boxed{no move!}, "
    reply = f"Perhaps \\boxed{{nonsense}}? No: {action}. {unreadable}I answered inside \\boxed{{}}, or \\fbox{{ }}."
    assert env.step(action) == other.step(reply)


@pytest.mark.parametrize("id", [*GAMES, "game:Sudoku-v0-easy-forgiving"])
@pytest.mark.parametrize("method", ["sample_action", "expert_action"])
def test_a_won_game_returns_1_and_only_the_turn_limit_truncates(id, method):
    env = gem.make(id)
    for seed in range(5):
        steps = play(env, method, seed)
        assert not any("success" in step.info for step in steps[:-1])
        if steps[-1].info["success"]:
            assert steps[-1].terminated
            # A page on the way costs 0.05 in WikiGame.
            price = 0.05 * (len(steps) - 1) if "WikiGame" in id else 0
            assert sum(step.reward for step in steps) == pytest.approx(1 - price)
        if steps[-1].truncated:
            assert len(steps) == env.max_turns


@pytest.mark.parametrize("id", WITH_BOARD)
def test_every_observation_ends_with_the_board_and_asks_for_a_move(id):
    env = gem.make(id)
    observation, _ = env.reset(seed=0)
    step = None
    while step is None or not step.done:
        assert observation.endswith(f"\n{env.unwrapped._board()}\nEnter your move.")
        step = env.step(env.sample_action())
        observation = step.observation
    assert observation.endswith(f"\n{env.unwrapped._board()}")
    assert ("That was your last turn: you lose." in observation) == step.truncated


def test_different_seeds_start_different_episodes():
    starts = {}
    for id in IDS:
        with gem.make(id) as env:
            # Minesweeper places its mines when the first cell is revealed.
            starts[id] = {(env.reset(seed=seed)[0], env.step(env.expert_action()).observation) for seed in range(4)}
    assert {id for id in IDS if len(starts[id]) == 1} == SAME_EVERY_TIME


@pytest.mark.parametrize("id", ["game:FifteenPuzzle-v0-hard", "game:Sokoban-v0-hard"])
def test_an_expert_with_a_plan_resumes_it_from_a_snapshot(id):
    env, other = gem.make(id), gem.make(id)
    env.reset(seed=1)
    env.step(env.expert_action())
    other.restore(env.snapshot())
    while not (step := env.step(env.expert_action())).done:
        assert other.step(other.expert_action()) == step
    assert step.info["success"]
