from collections import deque
from itertools import product

import pytest

from gem_envs_games.tower_of_hanoi import TowerOfHanoi


def neighbours(state):
    """The states one legal move away, for a state that names each disk's tower, the smallest disk's first."""
    for disk, tower in enumerate(state):
        if tower in state[:disk]:
            continue
        for target in "ABC":
            if target != tower and target not in state[:disk]:
                yield (*state[:disk], target, *state[disk + 1 :])


def distances(disks):
    """Fewest moves from every state to all disks on C, by breadth-first search."""
    goal = ("C",) * disks
    found, queue = {goal: 0}, deque([goal])
    while queue:
        state = queue.popleft()
        for other in neighbours(state):
            if other not in found:
                found[other] = found[state] + 1
                queue.append(other)
    return found


def state_of(env):
    place = {disk: name for name, disks in env.towers.items() for disk in disks}
    return tuple(place[disk] for disk in range(1, env.num_disks + 1))


def set_state(env, state):
    env.towers = {name: [d for d in range(len(state), 0, -1) if state[d - 1] == name] for name in "ABC"}


@pytest.mark.parametrize("disks", range(1, 7))
def test_the_expert_moves_one_step_nearer_to_the_end_from_every_state(disks):
    distance = distances(disks)
    assert len(distance) == 3**disks
    env = TowerOfHanoi(disks, max_turns=3**disks)
    env.reset(seed=0)
    assert distance[state_of(env)] == 2**disks - 1
    for state in product("ABC", repeat=disks):
        if distance[state] == 0:
            continue
        env.reset()
        set_state(env, state)
        env.step(env.expert_action())
        assert distance[state_of(env)] == distance[state] - 1


@pytest.mark.parametrize("disks", range(1, 6))
def test_the_expert_wins_in_the_fewest_moves(disks):
    env = TowerOfHanoi(disks, max_turns=2**disks - 1)
    env.reset(seed=0)
    step = env.step(env.expert_action())
    while not step.done:
        assert step.reward == 0
        step = env.step(env.expert_action())
    assert step.info["success"]
    assert step.reward == 1
    assert env.turn == 2**disks - 1


def test_exactly_the_legal_moves_change_the_towers():
    env = TowerOfHanoi(3, max_turns=1000)
    for state in product("ABC", repeat=3):
        for source, target in product("ABC", repeat=2):
            env.reset(seed=0)
            set_state(env, state)
            env.step(f"\\boxed{{{source} {target}}}")
            after = state_of(env)
            top = min((disk for disk in range(3) if state[disk] == source), default=None)
            moved = None if top is None else (*state[:top], target, *state[top + 1 :])
            assert after == (moved if moved in set(neighbours(state)) else state)


@pytest.mark.parametrize(
    ("move", "reason"),
    [
        ("A A", "another tower"),
        ("B C", "tower B is empty"),
        ("A D", "no tower D"),
        ("x a", "no tower X"),
        ("A C", "disk 2 is larger than disk 1"),
    ],
)
def test_a_move_that_is_not_allowed_uses_up_a_turn_and_says_why(move, reason):
    env = TowerOfHanoi(3)
    env.reset(seed=0)
    env.step("\\boxed{A C}")
    before = state_of(env)
    step = env.step(f"\\boxed{{{move}}}")
    assert reason in step.observation
    assert not step.done
    assert step.reward == 0
    assert env.turn == 2
    assert state_of(env) == before


@pytest.mark.parametrize("reply", ["A C", "a c", "A, C", "AC", "  a  ,c ", "A\nC"])
def test_case_commas_and_spaces_do_not_matter(reply):
    env = TowerOfHanoi(3)
    env.reset(seed=0)
    assert "you moved disk 1 from A to C" in env.step(f"\\boxed{{{reply}}}").observation


def test_the_last_turn_and_no_other_earns_the_share_of_disks_on_c():
    env = TowerOfHanoi(4, max_turns=4)
    env.reset(seed=0)
    steps = [env.step(f"\\boxed{{{move}}}") for move in ("A B", "A C", "B C", "A A")]
    assert [step.reward for step in steps] == [0, 0, 0, 0.5]
    assert steps[-1].truncated
    assert not steps[-1].info["success"]
