"""What is wanted of a GPU, beside what was measured."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

Rows = Mapping[tuple[str, str, str], float | str]
"""Values by part, case and what they are."""


class Judged(NamedTuple):
    """A number that is wanted; `value` is None if what it needs was not measured."""

    what: str
    wanted: str
    value: float | None
    met: bool | None


def judge(rows: Rows) -> list[Judged]:
    """Every number that is wanted of one GPU."""
    ours = {name: number(rows, "sampling", name, "tokens per second") for name in ("in process", "server")}
    alone = largest(value for (part, case, _), value in rows.items() if part == "sampling" and case.startswith("vLLM"))
    gaps = [value for (_, _, what), value in rows.items() if what.startswith("engine gap")]
    mfu = [value for (part, _, what), value in rows.items() if part == "learner" and what == _longest(rows)]
    slept = [_sum(rows, case, ("wake", "sync")) for case in ("in process", "in process, 8B")]
    played = number(rows, "memory", _LONG, "share of the episodes learned from")
    return [
        _below("mean engine gap, of every engine and run", largest(gaps), 0.02, "nats"),
        *(_least(f"sampling {name} ÷ vLLM alone at its best", _ratio(each, alone), 0.8) for name, each in ours.items()),
        _least("MFU of the learner, longest ids", largest(mfu), 0.35),
        _least("sleep frees, of what vLLM holds", number(rows, "sampling", "in process", "sleep frees"), 0.9),
        _below("wake and sync, the larger model if it was measured", largest(slept), 5.0, "s"),
        _least("64 episodes × 8 turns × 16k ids of 1.7B in bf16: share learned from", played, 1),
    ]


_LONG = "64 episodes of 16k ids"


def number(rows: Rows, part: str, case: str, what: str) -> float | None:
    """A value, if it is there and is a number."""
    value = rows.get((part, case, what))
    return None if value is None or isinstance(value, str) else value


def largest(values: Iterable[float | str | None]) -> float | None:
    """The largest of those that are numbers, if there is one."""
    return max((value for value in values if isinstance(value, int | float)), default=None)


def _longest(rows: Rows) -> str:
    """The MFU of the longest sequences."""
    names = [what for (part, _, what) in rows if part == "learner" and what.startswith("MFU")]
    return max(names, key=lambda name: int("".join(filter(str.isdigit, name))), default="")


def _sum(rows: Rows, case: str, names: tuple[str, ...]) -> float | None:
    values = [number(rows, "sampling", case, name) for name in names]
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _ratio(value: float | None, other: float | None) -> float | None:
    return None if value is None or not other else value / other


def _least(what: str, value: float | None, least: float) -> Judged:
    return Judged(what, f"≥ {least:g}", value, None if value is None else value >= least)


def _below(what: str, value: float | None, limit: float, unit: str) -> Judged:
    return Judged(f"{what}, {unit}", f"< {limit:g}", value, None if value is None else value < limit)
