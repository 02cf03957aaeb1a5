"""A program that runs tests with other code than the installed one; `test_mutants.py` starts it.

The libraries that take seconds to import are imported once, and each run is a fork of that process. A line of input is
a run as JSON: `tree`, the folder with the code, `arguments` of pytest, and `log`, the file for what is printed. The
answer, a line too, is pytest's exit code.
"""

import json
import os
import sys
from typing import Any

import numpy  # noqa: F401
import pydantic  # noqa: F401
import pytest
import transformers.integrations.sdpa_attention
import transformers.masking_utils  # noqa: F401
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast, Qwen3ForCausalLM  # noqa: F401


def run(tree: str, arguments: list[str], log: str) -> int:
    """Exit code of pytest."""
    descriptor = os.open(log, os.O_CREAT | os.O_WRONLY)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    os.environ["PYTHONPATH"] = tree  # for the programs that tests start
    os.environ["GEM_TESTS_FORK"] = "1"  # see `spawned`, which imports the trainer
    sys.path.insert(0, tree)
    imported = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # some plugins of pytest were, above
    return pytest.main(["-q", "-x", "-p", "no:cacheprovider", *imported, *arguments])


def main() -> None:
    """Answer until the input ends."""
    assert not any(name.partition(".")[0].startswith("gem") for name in sys.modules), (
        "the faulty code would not be read"
    )
    for line in sys.stdin:
        wanted: dict[str, Any] = json.loads(line)
        child = os.fork()
        if not child:
            code = run(**wanted)
            sys.stdout.flush()
            os._exit(code)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
