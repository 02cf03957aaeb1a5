"""The result of a run."""

import json
from typing import Any, Self

from msgspec import Struct
from msgspec.structs import asdict

from gem_eval.results import Result


class Summary(Struct, frozen=True, kw_only=True):
    """The result of a run, as it is written to `summary.json`."""

    id: str
    algorithm: str
    seed: int
    warmup_policy: str | None
    """The policy that was imitated; None without a warm-up."""
    steps: int
    """Number of steps that were made."""
    seconds: float
    before: Result
    """The evaluation before training, with random play and the expert as its floors."""
    after: Result
    """The last evaluation."""
    ids: tuple[Result, ...]
    """The last evaluation for each id, if there are several."""

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        ids = [each.as_json() for each in self.ids]
        return {**asdict(self), "before": self.before.as_json(), "after": self.after.as_json(), "ids": ids}

    @classmethod
    def parse(cls, text: str) -> Self:
        """The result in the text of `summary.json`."""
        values: dict[str, Any] = json.loads(text)
        before, after = (Result.from_json(values.pop(name)) for name in ("before", "after"))
        ids = tuple(Result.from_json(each) for each in values.pop("ids"))
        return cls(**values, before=before, after=after, ids=ids)
