"""The result of a run."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from gem.rollout.report import Report
from gem_train.evaluation import Baselines

Interval = tuple[float, float]


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
    ids: tuple[Report, ...] = ()
    """The last evaluation for each id, if there are several."""

    def as_json(self) -> dict[str, Any]:
        """As plain data; without `ids` if there is one id."""
        values = asdict(self)
        del values["ids"]
        return {**values, "ids": [report.as_json() for report in self.ids]} if self.ids else values

    @classmethod
    def parse(cls, text: str) -> "Summary":
        """From the text of `summary.json`."""
        values: dict[str, Any] = json.loads(text)
        for name, value in values.items():
            if name.endswith("_ci") and value is not None:
                values[name] = tuple(value)
        values["ids"] = tuple(Report.from_json(each) for each in values.get("ids", ()))
        return cls(**values)

    @classmethod
    def of(
        cls,
        *,
        id: str,
        algorithm: str,
        seed: int,
        warmup_policy: str | None,
        baselines: Baselines,
        after: Sequence[Report],
        steps: int,
        seconds: float,
    ) -> "Summary":
        """Put together what was measured.

        Args:
            id, algorithm, seed: of the run.
            warmup_policy: the policy that was imitated, if any was.
            baselines: from before training.
            after: the last evaluation: of all episodes, then of each id.
            steps: how many steps were made.
            seconds: how long the run took.
        """
        assert baselines.model is not None
        whole, *each = after
        success: dict[str, Any] = {}
        for name, report in {
            "success_before": baselines.model,
            "success_after": whole,
            "random_success": baselines.random,
            "expert_success": baselines.expert,
        }.items():
            values = report.as_json() if report else {"success": None, "success_ci": None}
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
