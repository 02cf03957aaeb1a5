"""Tower of Hanoi: carry a tower of disks to another place, disk by disk."""

import re
from functools import cache

from gem.answers.parsing import boxed
from gem.checks import check_int
from gem.core import Step
from gem_envs_games.board_game import BoardGame
from gem_envs_games.drawn_settings import DrawnSettings
from gem_envs_games.replies import box, last_box_counts

_ACTION = re.compile(r"\s*([A-Za-z])[\s,]*([A-Za-z])\s*")


class TowerOfHanoi(DrawnSettings, BoardGame):
    r"""Move all disks from tower A to tower C, one at a time, never a larger one onto a smaller one.

    The first observation has the rules, and each one has the towers. An action is `\boxed{A C}`: from where, to where.
    From the start the fewest moves are ``2 ** num_disks - 1``.

    Rewards, as in gem-llm: 1 for the last disk; 0 for any other move, except that the last turn, if it does
    not win, earns the share of the disks that are on C. A reply without a move costs 0.1 and loses. A move that
    the rules do not allow uses up a turn and changes nothing.

    Rules, and the proof that the expert's moves are the fewest from any position: A. M. Hinz, S. Klavžar and C. Petr,
    "The Tower of Hanoi – Myths and Maths", 2nd edition (2018), chapter 2.

    Args:
        num_disks: 1 to 10.
        max_turns: moves in an episode.

    Where either is None, each episode draws 3 disks and 10 turns, 4 and 20, or 5 and 35.
    """

    def __init__(self, num_disks: int | None = 3, max_turns: int | None = 100) -> None:
        super().__init__(max_turns=max_turns)
        self._fix_or_draw(num_disks=num_disks)

    def _configure(self, num_disks: int) -> None:
        self.num_disks = check_int("num_disks", num_disks, 1, 10)

    def _draw(self) -> None:
        self.num_disks, self.max_turns = self.rng.choice(((3, 10), (4, 20), (5, 35)))

    def _start(self) -> str:
        # Disks are numbered by size; each tower lists its own from the bottom up.
        self.towers: dict[str, list[int]] = {"A": list(range(self.num_disks, 0, -1)), "B": [], "C": []}
        return _first_observation(self.num_disks, self.max_turns)

    def _step(self, action: str) -> Step:
        match = boxed(action, _ACTION.fullmatch)
        if match is None:
            return self._unreadable("name two towers")
        source, target = match[1].upper(), match[2].upper()
        wrong = self._objection(source, target)
        if wrong:
            return self._ongoing(f"At turn {self.turn}, you tried to move from {source} to {target}, but {wrong}.")
        disk = self.towers[source].pop()
        self.towers[target].append(disk)
        message = f"At turn {self.turn}, you moved disk {disk} from {source} to {target}."
        if len(self.towers["C"]) == self.num_disks:
            return self._ended(f"{message} Congratulations! All disks are on tower C.", 1.0, success=True)
        return self._ongoing(message)

    def _objection(self, source: str, target: str) -> str | None:
        """The reason why the rules do not allow this move, or None."""
        for name in (source, target):
            if name not in self.towers:
                return f"there is no tower {name}"
        if source == target:
            return "a disk has to go to another tower"
        if not self.towers[source]:
            return f"tower {source} is empty"
        disk, below = self.towers[source][-1], self.towers[target][-1:]
        if below and below[0] < disk:
            return f"disk {disk} is larger than disk {below[0]}, the top of {target}"
        return None

    def _partial_reward(self) -> float:
        return len(self.towers["C"]) / self.num_disks

    def _board(self) -> str:
        towers = self.towers
        return f"A: {towers['A']}\nB: {towers['B']}\nC: {towers['C']}"

    def sample_action(self) -> str:
        """A random move that the rules allow."""
        pairs = [(source, target) for source in "ABC" for target in "ABC" if not self._objection(source, target)]
        return box(" ".join(self.action_rng.choice(pairs)))

    def expert_action(self) -> str:
        """The first of the fewest moves that lead from this position to the end."""
        place = {disk: name for name, disks in self.towers.items() for disk in disks}
        move, goal = ("A", "C"), "C"
        # The largest disk that is not where it belongs has to get there, and for that all smaller ones to the third
        # tower; and so on, down to the smallest disk that is not where it belongs, which can move at once.
        for disk in range(self.num_disks, 0, -1):
            if place[disk] != goal:
                move = place[disk], goal
                goal = next(name for name in "ABC" if name not in move)
        return box(" ".join(move))


@cache
def _first_observation(num_disks: int, max_turns: int | None) -> str:
    """The first observation, which is the same in every episode."""
    disks = "1 disk" if num_disks == 1 else f"{num_disks} disks"
    return (
        f"You are playing Tower of Hanoi with {disks}, numbered by size: 1 is the smallest.\n"
        "Move all of them from tower A to tower C to win. A move takes the top disk of one tower and puts it on "
        "another tower that is empty or whose top disk is larger.\n"
        "Name the tower to take from, then the tower to put on: \\boxed{B A} takes the top disk of B to A.\n"
        f"You have {max_turns} turns; each move takes one, also one that is not allowed.\n"
        f"{last_box_counts('move')}\n"
        "Each tower is shown from bottom to top: the last number is its top disk.\n"
        f"A: {list(range(num_disks, 0, -1))}\nB: []\nC: []\n"
        "Enter your move."
    )
