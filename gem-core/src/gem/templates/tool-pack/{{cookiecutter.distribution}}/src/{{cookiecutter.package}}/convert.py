"""The tool `convert`: lengths, masses and times in other units."""

from collections.abc import Mapping

from gem.tool import ToolError, tool

UNITS: Mapping[str, Mapping[str, float]] = {
    "length": {"mm": 0.001, "cm": 0.01, "m": 1.0, "km": 1000.0, "inch": 0.0254, "foot": 0.3048, "mile": 1609.344},
    "mass": {"g": 0.001, "kg": 1.0, "t": 1000.0, "ounce": 0.028349523125, "pound": 0.45359237},
    "time": {"s": 1.0, "min": 60.0, "h": 3600.0, "day": 86400.0},
}
"""Quantity → unit → how many metres, kilograms or seconds it is."""


@tool(pure=True)
def convert(value: float, unit: str, to: str) -> str:
    """Convert a length, a mass or a time to another unit.

    Args:
        value: the number of units.
        unit: one of mm, cm, m, km, inch, foot, mile; g, kg, t, ounce, pound; s, min, h, day.
        to: a unit of the same quantity.
    """
    for units in UNITS.values():
        if unit in units and to in units:
            return f"{value * units[unit] / units[to]:.10g} {to}"
    known = "; ".join(", ".join(units) for units in UNITS.values())
    raise ToolError(f"{unit!r} cannot be converted to {to!r}. The units are: {known}.")
