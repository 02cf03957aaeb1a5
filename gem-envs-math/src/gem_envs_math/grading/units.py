"""Units of measurement: reading `cm`, `square metres`, `km/h`, `apples`."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from gem_envs_math.grading.tokens import Token


class Unit(NamedTuple):
    """A unit: so many times the product of these powers of base units."""

    factor: Fraction
    powers: Mapping[str, int]

    @property
    def name(self) -> str:
        """The base units with their powers, the same for units of the same kind."""
        return " ".join(f"{base}^{power}" for base, power in sorted(self.powers.items()) if power)


_BASES: Mapping[str, str] = {
    "m": "m meter metre meters metres",
    "g": "g gram grams gm gms gramme grammes",
    "s": "s sec secs second seconds",
    "L": "L l liter litre liters litres",
    "A": "A ampere amperes amp amps",
    "K": "K kelvin kelvins",
    "mol": "mol mole moles mols",
    "usd": "$ dollar dollars usd buck bucks",
    "eur": "€ euro euros eur",
    "gbp": "£ pound-sterling gbp",
    "jpy": "¥ yen jpy",
    "inr": "rupee rupees rs inr",
    "degree": "degree degrees deg degs",
    "celsius": "celsius centigrade",
    "fahrenheit": "fahrenheit",
    "unit": "unit units",
    "bit": "bit bits",
    "person": "person people persons",
}
"""Base unit → how it is written."""

_DERIVED: Mapping[str, tuple[str, str]] = {
    "minute minutes min mins": ("60", "s"),
    "hour hours h hr hrs": ("3600", "s"),
    "day days": ("86400", "s"),
    "week weeks wk wks": ("604800", "s"),
    "month months": ("1", "month"),
    "year years yr yrs": ("12", "month"),
    "inch inches in": ("0.0254", "m"),
    "foot feet ft": ("0.3048", "m"),
    "yard yards yd yds": ("0.9144", "m"),
    "mile miles mi": ("1609.344", "m"),
    "mph": ("0.44704", "m/s"),
    "kmh kph kmph": ("5/18", "m/s"),
    "ton tons tonne tonnes": ("1", "ton"),
    "pound pounds lb lbs": ("453.59237", "g"),
    "ounce ounces oz": ("28.349523125", "g"),
    "gallon gallons gal gals": ("3.785411784", "L"),
    "quart quarts qt": ("0.946352946", "L"),
    "pint pints pt": ("0.473176473", "L"),
    "cup cups": ("0.2365882365", "L"),
    "cc": ("0.001", "L"),
    "acre acres": ("4046.8564224", "m2"),
    "hectare hectares ha": ("10000", "m2"),
    "cent cents ¢": ("0.01", "usd"),
    "penny pennies": ("0.01", "usd"),
    "radian radians rad rads": ("1", "radian"),
    "Hz hertz": ("1", "1/s"),
    "N newton newtons": ("1000", "newton"),
    "J joule joules": ("1000", "joule"),
    "W watt watts": ("1000", "watt"),
    "Pa pascal pascals": ("1000", "pascal"),
    "V volt volts": ("1", "volt"),
    "Ω ohm ohms": ("1", "ohm"),
    "byte bytes": ("8", "bit"),
    "dozen": ("12", "piece"),
}
_PREFIXES = {"k": 3, "c": -2, "m": -3, "d": -1, "M": 6, "G": 9, "n": -9, "μ": -6}
_LONG_PREFIXES = {"kilo": 3, "centi": -2, "milli": -3, "deci": -1, "mega": 6, "giga": 9, "nano": -9, "micro": -6}
_PREFIXED = {"m", "g", "s", "L", "l", "A", "mol", "Hz", "N", "J", "W", "Pa", "V"}
_LONG_PREFIXED = {"meter", "meters", "metre", "metres", "gram", "grams", "second", "seconds", "liter", "liters",
                  "litre", "litres", "joule", "joules", "watt", "watts", "newton", "newtons", "byte", "bytes",
                  "pascal", "pascals", "hertz", "volt", "volts"}  # fmt: skip
_KINDS: Mapping[str, Mapping[str, int]] = {
    "m/s": {"m": 1, "s": -1}, "m2": {"m": 2}, "L": {"m": 3}, "1/s": {"s": -1},
    "newton": {"g": 1, "m": 1, "s": -2}, "joule": {"g": 1, "m": 2, "s": -2}, "watt": {"g": 1, "m": 2, "s": -3},
    "pascal": {"g": 1, "m": -1, "s": -2},
}  # fmt: skip
_LITRE = Fraction(1, 1000)  # cubic metres


def _table() -> dict[str, Unit]:
    table: dict[str, Unit] = {}

    def add(written: str, factor: Fraction, kind: str) -> None:
        powers = _KINDS.get(kind, {kind: 1})
        table[written] = Unit(factor * (_LITRE if kind == "L" else 1), powers)

    for base, spellings in _BASES.items():
        for written in spellings.split():
            add(written, Fraction(1), base)
            if written in _PREFIXED:
                for prefix, power in _PREFIXES.items():
                    add(prefix + written, Fraction(10) ** power, base)
            if written in _LONG_PREFIXED:
                for prefix, power in _LONG_PREFIXES.items():
                    add(prefix + written, Fraction(10) ** power, base)
    for spellings, (factor, kind) in _DERIVED.items():
        for written in spellings.split():
            table.setdefault(written, Unit(Fraction(0), {}))
            add(written, Fraction(factor), kind)
            for prefixes, those in ((_PREFIXES, _PREFIXED), (_LONG_PREFIXES, _LONG_PREFIXED)):
                if written in those:
                    for prefix, power in prefixes.items():
                        add(prefix + written, Fraction(factor) * Fraction(10) ** power, kind)
    return table


UNITS = _table()
_AMBIGUOUS = {"mg", "ms", "mm", "mA", "cA", "ha", "dg", "ds", "cs", "dA", "mL", "ml", "in", "pt", "min", "mi", "rs"} - {
    "mm", "mL", "ml", "min", "mi", "in"
}  # fmt: skip
"""As single letters, they may be products of variables: 3mg."""
_SQUARE = {"square": 2, "sq": 2, "cubic": 3, "cu": 3}
_PER = {"per"}
_NOT_NOUNS = {
    "and", "or", "not", "but", "because", "if", "then", "than", "is", "are", "was", "where", "when", "with", "for",
    "to", "from", "until", "about", "approximately", "around", "maybe", "times", "plus", "minus", "over", "mod",
    "more", "less", "least", "most", "million", "billion", "trillion", "thousand", "hundred", "percent", "per",
    "pi", "infinity", "sqrt", "i.e", "any", "all", "no", "none", "wrong", "right", "false", "true", "half", "third",
}  # fmt: skip


class Reading(NamedTuple):
    """A unit in an answer."""

    unit: Unit
    end: int
    """The place of the token after it."""
    is_letters: bool
    """It may as well be a product of variables: `m`, `m/s`."""


def read_unit(found: Sequence[Token], start: int, *, attached: bool) -> Reading | None:
    """The unit that begins at token `start`; None if there is none.

    A noun that is not a unit of measurement counts as one, so that 5 apples are not 5 pears.

    Args:
        found: the tokens of the answer.
        start: the place of the first one.
        attached: whether it touches a number, as in 5cm; it is no noun then.
    """
    words = _words(found, start)
    if words is None:
        return None
    pieces, end = words
    is_letters = found[start].kind == "word" and (pieces[0] in _AMBIGUOUS or len(pieces[0]) == 1)
    unit = measure(pieces)
    if unit is None:
        unit = None if attached else _noun(pieces)
    return None if unit is None else Reading(unit, end, is_letters)


def _words(found: Sequence[Token], start: int) -> tuple[list[str], int] | None:
    """The words, signs and exponents of a unit, each a piece."""
    pieces: list[str] = []
    position = start
    while position < len(found):
        kind, value, _ = found[position]
        if kind == "word":
            if value in ("and", "or", "in") and pieces:
                break
            pieces.append(value)
        elif kind == "text":
            inner = value.replace("\\", " ").replace("^", " ^ ").replace("/", " / ").replace(".", " ").split()
            if inner and inner[0] in ("and", "or"):
                break
            if not all(piece in "^/" or piece.lstrip("-").isalnum() for piece in inner):
                return None
            pieces += inner
        elif value in ("/", "*", "$", r"\$", "€", "£", "¥") or value in (r"\degree", r"\Omega", r"\mu"):
            pieces.append({r"\$": "$", r"\degree": "degree", r"\Omega": "Ω", r"\mu": "μ"}.get(value, value))
        elif value == "^" and pieces:
            power, position = _power(found, position + 1)
            if power is None:
                return None
            pieces += ["^", power]
            continue
        else:
            break
        position += 1
    return (pieces, position) if pieces and pieces[0] not in "^/*" else None


def _power(found: Sequence[Token], position: int) -> tuple[str | None, int]:
    values = [token.value for token in found[position : position + 4]]
    inner: list[str] = []
    end = position
    if values[:1] == ["{"] and "}" in values:
        inner = values[1 : values.index("}")]
        end = position + values.index("}") + 1
    elif values[:1] == ["-"]:
        inner, end = values[:2], position + 2
    elif values:
        inner, end = values[:1], position + 1
    text = "".join(inner)
    return (text, end) if text.lstrip("-").isdecimal() and len(text) < 4 else (None, end)


def measure(pieces: Sequence[str]) -> Unit | None:
    """The unit of measurement that these words and signs are: `square metres`, `km / h`; None if they are none."""
    factor, powers = Fraction(1), dict[str, int]()
    sign, raised = 1, 1
    position = 0
    while position < len(pieces):
        piece = pieces[position]
        position += 1
        if piece in _PER or piece == "/":
            sign = -1
            continue
        if piece == "*":
            continue
        if piece.lower() in _SQUARE:
            raised = _SQUARE[piece.lower()]
            continue
        if piece == "degree" and position < len(pieces) and pieces[position] in ("C", "F", "K"):
            piece = {"C": "celsius", "F": "fahrenheit", "K": "K"}[pieces[position]]
            position += 1
        if piece in ("degree", "degrees") and pieces[position : position + 1] in (["Celsius"], ["Fahrenheit"]):
            piece = pieces[position]
            position += 1
        unit = UNITS.get(piece) or (UNITS.get(piece.lower()) if len(piece) > 2 else None)
        if unit is None and piece == "μ" and position < len(pieces):
            unit = UNITS.get("μ" + pieces[position])
            position += 1
        if unit is None:
            return None
        power = raised
        if position < len(pieces) and pieces[position] in ("squared", "cubed"):
            power = {"squared": 2, "cubed": 3}[pieces[position]]
            position += 1
        if position + 1 < len(pieces) and pieces[position] == "^":
            power = int(pieces[position + 1])
            position += 2
        elif position < len(pieces) and pieces[position] in ("2", "3"):
            power = int(pieces[position])
            position += 1
        if abs(power) > 9:
            return None
        factor *= unit.factor ** (sign * power)
        for base, exponent in unit.powers.items():
            powers[base] = powers.get(base, 0) + sign * power * exponent
        raised = 1
    return Unit(factor, powers) if powers else None


def _noun(pieces: Sequence[str]) -> Unit | None:
    if len(pieces) > 4 or not all(piece.isalpha() and len(piece) > 1 for piece in pieces) or len(pieces[-1]) < 3:
        return None
    if is_product(pieces[-1]):
        return None
    words = [piece.lower() for piece in pieces]
    if any(word in _NOT_NOUNS for word in words):
        return None
    return Unit(Fraction(1), {" ".join(singular(word) for word in words): 1})


def is_product(word: str) -> bool:
    """Tell a product of three or more variables from a word: `mgh`, `xyz`, `abcd`."""
    if not 3 <= len(word) <= 8 or not word.isascii():
        return False
    in_order = all(ord(after) - ord(letter) == 1 for letter, after in pairwise(word))
    return in_order or not set(word.lower()) & set("aeiouy")


def singular(word: str) -> str:
    """A word without the ending of its plural; the same for both numbers."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("ches", "shes", "sses", "xes")):
        return word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
