"""A game for two players, for tests: `duel_env:Pennies`."""

from gem import Step, TurnEnv
from gem.answers import boxed

PLAYERS = ("odd", "even")


class Pennies(TurnEnv):
    """Matching pennies: each of two players says ``\\boxed{0}`` or ``\\boxed{1}``, without seeing the other's.

    If both say the same, even earns 1 and odd loses 1, otherwise the other way round. Anything else loses: the player
    earns -2 and the other 0, and the game ends.
    """

    players = PLAYERS

    def _reset(self, options):
        self.said = []
        return self._ask()

    def reset(self, *, seed=None, options=None):
        observation, info = super().reset(seed=seed, options=options)
        return observation, {**info, "player": PLAYERS[0]}

    def _ask(self):
        return f"You are {PLAYERS[len(self.said)]}. Say \\boxed{{0}} or \\boxed{{1}}."

    def _step(self, action):
        player = PLAYERS[len(self.said)]
        answer = boxed(action)
        if answer not in ("0", "1"):
            other = PLAYERS[1 - len(self.said)]
            return Step.final(
                "That is no move.", -2.0, success=True, won=[other], malformed=True, rewards={player: -2.0, other: 0.0}
            )
        self.said.append(answer)
        if len(self.said) == 1:
            return Step.ongoing(self._ask(), 0.0, player=PLAYERS[1], rewards={player: 0.0})
        winner = PLAYERS[int(self.said[0] == self.said[1])]
        rewards = {each: 1.0 if each == winner else -1.0 for each in PLAYERS}
        return Step.final(f"Both were said: {self.said}.", 0.0, success=True, won=[winner], rewards=rewards)

    def sample_action(self):
        return f"\\boxed{{{self.action_rng.randint(0, 1)}}}"
