"""Rows of LiveCodeBench: public tests as JSON, private ones as JSON that is pickled, compressed and written as text."""

import base64
import pickletools
import zlib
from typing import Any

from gem.errors import Fault
from gem_envs_code.formats.columns import Row, entry, task, text, with_start
from gem_envs_code.rows import read_tests
from gem_envs_code.tasks import Task, Test

_MOST_BYTES = 2**28
"""Bytes of the tests of a row, unpacked: those of LiveCodeBench have up to a hundred million."""


def livecodebench(row: Row) -> Task:
    """A row of LiveCodeBench; `metadata` names the function, where tests call one."""
    function = entry(row, "metadata", "func_name")
    tests: list[Test] = []
    for column in ("public_test_cases", "private_test_cases"):
        if (value := row.get(column)) not in (None, "", "[]", []):
            tests += read_tests(unpacked(value), function)
    statement = text(row, "question_content")
    return task(row, with_start(row, statement), tests)


def unpacked(value: Any) -> Any:
    """A column of tests as it was before it was packed; what is not packed stays as it is.

    Raises:
        Fault: it is packed, but not as text that is pickled, compressed with zlib and written in base64.
    """
    if not isinstance(value, str) or value.lstrip()[:1] in ("[", "{"):
        return value
    try:
        unpacking = zlib.decompressobj()
        packed = unpacking.decompress(base64.b64decode(value, validate=True), _MOST_BYTES)
        if not unpacking.eof:
            raise ValueError(f"more than {_MOST_BYTES} bytes, or not all of it")
        return _pickled_text(packed)
    except (ValueError, TypeError, zlib.error) as error:
        raise Fault(f"packed tests that cannot be read ({type(error).__name__}: {error})") from error


_TEXTS = frozenset(["UNICODE", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8"])
_BESIDES = frozenset(["PROTO", "FRAME", "PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE", "STOP"])


def _pickled_text(packed: bytes) -> str:
    """The text that a pickle is, read without unpickling: that can call functions, and take memory for a few bytes."""
    texts: list[str] = []
    for step, given, _ in pickletools.genops(packed):
        if step.name in _TEXTS:
            texts.append(str(given))
        elif step.name not in _BESIDES:
            raise ValueError(f"the pickle has {step.name}, and is not plain data: a text")
    (text,) = texts
    return text
