"""Tests as data sets have them: columns of TACO, APPS, CodeContests, PrimeIntellect, MBPP and HumanEval, and our own.

| column `tests`, or its JSON | what it is |
|---|---|
| `{"inputs": […], "outputs": […]}` | standard input and output; with `"fn_name"` arguments and results of a function |
| `[{"input": …, "output": …}, …]` | the same, test by test, each with a `"fn_name"` or without |
| `[{"function": …, "arguments": […], "result": …}, …]` | calls of functions |
| `["assert f(1) == 2", …]`, or code | assertions |
| `{"test_cases": …}` | any of these |
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from gem.errors import Fault
from gem_envs_code.tasks import AssertTest, CallTest, StdinTest, Test


def tests_of(value: Any) -> tuple[Test, ...]:
    """The tests in a column.

    Raises:
        Fault: they are in none of the known forms.
    """
    try:
        return tuple(_tests(value))
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise Fault(
            f"tests of an unknown form ({type(error).__name__}: {error}): {value!r:.200}. Known are "
            "{'inputs': […], 'outputs': […]}, lists of {'input': …, 'output': …}, and lists of assertions."
        ) from error


def _tests(value: Any) -> Sequence[Test]:
    if isinstance(value, str):
        if value.lstrip()[:1] not in ("[", "{"):
            return [AssertTest(value)]
        value = json.loads(value)
    if isinstance(value, Mapping):
        columns = cast("Mapping[str, Any]", value)
        if "test_cases" in columns:
            return _tests(columns["test_cases"])
        plural = "s" if "inputs" in columns else ""
        inputs, outputs = columns[f"input{plural}"], columns[f"output{plural}"]
        pairs = list(zip(inputs, outputs, strict=True))
        return _pairs(pairs, [columns.get("fn_name")] * len(pairs))
    each = cast("list[Any]", value)
    if any(isinstance(test, str) for test in each):
        return [AssertTest(test) for test in each]
    if any("arguments" in test for test in each):
        return [_call(test) for test in each]
    return _pairs([(test["input"], test["output"]) for test in each], [test.get("fn_name") for test in each])


def _call(test: Mapping[str, Any]) -> CallTest:
    call = CallTest(test["function"], tuple(test["arguments"]), test["result"], test.get("keywords") or {})
    return replace(call, same=test["same"]) if test.get("same") else call


def _pairs(pairs: Sequence[tuple[Any, Any]], functions: Sequence[str | None]) -> Sequence[Test]:
    # TACO and APPS put results into a list, but not everywhere.
    or_first = all(isinstance(output, list) and len(cast("list[Any]", output)) == 1 for _, output in pairs)
    return [
        _function_test(function, given, output, or_first) if function else StdinTest(_text(given), _text(output))
        for (given, output), function in zip(pairs, functions, strict=True)
    ]


def _function_test(function: str, given: Any, output: Any, or_first: bool) -> CallTest:
    if isinstance(given, str):  # as in LiveCodeBench: the JSON of an argument on each line, and the JSON of the result
        arguments = tuple(json.loads(line) for line in given.splitlines() if line.strip())
        return CallTest(function, arguments, json.loads(output))
    return CallTest(function, tuple(given), output, or_first=or_first)


def _text(given: Any) -> str:
    """The text of an input or output: given as such, or as a list of its lines."""
    return "".join(f"{line}\n" for line in cast("list[Any]", given)) if isinstance(given, list) else str(given)
