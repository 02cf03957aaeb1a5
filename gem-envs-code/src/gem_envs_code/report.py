"""A failure as the author of a program may see it, where tests are not hidden from them."""

from gem_envs_code.judge import Failure
from gem_envs_code.tasks import AssertTest, StdinTest

_MOST = 1000
"""Characters of each text in a report."""


def report(failure: Failure) -> str:
    """The failed test, what the program did, and the last line of its standard error."""
    parts = _test(failure)
    error = failure.result.stderr.strip().splitlines() if failure.result else []
    if error:
        parts.append(f"It ended with:\n{_cut(error[-1])}")
    return "\n".join([f"Test {failure.number} failed: {failure.kind}.", *parts])


def _test(failure: Failure) -> list[str]:
    test, kind = failure.test, "Result"
    if isinstance(test, AssertTest):
        parts = [f"Assertions:\n{_cut(test.code)}"]
    elif isinstance(test, StdinTest):
        kind, parts = "Output", [f"Input:\n{_cut(test.input)}", f"Expected output:\n{_cut(test.output)}"]
    else:
        given = [repr(each) for each in test.arguments] + [f"{name}={each!r}" for name, each in test.keywords.items()]
        expected = test.result[0] if test.or_first else test.result
        call = f"{test.function}({', '.join(given)})"
        parts = [f"Call:\n{_cut(call)}", f"Expected result:\n{_cut(repr(expected))}"]
    return parts if failure.said is None else [*parts, f"{kind} of your program:\n{_cut(failure.said)}"]


def _cut(text: str) -> str:
    text = text.rstrip()
    return text if len(text) <= _MOST else f"{text[:_MOST]}… ({len(text)} characters)"
