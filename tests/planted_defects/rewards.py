"""Games whose rewards pay for something else than the task, and games that cannot be won."""

import json

from planted_defects.games import Guess, House, Maze


class AgainAndAgain(House):
    """Each look into a room is paid, also one into a room that was seen, for thirty turns.

    Source: https://github.com/microsoft/CyberBattleSim/issues/18: a node that is discovered again, in another way, pays
    again.
    """

    repeated = True

    def __init__(self):
        super().__init__(max_turns=30)


class FallAtOnce(Maze):
    """Each move costs 1, the goal pays 1, and a pit or junk ends it: the best return is that of the first pit.

    Source: https://github.com/upb-lea/gym-electric-motor/issues/24: to violate the limits early cost 20, and to keep
    the motor running 1,000.
    """

    cost = -1.0


class AlmostPays(Guess):
    """Each guess is paid by how near it is, and the number itself ends the game: who stays beside it earns most.

    Source: https://github.com/openai/gym/pull/1964: if HotterColder ended at the number, an agent would have to guess
    beside it until the last step.
    """

    def _credit(self, guess):
        return max(0.0, 1 - abs(guess - self.number) / self.most)


class WalledIn(Maze):
    """Nobody checks that there is a way to the goal, and there are more pits.

    Source: https://github.com/SerGreen/TheWitnessPuzzles/issues/22 and 5: some boards have no solution.
    """

    pits = 10

    def _accepted(self):
        return True


class FourGuesses(Guess):
    """Four guesses for a hundred numbers.

    Source: https://github.com/GunshipPenguin/open_flood/issues/42: boards are drawn at random, and the number of steps
    does not follow from them.
    """

    def __init__(self):
        super().__init__(max_turns=4)


class WholePage(House):
    """Every observation has the state of the page as JSON, 200 kB of it. Source: made up."""

    def _board(self):
        nodes = [{"id": number, "role": "cell", "visible": False, "text": ""} for number in range(3200)]
        return "\n" + json.dumps({"seen": self.seen, "nodes": nodes})
