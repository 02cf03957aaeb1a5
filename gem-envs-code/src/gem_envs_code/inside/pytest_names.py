"""The module `pytest` for tests of data sets: what they use of it, and running them."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

import itertools
import math
import re
from types import FunctionType
from typing import Any


class Raises:
    """The context in which an exception is to be raised; `value` is the exception."""

    def __init__(self, expected: Any, match: str | None = None) -> None:
        self.expected, self.match = expected, match

    def __enter__(self) -> "Raises":
        return self

    def __exit__(self, kind: Any, error: Any, _: object) -> bool:
        assert kind is not None, f"{self.expected} was not raised"
        if not issubclass(kind, self.expected):
            return False
        self.type, self.value = kind, error
        assert self.match is None or re.search(self.match, str(error)), f"the message is {error}"
        return True


class Approx:
    """Equal to numbers, or collections of numbers, that differ by no more than a millionth, or by what is given."""

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __init__(self, expected: Any, rel: Any = None, abs: Any = None, nan_ok: bool = False) -> None:
        self.expected, self.given = expected, (rel, abs, nan_ok)

    def __eq__(self, found: Any) -> bool:
        expected, (relative, absolute, nan_ok) = self.expected, self.given
        if isinstance(expected, dict):
            keys = {*expected} == {*found}
            return keys and all(Approx(expected[key], *self.given) == found[key] for key in expected)
        if isinstance(expected, list | tuple):
            pairs = zip(expected, found, strict=True)
            return len(found) == len(expected) and all(Approx(its, *self.given) == ours for its, ours in pairs)
        if found == expected or not isinstance(expected, int | float | complex):
            return bool(found == expected)
        if math.isnan(abs(expected)):
            return nan_ok and math.isnan(abs(found))
        if math.isinf(abs(expected)):
            return False
        near = 0.0 if relative is None and absolute is not None else (1e-6 if relative is None else relative)
        return bool(abs(found - expected) <= max(near * abs(expected), 1e-12 if absolute is None else absolute))


class Mark:
    """`pytest.mark`: parameters are kept, and other marks change nothing."""

    def parametrize(self, names: Any, values: Any, **_: Any) -> Any:
        """Keep the values of parameters, whose names are a text with commas or a list."""
        each = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
        rows = [dict(zip(each, row if len(each) > 1 else [row], strict=True)) for row in values]

        def mark(function: Any) -> Any:
            function.rows = [*getattr(function, "rows", []), rows]
            return function

        return mark

    def __getattr__(self, _: str) -> Any:
        def mark(*given: Any, **_: Any) -> Any:
            return given[0] if given and callable(given[0]) else unchanged

        return mark


raises, approx, mark = Raises, Approx, Mark()


def fixture(function: Any = None, **_: Any) -> Any:
    """Mark a function whose result tests take by its name."""
    if function is None:
        return fixture
    function.is_fixture = True
    return function


def param(*values: Any, **_: Any) -> Any:
    """The values of the parameters of a test."""
    return values[0] if len(values) == 1 else values


def fail(*_: Any, **__: Any) -> None:
    """Fail the test."""
    raise AssertionError("pytest.fail")


def unchanged(function: Any) -> Any:
    """The function that a mark without effect returns."""
    return function


def parameters(function: Any) -> tuple[str, ...]:
    """The names of the parameters of a function."""
    code: Any = getattr(function, "__func__", function).__code__
    names: tuple[str, ...] = code.co_varnames[: code.co_argcount]
    return names[1:] if hasattr(function, "__self__") else names


def run(function: Any, names: dict[str, Any], given: dict[str, Any]) -> Any:
    """Call a test, or a fixture, with what its parameters name."""
    for name in parameters(function):
        if name not in given:
            made = run(names[name], names, given)
            given[name] = next(made) if hasattr(made, "send") else made
    return function(**{name: given[name] for name in parameters(function)})


def run_tests(names: dict[str, Any]) -> None:
    """Run the functions `test…` of a module, and those of its classes `Test…` and of unittest, in their order."""
    for name, value in names.items():
        if name.startswith("test") and isinstance(value, FunctionType):
            run_rows(value, names)
        elif isinstance(value, type) and (name.startswith("Test") or hasattr(value, "assertEqual")):
            for method in (each for each in vars(value) if each.startswith("test")):
                one: Any = value(method) if hasattr(value, "assertEqual") else value()
                for before in ("setUp", "setup_method"):
                    prepare = getattr(one, before, None)
                    if prepare is not None:
                        prepare(*[None] * len(parameters(prepare)))
                run_rows(getattr(one, method), names)


def run_rows(test: Any, names: dict[str, Any]) -> None:
    """Run a test with all combinations of its parameters."""
    for rows in itertools.product(*getattr(test, "rows", [])):
        run(test, names, {name: value for row in rows for name, value in row.items()})
