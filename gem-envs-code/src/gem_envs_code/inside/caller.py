"""Runs a program in the sandbox on one test or on several, and writes an answer for each.

It reads an order from standard input, before the program can:

    {"program": source, "mark": text, "tests": [test, …]}

A test is `{"stdin": text}` (the answer is what the program prints), or `{"function": name, "arguments": …,
"keywords": …}` (the answer is the result). An answer is a line of standard output: the mark, then JSON. Whatever goes
wrong ends the process with the status of a failure, so the number of answers says how many tests were finished.

The program shares this process and may write what it likes instead. It gains nothing: answers are compared with what
is expected elsewhere, and here is nothing that could tell it.
"""

import builtins
import io
import json
import os
import sys
from collections.abc import Callable
from types import CodeType, ModuleType
from typing import Any

from gem_envs_code.inside.wire import decode, encode


def module(code: CodeType, name: str) -> dict[str, Any]:
    """Run the program as the module `name`; returns its names."""
    made = ModuleType(name)
    made.__dict__.update(__builtins__=builtins, __file__=os.path.join(os.getcwd(), "main.py"))
    sys.modules[name] = made
    exec(code, made.__dict__)
    return made.__dict__


def find(names: dict[str, Any], function: str) -> Callable[..., Any]:
    """A function of the program, or a method of its class `Solution`."""
    if function not in names and hasattr(names.get("Solution"), function):
        return getattr(names["Solution"](), function)
    if function not in names:
        raise NameError(f"the program has no function {function}")
    return names[function]


def printed(code: CodeType, stdin: str) -> str:
    """What the program prints."""
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin.encode("utf-8", "replace")), "utf-8", "surrogateescape")
    stdout = io.BytesIO()
    sys.stdout = io.TextIOWrapper(stdout, "utf-8", "surrogateescape")
    try:
        module(code, "__main__")
    except SystemExit as end:
        if end.code not in (None, 0):
            raise
    sys.stdout.flush()
    return stdout.getvalue().decode("utf-8", "surrogateescape")


def called(code: CodeType, test: dict[str, Any]) -> Any:
    """The result of a call."""
    sys.stdin, sys.stdout = io.StringIO(), io.StringIO()
    function = find(module(code, "main"), test["function"])
    return encode(function(*decode(test["arguments"]), **decode(test["keywords"])))


def main() -> None:
    """Carry out the order on standard input."""
    order: dict[str, Any] = json.loads(sys.stdin.buffer.read())
    write, end, dumps = os.write, os._exit, json.dumps
    code = compile(order["program"], "main.py", "exec", dont_inherit=True)
    for test in order["tests"]:
        answer = printed(code, test["stdin"]) if "stdin" in test else called(code, test)
        line = f"\n{order['mark']}{dumps(answer)}\n".encode()
        while line:
            line = line[write(1, line) :]
    end(0)


if __name__ == "__main__":
    main()
