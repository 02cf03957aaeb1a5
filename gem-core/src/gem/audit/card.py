"""The card of an environment: what each probe of the audit said of it."""

from dataclasses import asdict, dataclass
from typing import Any, Literal, Self

import msgspec

from gem.audit.finding import Finding
from gem.errors import RecordError

State = Literal["sound", "found", "known", "skipped"]
"""Nothing was found; something was; something whose reason is in the spec (`known_findings`); not applicable."""


@dataclass(frozen=True, slots=True)
class ProbeOutcome:
    """The result of one probe."""

    probe: str
    """Its name."""
    state: State
    """One of `sound`, `found`, `known` and `skipped`."""
    findings: tuple[Finding, ...] = ()
    """What it found."""
    reason: str = ""
    """Why it was skipped, or why what it found stays."""
    traceback: str | None = None
    """The traceback of an exception of the env."""


@dataclass(frozen=True, slots=True)
class Card:
    """What the audit says of one environment."""

    id: str
    """Of the environment."""
    pack: str | None
    """Its distribution."""
    outcomes: tuple[ProbeOutcome, ...]
    """Of each probe, in the order in which they ran."""
    seconds: float
    """How long all of them took."""

    @property
    def sound(self) -> bool:
        """Whether every finding is known."""
        return all(outcome.state != "found" for outcome in self.outcomes)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings that are not known."""
        return tuple(each for outcome in self.outcomes if outcome.state == "found" for each in outcome.findings)

    def as_json(self) -> dict[str, Any]:
        """The card as JSON."""
        return {"id": self.id, "pack": self.pack, "sound": self.sound, **asdict(self)}

    @classmethod
    def from_json(cls, value: Any) -> Self:
        """The card that `as_json` wrote; `RecordError` if it is something else."""
        try:
            return msgspec.convert(value, cls)
        except msgspec.ValidationError as error:
            raise RecordError(f"this is not a card of the audit: {error}") from error
