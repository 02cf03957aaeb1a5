"""The settings that every algorithm has: the table `[credit]` of a run."""

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from gem_train.algorithms.actions import Actions, CutReplies
from gem_train.algorithms.losses import Estimator


class CriticSettings(BaseModel):
    """Settings of a critic."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    lr: float = Field(default=1e-5, gt=0)
    """Learning rate."""
    epochs: int = Field(default=1, ge=1)
    """Passes over a batch."""
    minibatches: int = Field(default=4, ge=1)
    """Updates in a pass."""
    clip: float | None = Field(default=None, gt=0)
    """The farthest that a value may move from the old one in a batch; by default without limit."""
    grad_clip: float = Field(default=1.0, gt=0)
    """The largest norm of a gradient."""


class AlgorithmSettings(BaseModel):
    """Credit and loss. An algorithm with settings of its own derives from this class and adds them."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    actions: Actions = "turn"
    """The unit that gets credit as a whole, and that `gamma` discounts by."""
    gamma: float = Field(default=0.9, ge=0, le=1)
    """Discount per action."""
    cut_replies: CutReplies = "act"
    """Treatment of a reply that reached the limit on its length: see `gem_train.algorithms.actions.regroup`."""
    clip: float = Field(default=0.2, gt=0)
    """PPO's clipping of the probability ratio."""
    clip_high: float | None = Field(default=None, gt=0)
    """Upper side of the clipping; by default the same."""
    dual_clip: float | None = Field(default=None, gt=1)
    """The most that a bad action weighs, in advantages; by default without limit."""
    old_logprobs: Literal["engine", "learner"] = "engine"
    """Owner of the log-probabilities that the probability ratio starts from."""
    importance_cap: float | None = Field(default=None, gt=0)
    """Largest weight of a token by learner over engine probability; by default tokens are not weighed."""
    kl: float = Field(default=0.0, ge=0)
    """Weight of the KL divergence from the model before training."""
    kl_estimator: Estimator = "k3"
    """Estimator of the divergence from sampled tokens."""
    kl_in: Literal["loss", "reward"] = "loss"
    """True if it is added to the loss or subtracted from rewards."""
    normaliser: Literal["tokens", "constant", "episode"] = "tokens"
    """Divisor of the summed loss: see `Algorithm.loss`."""
    constant_length: int = Field(default=1024, ge=1)
    """Tokens of an episode, for the normaliser `constant`."""

    @model_validator(mode="after")
    def _fit(self) -> Self:
        if self.importance_cap is not None and self.old_logprobs == "engine":
            raise ValueError("importance_cap compares learner and engine, so it needs old_logprobs = 'learner'")
        return self
