"""Sokoban: push every box onto a goal."""

from collections.abc import Sequence

from gem.checks import check_int
from gem.core import Step
from gem.errors import ConfigError
from gem_envs_games.board_game import BoardGame
from gem_envs_games.directions import DIRECTIONS, direction
from gem_envs_games.drawn_settings import DrawnSettings
from gem_envs_games.replies import box, last_box_counts
from gem_envs_games.sokoban.levels import make_level
from gem_envs_games.sokoban.rules import Path, moved, rest_of_path
from gem_envs_games.sokoban.solver import solve

TURNS_FOR_A_BOX = 10
"""The fewest turns per box, as in gem-llm's settings: with fewer, drawing a level might take long."""


class Sokoban(DrawnSettings, BoardGame):
    r"""Push boxes through a room until every one is on a goal.

    The first observation has the rules, and each one has the board. An action is `\boxed{up}`, `down`, `left` or
    `right`: where the player goes.

    The rules are those of Thinking Rabbit's Sokoban (1982): the player goes one cell at a time, pushes a box that is
    in the way if the cell behind it is free, and never pulls one or pushes two. There are as many goals as boxes.

    A level is made by playing backwards from its end, so it can always be solved, and within `max_turns`. At its start
    no box is on a goal.

    Rewards, as in gem-llm: 1 for the last box on a goal; 0 for any other move, except that the last turn, if it does
    not win, earns the share of the boxes that are on goals. A reply without a direction costs 0.1 and loses. A move
    against a wall, or against a box that cannot move, uses up a turn and changes nothing.

    The expert takes the shorter of two paths: the one by which the level was made, and the one that `solve` finds. Off
    both it searches again; where no path is found, for example because a box is stuck, it goes in the first direction
    it can.

    Args:
        dim_room: rows and columns of the room with its walls, 5 to 10 each.
        max_turns: moves in an episode, at least 10 for each box.
        num_boxes: 1 to 5, and no more than a box for four cells inside the walls.

    Where any of the three is None, each episode draws 6 x 6 cells with 2 boxes and 20 turns, or 8 x 8 with 5 and 50.
    """

    def __init__(
        self, dim_room: Sequence[int] | None = (6, 6), max_turns: int | None = 100, num_boxes: int | None = 3
    ) -> None:
        super().__init__(max_turns=max_turns)
        self._fix_or_draw(dim_room=dim_room, num_boxes=num_boxes)

    def _configure(self, dim_room: Sequence[int], num_boxes: int) -> None:
        if not isinstance(dim_room, tuple | list) or len(dim_room) != 2:
            raise ConfigError(f"dim_room is a number of rows and a number of columns, not {dim_room!r}")
        self.rows = check_int("dim_room's rows", dim_room[0], 5, 10)
        self.cols = check_int("dim_room's cols", dim_room[1], 5, 10)
        most = min((self.rows - 2) * (self.cols - 2) // 4, 5)
        self.num_boxes = check_int(f"num_boxes in {self.rows} x {self.cols} cells", num_boxes, 1, most)
        if self.turn_limit < TURNS_FOR_A_BOX * num_boxes:
            raise ConfigError(
                f"max_turns is at least {TURNS_FOR_A_BOX} for each of the {num_boxes} boxes, not {self.max_turns}"
            )

    def _draw(self) -> None:
        self.rows, self.num_boxes, self.max_turns = self.rng.choice(((6, 2, 20), (8, 5, 50)))
        self.cols = self.rows

    def _start(self) -> str:
        self.level, path = make_level(self.rows, self.cols, self.num_boxes, self.turn_limit, self.rng)
        self._path: Path = path
        self.position = self.level.start
        # Whether the expert has looked for a path, and the boxes for which it last found none.
        self._searched = False
        self._unsolvable: frozenset[int] | None = None
        boxes = "1 box" if self.num_boxes == 1 else f"{self.num_boxes} boxes"
        return self._ask(
            f"You are playing Sokoban: a room of {self.rows} rows and {self.cols} columns with {boxes} and as many "
            "goals.\n"
            "Push every box onto a goal to win; any box on any goal will do.\n"
            "\\boxed{up}, \\boxed{down}, \\boxed{left} or \\boxed{right} takes you one cell further. If a box is "
            "there, you push it one cell in the same direction. That needs a free cell behind it: you cannot push a "
            "box into a wall or another box, and you cannot pull.\n"
            f"You have {self.max_turns} turns, which is enough; each move takes one, also one that is not possible.\n"
            f"{last_box_counts('move')}\n"
            "On the board, P is you, S is you on a goal, X is a box, √ is a box on a goal, O is a goal, # is a wall "
            "and _ is free floor."
        )

    def _step(self, action: str) -> Step:
        name = direction(action)
        if name is None:
            return self._unreadable("give a direction")
        to = self.position.player + self.level.steps[name]
        pushes = to in self.position.boxes
        after = moved(self.level, self.position, name)
        if after is None:
            wrong = "the box there cannot be pushed further" if pushes else "a wall is there"
            return self._ongoing(f"At turn {self.turn}, you tried to go {name}, but {wrong}.")
        self.position = after
        message = f"At turn {self.turn}, you {'pushed a box' if pushes else 'went'} {name}."
        if after.boxes == self.level.goals:
            return self._ended(f"{message} Congratulations! Every box is on a goal.", 1.0, success=True)
        return self._ongoing(message)

    def _partial_reward(self) -> float:
        return len(self.position.boxes & self.level.goals) / self.num_boxes

    def _board(self) -> str:
        cells = [self._symbol(cell) for cell in range(self.rows * self.cols)]
        return "\n".join(" ".join(cells[start : start + self.cols]) for start in range(0, len(cells), self.cols))

    def _symbol(self, cell: int) -> str:
        goal = cell in self.level.goals
        if cell == self.position.player:
            return "S" if goal else "P"
        if cell in self.position.boxes:
            return "√" if goal else "X"
        if cell not in self.level.floor:
            return "#"
        return "O" if goal else "_"

    def _possible(self) -> list[str]:
        return [name for name in DIRECTIONS if moved(self.level, self.position, name)]

    def sample_action(self) -> str:
        """A random direction in which the player can go or push."""
        return box(self.action_rng.choice(self._possible()))

    def expert_action(self) -> str:
        """The next move of the path that was found first, or of a new one if the player has left it."""
        lost = self.position not in self._path
        if not self._searched or (lost and self.position.boxes != self._unsolvable):
            self._searched = True
            found = solve(self.level, self.position)
            if found is None:
                self._unsolvable = self.position.boxes
            elif lost or len(found) < len(rest_of_path(self.level, self._path, self.position)):
                self._path = found
        return box(self._path.get(self.position) or self._possible()[0])
