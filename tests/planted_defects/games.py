"""Sound games of several turns: the bases of the planted defects."""

from collections import deque

from gem import Step, TurnEnv
from gem.answers import boxed

MOVES = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}


class Guess(TurnEnv):
    """Guess a number in eight turns: 1 for the number, otherwise 0; a reply that is no number loses 0.1."""

    def __init__(self, most=100, max_turns=8):
        super().__init__(max_turns=max_turns)
        self.most = most

    def _reset(self, options):
        self.number, self.low, self.high = self.rng.randint(1, self.most), 1, self.most
        return (
            f"I think of a number from 1 to {self.most}. You have {self.max_turns} guesses; after each I say whether "
            "mine is higher or lower. Answer with a number inside \\boxed{}; a reply without one loses."
        )

    def _step(self, action):
        said = (boxed(action) or "").strip()
        if not (said.isascii() and said.isdigit() and len(said) < 9):
            return self._junk()
        guess = int(said)
        if guess == self.number:
            return Step.final("That is my number.", 1.0, success=True)
        if guess < self.number:
            self.low = max(self.low, guess + 1)
        else:
            self.high = min(self.high, guess - 1)
        return Step.ongoing(f"My number is {'higher' if guess < self.number else 'lower'}.", self._credit(guess))

    def _junk(self):
        return self.malformed("I found no number. You lose.")

    def _credit(self, guess):
        return 0.0

    def sample_action(self):
        return f"\\boxed{{{self.action_rng.randint(1, self.most)}}}"

    def expert_action(self):
        return f"\\boxed{{{(self.low + self.high) // 2}}}"


class Maze(TurnEnv):
    """Walk over a field of six times six to the goal: 1 for the goal; a pit, or a reply without a move, loses."""

    pits = 8
    cost = 0.0

    def __init__(self, max_turns=20):
        super().__init__(max_turns=max_turns)

    def _reset(self, options):
        self.at = (0, 0)
        self._draw()
        return (
            "You are @. Walk to G, and keep out of the pits, #. The edge stops you. Answer with up, down, left or "
            f"right inside \\boxed{{}}; a reply without a move loses.\n{self._map()}"
        )

    def _draw(self, rng=None):
        cells = [(x, y) for x in range(6) for y in range(6) if x + y > 0]
        while True:
            self.goal = (rng or self.rng).choice([cell for cell in cells if sum(cell) > 4])
            self.closed = set((rng or self.rng).sample([cell for cell in cells if cell != self.goal], self.pits))
            if self._accepted():
                return

    def _accepted(self):
        return self._path() is not None

    def _map(self):
        signs = {self.at: "@", self.goal: "G"} | dict.fromkeys(self.closed, "#")
        return "\n".join("".join(signs.get((x, y), ".") for x in range(6)) for y in range(6))

    def _after(self, cell, move):
        return tuple(min(5, max(0, here + by)) for here, by in zip(cell, MOVES[move], strict=True))

    def _path(self):
        """The first move of a shortest path to the goal, or None."""
        seen, waiting = {self.at}, deque([(self.at, "")])
        while waiting:
            cell, first = waiting.popleft()
            if cell == self.goal:
                return first
            for move in MOVES:
                to = self._after(cell, move)
                if to not in seen and to not in self.closed:
                    seen.add(to)
                    waiting.append((to, first or move))
        return None

    def _step(self, action):
        move = (boxed(action) or "").strip().lower()
        if move not in MOVES:
            return Step.final("That is no move. You lose.", self.cost, success=False, malformed=True)
        self.at = self._after(self.at, move)
        if self.at in self.closed:
            return Step.final("You fell into a pit.", self.cost, success=False)
        if self.at == self.goal:
            return Step.final("You are there.", 1.0 + self.cost, success=True)
        return Step.ongoing(self._map(), self.cost)

    def sample_action(self):
        return f"\\boxed{{{self.action_rng.choice(sorted(MOVES))}}}"

    def expert_action(self):
        return f"\\boxed{{{self._path() or 'up'}}}"


class House(TurnEnv):
    """Find the room with the key among eight. A look into a room that is new earns 0.1, and to open the right one 1.

    To open another room loses, and so does a reply that is neither.
    """

    repeated = False

    def __init__(self, max_turns=12):
        super().__init__(max_turns=max_turns)

    def _reset(self, options):
        self.rooms = self.rng.sample(range(100, 999), 8)
        self.key, self.seen = self.rng.choice(self.rooms), []
        return (
            f"One of the rooms {', '.join(map(str, self.rooms))} has the key. Answer with \\boxed{{look 100}} to look "
            "into the room 100, or \\boxed{open 100} to open it; the first room that you open decides. There are "
            f"{self.max_turns} turns.{self._board()}"
        )

    def _board(self):
        return ""

    def _step(self, action):
        verb, _, room = (boxed(action) or "").partition(" ")
        if verb not in ("look", "open") or room not in map(str, self.rooms):
            return self.malformed("You can look into a room, or open it. You lose.")
        if verb == "open":
            right = int(room) == self.key
            return Step.final("There is the key." if right else "It is empty.", float(right), success=right)
        new = self.repeated or room not in self.seen
        self.seen.append(room)
        found = "The key is" if int(room) == self.key else "There is nothing"
        return Step.ongoing(f"{found} in room {room}.{self._board()}", 0.1 if new else 0.0)

    def sample_action(self):
        return f"\\boxed{{{self.action_rng.choice(['look', 'open'])} {self.action_rng.choice(self.rooms)}}}"

    def expert_action(self):
        if self.seen and self.seen[-1] == str(self.key):
            return f"\\boxed{{open {self.key}}}"
        return f"\\boxed{{look {next(room for room in self.rooms if str(room) not in self.seen)}}}"
