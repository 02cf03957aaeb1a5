"""The result of a run."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from gem.results import Interval, Result


@dataclass(frozen=True, slots=True)
class Summary:
    """The result of a run, as it is written to `summary.json`.

    A success rate is None where nothing was measured: the environment has no such policy, or every episode failed. Each
    has its 95% Wilson interval.
    """

    id: str
    algorithm: str
    seed: int
    success_before: float | None
    success_before_ci: Interval
    success_after: float | None
    success_after_ci: Interval
    random_success: float | None
    random_success_ci: Interval | None
    expert_success: float | None
    expert_success_ci: Interval | None
    warmup_policy: str | None
    """The policy that was imitated; None without a warm-up."""
    steps: int
    seconds: float
    ids: tuple[Result, ...] = ()
    """The last evaluation for each id, if there are several."""

    def as_json(self) -> dict[str, Any]:
        """Plain data; without `ids` if there is one id."""
        values = asdict(self)
        del values["ids"]
        return {**values, "ids": [result.as_json() for result in self.ids]} if self.ids else values

    @classmethod
    def parse(cls, text: str) -> "Summary":
        """The result in the text of `summary.json`."""
        values: dict[str, Any] = json.loads(text)
        for name, value in values.items():
            if name.endswith("_ci") and value is not None:
                values[name] = tuple(value)
        values["ids"] = tuple(Result.from_json(each) for each in values.get("ids", ()))
        return cls(**values)

    @classmethod
    def of(
        cls,
        *,
        id: str,
        algorithm: str,
        seed: int,
        warmup_policy: str | None,
        before: Mapping[str, Result],
        after: Sequence[Result],
        steps: int,
        seconds: float,
    ) -> "Summary":
        """Put together what was measured.

        Args:
            id, algorithm, seed: of the run.
            warmup_policy: the policy that was imitated, if any was.
            before: the results of `model`, `random` and `expert` before training.
            after: the last evaluation: on all episodes, then on each id.
            steps: how many steps were made.
            seconds: how long the run took.
        """
        whole, *each = after
        success: dict[str, Any] = {}
        for name, result in {
            "success_before": before["model"],
            "success_after": whole,
            "random_success": before.get("random"),
            "expert_success": before.get("expert"),
        }.items():
            values = result.as_json() if result else {"success": None, "success_ci": None}
            success |= {name: values["success"], f"{name}_ci": values["success_ci"]}
        return cls(
            id=id,
            algorithm=algorithm,
            seed=seed,
            warmup_policy=warmup_policy,
            steps=steps,
            seconds=round(seconds, 1),
            ids=tuple(each) if len(each) > 1 else (),
            **success,
        )
