"""A program that runs tests with other code than the installed one; `test_mutants.py` starts it.

The libraries that take seconds to import are imported once, and each run is a fork of that process. A line of input is
a run as JSON: `tree`, the folder with the code, `arguments` of pytest, and `log`, the file for what is printed. The
answer, a line too, is pytest's exit code, or that of a run that was killed because it did not end.
"""

import json
import multiprocessing
import os
import sys
from typing import Any

import numpy  # noqa: F401
import pydantic  # noqa: F401
import pytest
import transformers.integrations.sdpa_attention
import transformers.masking_utils  # noqa: F401
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast, Qwen3ForCausalLM  # noqa: F401

LONGEST = 550
"""Seconds of a run, fewer than those of the test that waits for it."""


def run(tree: str, arguments: list[str], log: str) -> None:
    """Exit as pytest does."""
    descriptor = os.open(log, os.O_CREAT | os.O_WRONLY)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    os.environ["PYTHONPATH"] = tree  # for the programs that tests start
    sys.path.insert(0, tree)
    imported = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # some plugins of pytest were, above
    sys.exit(pytest.main(["-q", "-x", "-p", "no:cacheprovider", *imported, *arguments]))


def main() -> None:
    """Answer until the input ends."""
    assert not any(name.partition(".")[0].startswith("gem") for name in sys.modules), (
        "the faulty code would not be read"
    )
    for line in sys.stdin:
        wanted: dict[str, Any] = json.loads(line)
        process = multiprocessing.get_context("fork").Process(target=run, kwargs=wanted)
        process.start()
        process.join(LONGEST)
        process.kill()
        process.join()
        print(process.exitcode, flush=True)


if __name__ == "__main__":
    main()
