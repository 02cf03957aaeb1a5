"""The settings that every algorithm has: the table `[credit]` of a run."""

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from gem_train.algorithms.actions import Actions, CutReplies
from gem_train.algorithms.losses import Beyond, Estimator, Gap, Level

CLIPS = {"token": (0.2, 0.2), "action": (3e-4, 4e-4), "cispo": (1.0, 4.0)}
"""How far below and above 1 a probability ratio counts: PPO's, GSPO's (arXiv 2507.18071, section 5.1), and that of
CISPO's weights, which have no lower bound (arXiv 2506.13585) and are at most 5 (ScaleRL, arXiv 2510.13786)."""


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
    policy_loss: Literal["clip", "cispo"] = "clip"
    """PPO's clipped surrogate, or that of CISPO: clipped weights of log-probabilities."""
    ratio: Level = "token"
    """What has a probability ratio of its own; actions in GSPO."""
    clip: float | None = Field(default=None, gt=0)
    """How far below 1 the probability ratio counts; by default as in `CLIPS`."""
    clip_high: float | None = Field(default=None, gt=0)
    """And how far above; by default the same as `clip`, or as in `CLIPS`."""
    dual_clip: float | None = Field(default=None, gt=1)
    """The most that a bad action weighs, in advantages; by default without limit."""
    old_logprobs: Literal["engine", "learner"] = "engine"
    """Owner of the log-probabilities that the probability ratio starts from."""
    importance_cap: float | None = Field(default=None, gt=0)
    """Largest weight of a token by learner over engine probability; by default tokens are not weighed."""
    importance: Gap = "token"
    """What has a weight of its own; see `gem_train.algorithms.losses.importance_weights`."""
    importance_beyond: Beyond = "truncate"
    """Treatment of what is beyond the cap: its weight is the cap, or it is left out of the update."""
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

    @property
    def clips(self) -> tuple[float, float]:
        """How far below and above 1 the probability ratio counts."""
        low, high = CLIPS["cispo" if self.policy_loss == "cispo" else self.ratio]
        if self.clip is not None:
            low = high = self.clip
        return low, high if self.clip_high is None else self.clip_high

    @model_validator(mode="after")
    def _fit(self) -> Self:
        if self.importance_cap is not None and self.old_logprobs == "engine":
            raise ValueError("importance_cap compares learner and engine, so it needs old_logprobs = 'learner'")
        if self.importance_cap is None and (self.importance != "token" or self.importance_beyond == "reject"):
            raise ValueError("importance and importance_beyond need a bound: set importance_cap, such as 2.0")
        if self.importance_beyond == "reject" and self.importance_cap is not None and self.importance_cap <= 1:
            raise ValueError("what is beyond [1 / importance_cap, importance_cap] is rejected, so it must be above 1")
        if self.importance == "geometric" and self.importance_beyond != "reject":
            raise ValueError("a geometric mean is no weight, it only rejects: set importance_beyond = 'reject'")
        if self.policy_loss == "cispo" and self.dual_clip is not None:
            raise ValueError("dual_clip bounds PPO's surrogate, and the weights of cispo are bounded by clip_high")
        if self.ratio == "action" and self.actions == "token":
            raise ValueError("with actions = 'token' an action is a token: leave ratio at 'token'")
        return self
