"""PPO: a critic that reads the state before each action, and generalised advantages."""

from typing import ClassVar

import numpy as np
from pydantic import Field

from gem_train.algorithms.base import Algorithm, Scores
from gem_train.algorithms.credit import ROUNDING, Credit, generalised_advantages, rewarded_alike
from gem_train.algorithms.settings import AlgorithmSettings, CriticSettings
from gem_train.batch import Batch, Floats


class PPOSettings(AlgorithmSettings):
    """Settings of PPO."""

    lam: float = Field(default=0.95, ge=0, le=1)
    """GAE's lambda: 0 trusts the critic after one action, 1 uses whole returns."""
    normalise: bool = True
    """True if advantages are normalised over the batch."""
    critic: CriticSettings = CriticSettings()
    """Settings of the critic."""


class PPO(Algorithm[PPOSettings]):
    """``A_t = sum over k of (gamma lam)^k d_{t+k}``, ``d_t = r_t + gamma V(s_{t+1}) - V(s_t)``, over the actions of an
    episode.

    ``V(s_t)`` is the critic's value after reading everything before action t: with turns as actions, up to the last
    prompt id of the turn. The critic learns ``A_t + V(s_t)``.

    Sources: Schulman et al., "Proximal policy optimization algorithms", arXiv 1707.06347; GAE: arXiv 1506.02438; turns
    as actions: *GEM: A Gym for Agentic LLMs*, arXiv 2510.01051.

    If all episodes have the same rewards, every advantage is 0, and only the critic learns.
    """

    Settings: ClassVar[type[AlgorithmSettings]] = PPOSettings
    tiny: ClassVar = {"credit": {"critic": {"lr": 1e-3}}}

    @property
    def critic(self) -> CriticSettings:
        return self.settings.critic

    def credit(self, batch: Batch, scores: Scores) -> Credit:
        settings, values = self.settings, scores.values
        assert values is not None
        rewards = self.rewards(batch, scores)
        advantages = generalised_advantages(
            rewards, values, batch.episode, batch.state_only, settings.gamma, settings.lam
        )
        returns = advantages + values
        if rewarded_alike(batch.rewards, batch.episode):
            return Credit(returns, np.zeros_like(advantages))
        return Credit(returns, _normalised(advantages, values, batch) if settings.normalise else advantages)


def _normalised(advantages: Floats, values: Floats, batch: Batch) -> Floats:
    """Advantages of the trained actions with mean 0 and standard deviation 1; 0 where they differ by rounding only."""
    chosen = advantages[batch.trained].astype(np.float64)
    found = np.zeros_like(advantages)
    size = max(batch.episodes.magnitude.max(), np.abs(values).max(initial=0))
    if len(chosen) and chosen.std() > ROUNDING * size:
        found[batch.trained] = (chosen - chosen.mean()) / chosen.std()
    return found
