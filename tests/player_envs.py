"""A game for two players, for tests: `player_envs:Higher`."""

from gem import Step, TurnEnv
from gem.answers import boxed

PLAYERS = ("even", "odd")


class Higher(TurnEnv):
    """Each player has a secret card from 1 to 9, and bids twice; the higher sum of card and bids wins.

    A bid is ``\\boxed{0}`` or ``\\boxed{1}``; a bid of 1 costs 0.1 at once. At the end the winner earns 1 and the other
    loses 1. The player who begins follows from the seed.
    """

    def _reset(self, options):
        self.cards = {player: self.rng.randint(1, 9) for player in PLAYERS}
        self.order = list(PLAYERS) if self.rng.random() < 0.5 else list(PLAYERS)[::-1]
        self.bids = dict.fromkeys(PLAYERS, 0)
        return self._asks(0)

    def reset(self, *, seed=None, options=None):
        observation, info = super().reset(seed=seed, options=options)
        return observation, {**info, "player": self.order[0]}

    def _asks(self, turn):
        return f"Your card is {self.cards[self.order[turn % 2]]}. Bid \\boxed{{0}} or \\boxed{{1}}."

    def _step(self, action):
        player = self.order[(self.turn - 1) % 2]
        bid = int(boxed(action) == "1")
        self.bids[player] += bid
        rewards = {player: {"bid": -0.1 * bid}}
        if self.turn < 4:
            next_player = self.order[self.turn % 2]
            return Step.ongoing(self._asks(self.turn), -0.1 * bid, player=next_player, rewards=rewards)
        sums = {each: self.cards[each] + self.bids[each] for each in PLAYERS}
        even = (sums["even"] > sums["odd"]) - (sums["even"] < sums["odd"])
        for each, won in zip(PLAYERS, (even, -even), strict=True):
            rewards.setdefault(each, {})["game"] = float(won)
        total = sum(rewards[player].values())
        return Step.final(f"The sums are {sums}.", total, success=even > 0, rewards=rewards)

    def sample_action(self):
        return f"\\boxed{{{self.action_rng.randint(0, 1)}}}"
