"""Tests as the column of a data set has them; `gem_envs_code.formats` knows the rows of many.

| data, or its text | what it is |
|---|---|
| `{"inputs": […], "outputs": […]}` | standard input and output; with `"fn_name"` arguments and results of a function |
| `[{"input": …, "output": …}, …]` | the same, test by test, each with a `"fn_name"` or without |
| `[{"function": …, "arguments": […], "result": …}, …]` | calls of functions |
| `["assert f(1) == 2", …]`, or code | assertions |
| `[{"input": …, "output": …, "testtype": "functional"}, …]` | calls of the function that a row names elsewhere |
| `{"test_cases": …}` | any of these |
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from gem.data.literals import loads, plain
from gem.errors import Fault
from gem_envs_code.tasks import AssertTest, CallTest, StdinTest, Test


def read_tests(value: Any, function: str | None = None) -> tuple[Test, ...]:
    """The tests in a column.

    Args:
        value: data, or the text of it: JSON or a Python literal.
        function: what tests of the type `functional` call, where the row says that elsewhere, as in LiveCodeBench.

    Raises:
        Fault: they are in none of the known forms, or there are none.
    """
    try:
        found = tuple(_tests(value, function))
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise Fault(
            f"tests of an unknown form ({type(error).__name__}: {error}): {value!r:.200}. Known are "
            "{'inputs': […], 'outputs': […]}, lists of {'input': …, 'output': …}, and lists of assertions."
        ) from error
    if not found:
        raise Fault(f"there are no tests: {value!r:.200}")
    return found


def _tests(value: Any, function: str | None) -> Sequence[Test]:
    value = plain(value)
    if isinstance(value, str):
        if value.lstrip()[:1] in ("[", "{"):
            raise ValueError("neither JSON nor Python")
        return [AssertTest(value)] if value.strip() else []
    if isinstance(value, Mapping):
        columns = cast("Mapping[str, Any]", value)
        if columns.get("test_cases") is not None:
            return _tests(columns["test_cases"], function)
        plural = "s" if "inputs" in columns else ""
        inputs, outputs = columns[f"input{plural}"], columns[f"output{plural}"]
        pairs = list(zip(inputs, outputs, strict=True))
        return _pairs(pairs, [columns.get("fn_name") or function] * len(pairs))
    each = cast("list[Any]", value)
    if any(isinstance(test, str) for test in each):
        return [AssertTest(test) for test in each]
    if any("arguments" in test for test in each):
        return [_call(test) for test in each]
    return _pairs([(test["input"], test["output"]) for test in each], [_called(test, function) for test in each])


def _called(test: Mapping[str, Any], function: str | None) -> str | None:
    """The function that a test calls, or None for one on standard input."""
    if test.get("fn_name"):
        return test["fn_name"]
    if test.get("testtype") != "functional":
        return None
    own = test.get("metadata")
    named = cast("Mapping[str, Any]", own).get("func_name") if isinstance(own, Mapping) else None
    if not (named or function):
        raise KeyError("func_name")
    return named or function


def _call(test: Mapping[str, Any]) -> CallTest:
    function, arguments = _named(test["function"], test["arguments"])
    call = CallTest(function, arguments, test["result"], test.get("keywords") or {})
    return replace(call, same=test["same"]) if test.get("same") else call


def _named(function: Any, arguments: Any) -> tuple[str, tuple[Any, ...]]:
    """The name of a function, and its arguments."""
    if not isinstance(function, str) or not isinstance(arguments, list | tuple):
        raise TypeError("a call has the name of a function and a list of arguments")
    return function, tuple(cast("Sequence[Any]", arguments))


def _pairs(pairs: Sequence[tuple[Any, Any]], functions: Sequence[str | None]) -> Sequence[Test]:
    # TACO and APPS put results into a list, but not everywhere.
    or_first = all(isinstance(output, list) and len(cast("list[Any]", output)) == 1 for _, output in pairs)
    if any(output is None for (_, output), function in zip(pairs, functions, strict=True) if not function):
        raise TypeError("an output is missing")
    return [
        _function_test(function, given, output, or_first) if function else StdinTest(_text(given), _text(output))
        for (given, output), function in zip(pairs, functions, strict=True)
    ]


def _function_test(function: str, given: Any, output: Any, or_first: bool) -> CallTest:
    if isinstance(given, str):  # as in LiveCodeBench: the JSON of an argument on each line, and the JSON of the result
        arguments = tuple(loads(line) for line in given.splitlines() if line.strip())
        return CallTest(function, arguments, loads(output) if isinstance(output, str) else output)
    return CallTest(*_named(function, given), output, or_first=or_first)


def _text(given: Any) -> str:
    """The text of an input or output: given as such, or as a list of its lines."""
    if given is None:
        return ""
    return "".join(f"{line}\n" for line in cast("list[Any]", given)) if isinstance(given, list) else str(given)
