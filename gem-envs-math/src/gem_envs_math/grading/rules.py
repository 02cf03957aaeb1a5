"""What counts as the right answer, where mathematics leaves a choice."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, get_args

from gem.checks import finite
from gem.errors import ConfigError, did_you_mean

Units = Literal["equal", "same", "needed", "ignore"]
Percent = Literal["value", "written", "ignore"]
Several = Literal["any order", "in order"]
Sets = Literal["braces optional", "written"]
Intervals = Literal["either", "written"]
Matrices = Literal["written", "vectors"]
Equations = Literal["name optional", "written"]


@dataclass(frozen=True, slots=True)
class Rules:
    """Settings of `grade`, as plain data: strings and numbers.

    With the defaults an answer is right if it means the same as the gold, in any notation, and exactly. The only two
    things that it may leave out, or have besides, are those that the question itself says: a unit, and the name of
    what was asked for.
    """

    units: Units = "equal"
    """`equal`: where both have a unit, the quantities are equal: 1 m is 100 cm, and 10 cm is not 10 km; a unit that
    only one of them has is not looked at. `same`: they have the same unit. `needed`: the same, and both or neither has
    one. `ignore`: units are not looked at."""
    percent: Percent = "value"
    """`value`: 50% is 0.5, and not 50. `written`: 50% is only 50%. `ignore`: the sign is not looked at: 50% is 50."""
    several: Several = "any order"
    """Whether several answers, such as the solutions of an equation, may have another order than the gold's. Points,
    tuples and matrices have an order always, and sets never."""
    sets: Sets = "braces optional"
    """`braces optional`: `1, 2` is `{1, 2}`. `written`: it is not."""
    intervals: Intervals = "either"
    """`either`: `(1, 2]` is `1 < x <= 2`. `written`: it is not."""
    matrices: Matrices = "written"
    """`written`: rows and columns are the gold's; round and square brackets are alike. `vectors`: `(1, 2)`, a row and a
    column of the same entries are alike."""
    equations: Equations = "name optional"
    """`name optional`: `x = 3` is `3`, and `y = 2x` is `2x`. `written`: an equation is an equation only."""
    tolerance: float = 0.0
    """The largest difference of two numbers, as a share of the gold: 0 for none. 0.01 accepts 3.14 for pi."""
    seconds: float = 2.0
    """How long math-verify may work on one answer. Waiting for a free process does not count."""

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            if value not in choices:
                raise ConfigError(f"{name} is one of {', '.join(map(repr, choices))}, not {value!r}")
        if not 0 <= finite("tolerance", self.tolerance) < 1:
            raise ConfigError(f"tolerance is at least 0 and less than 1, not {self.tolerance}")
        if not 0 < finite("seconds", self.seconds) <= 3600:
            raise ConfigError(f"seconds is more than 0 and at most 3600, not {self.seconds}")

    @classmethod
    def of(cls, settings: "Rules | Mapping[str, Any] | None") -> "Rules":
        """The rules with these settings, as a spec or a recording has them.

        Raises:
            ConfigError: a setting is unknown or out of range.
        """
        if isinstance(settings, Rules):
            return settings
        settings = settings or {}
        known = [field.name for field in fields(cls)]
        for name in settings:
            if name not in known:
                raise ConfigError(f"{name!r} is not a rule of grading.{did_you_mean(name, known)} ({', '.join(known)})")
        return cls(**settings)

    def settings(self) -> dict[str, Any]:
        """All settings, as JSON has them."""
        return asdict(self)


_CHOICES: Mapping[str, tuple[str, ...]] = {
    "units": get_args(Units),
    "percent": get_args(Percent),
    "several": get_args(Several),
    "sets": get_args(Sets),
    "intervals": get_args(Intervals),
    "matrices": get_args(Matrices),
    "equations": get_args(Equations),
}
