"""ReBN: REINFORCE with return batch normalisation."""

from typing import ClassVar

from gem_train.algorithms.base import Algorithm, Scores
from gem_train.algorithms.credit import Credit, compared, discounted_returns, numbered
from gem_train.algorithms.settings import AlgorithmSettings
from gem_train.batch import Batch


class ReBNSettings(AlgorithmSettings):
    """Settings of ReBN."""

    per_env: bool = False
    """True if the returns of each environment are normalised by themselves; those of each player always are."""


class ReBN(Algorithm[ReBNSettings]):
    """``A_t = (G_t - mean G) / std G`` over all actions of the batch, or of each environment in it.

    In a game the actions of each player are normalised by themselves: seats may be of different value.

    It needs neither a critic nor groups, and gives every turn its own credit, so it allows any ``gamma``. Source:
    *GEM: A Gym for Agentic LLMs*, arXiv 2510.01051.

    If all episodes have the same rewards, every advantage is 0: with ``gamma`` below 1 the formula would prefer early
    turns to late ones, or the reverse, whatever the replies were.
    """

    Settings: ClassVar[type[AlgorithmSettings]] = ReBNSettings

    def credit(self, batch: Batch, scores: Scores) -> Credit:
        returns = discounted_returns(self.rewards(batch, scores), batch.episode, self.settings.gamma)
        env, player = numbered(batch.episodes.env), numbered(batch.episodes.player)
        alike = player + (player.max(initial=0) + 1) * env if self.settings.per_env else player
        return Credit(returns, compared(returns, batch, alike))
