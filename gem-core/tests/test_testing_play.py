"""Episodes as text: what counts as the same, and how a difference is reported."""

from dataclasses import dataclass

import numpy as np
import planted_envs
import pytest

from gem.testing.play import Transition, as_line, difference, play, replay_actions


@dataclass
class Card:
    suit: str


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({"x", "y", "z"}, {"z", "y", "x"}),
        (np.arange(3), [0, 1, 2]),
        (np.float64(0.5), 0.5),
        ((1, 2), [1, 2]),
        (object(), object()),
        (Card("hearts"), Card("hearts")),
    ],
)
def test_what_an_agent_cannot_tell_apart_is_the_same_line(left: object, right: object) -> None:
    assert as_line(left) == as_line(right)


@pytest.mark.parametrize(
    ("left", "right"),
    [(1, 1.0), (1, True), (0.1, 0.1 + 2**-56), (0.0, -0.0), ("1", 1), (Card("hearts"), Card("spades")), ([1], [[1]])],
)
def test_what_differs_in_a_bit_or_a_type_is_another_line(left: object, right: object) -> None:
    assert as_line(left) != as_line(right)


def test_an_episode_is_kept_as_it_was_although_the_env_changes_its_info_later() -> None:
    class Reusing(planted_envs.Good):
        def __init__(self):
            super().__init__()
            self.log = {}

        def step(self, action):
            self.log["turn"] = self.turn
            return super().step(action)._replace(info=self.log)

    lines = [transition.line for transition in play(Reusing(), seed=0, turns=3).transitions]

    assert ['"turn": 0' in lines[1], '"turn": 1' in lines[2], '"turn": 2' in lines[3]] == [True, True, True]


def test_a_difference_names_the_first_turn_and_shows_both_sides_around_the_place() -> None:
    def episode(*lines: str) -> list[Transition]:
        return [Transition(None, "start"), *(Transition("go", line) for line in lines)]

    long = "x" * 1000
    found = difference(episode("same", long + "left" + long), episode("same", long + "right" + long))

    assert found is not None
    assert found.startswith("turn 2 gives …xxx")
    assert "xright" in found
    assert "xleft" in found
    assert len(found) < 300
    assert difference(episode("a", "b"), episode("a", "b")) is None
    assert difference(episode("a", "b"), episode("a")) == "the episode has 1 turns instead of 2"
    assert difference(episode("a"), [Transition(None, "begin")]) == "the reset gives begin instead of start"


def test_replayed_actions_give_the_same_episode() -> None:
    first = play(planted_envs.Good(), seed=5, turns=9)
    again = play(planted_envs.Good(), seed=5, turns=len(first.actions), choose=replay_actions(first.actions))

    assert first.ended
    assert difference(first.transitions, again.transitions) is None
