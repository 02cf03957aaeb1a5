"""Runs a program in the sandbox on one test or on several, and writes an answer for each.

It reads an order from standard input, before the program can:

    {"program": source, "mark": text, "tests": [test, …]}

A test is `{"stdin": text}` (the answer is what the program prints), `{"function": name, "arguments": …, "keywords": …}`
(the answer is the result), or `{"steps": [step, …]}` (an answer for each step: see `Steps`). An answer is a line of
standard output: the mark, then JSON. Whatever goes wrong ends the process with the status of a failure, so the number
of answers says how many tests, or steps, were finished.

The program shares this process and may write what it likes instead. It gains nothing: answers are compared with what
is expected elsewhere, and here is nothing that could tell it.
"""

import builtins
import io
import itertools
import json
import operator
import os
import sys
from collections.abc import Callable, Iterator
from types import CodeType, ModuleType
from typing import Any

from gem_envs_code.inside.wire import decode, encode

MOST_ITEMS = 10_000
"""Items of an iterable that a test gets to see."""


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
    """The output of the program."""
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin.encode("utf-8", "replace")), "utf-8", "surrogateescape")
    stdout = io.BytesIO()
    sys.stdout = text = io.TextIOWrapper(stdout, "utf-8", "surrogateescape")
    try:
        module(code, "__main__").clear()  # which ends its objects, as at the end of a process
    except SystemExit as end:
        if end.code not in (None, 0):
            raise
    sys.stdout.flush()
    text.flush()  # should the program have put another one in its place
    return stdout.getvalue().decode("utf-8", "surrogateescape")


def called(code: CodeType, test: dict[str, Any]) -> Any:
    """The result of a call."""
    sys.stdin, sys.stdout = io.StringIO(), io.StringIO()
    function = find(module(code, "main"), test["function"])
    return encode(function(*decode(test["arguments"]), **decode(test["keywords"])))


class Steps:
    """Carries out steps that the referee of a test asks for: `[action, arguments, keywords]`.

    A step's answer is `{"is": result, "changed": …}`, with the arguments that it has changed by their positions, or
    `{"raised": [names of classes], "text": …}`. A result that is not plain data stays here, and
    `{"object": [step, number]}` refers to it from then on.
    """

    def __init__(self, code: CodeType) -> None:
        self.names = module(code, "main")
        self.found: list[list[Any]] = []
        """The objects in the result of each step; the first is the result itself."""

    def carry_out(self, step: list[Any]) -> dict[str, Any]:
        """Carry out the next step; returns its answer."""
        action, given, keywords = step
        arguments = decode(given, self.object)
        own: list[Any] = []
        self.found.append(own)
        try:
            result = self.act(action, arguments, decode(keywords, self.object))
        except Exception as error:
            own.append(None)
            kinds = [kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins"]
            return {"raised": kinds, "text": str(error)[:1000]}
        own.append(result)
        changed: dict[str, Any] = {}
        for number, (before, after) in enumerate(zip(given, arguments, strict=True)):
            if isinstance(after, list | dict | set | bytearray) and isinstance(before, list | dict):
                now = encode(after, self.reference)
                if now != before:
                    changed[str(number)] = now
        return {"is": encode(result, self.reference), "changed": changed}

    def act(self, action: str, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        if action == "name":
            return find(self.names, arguments[0])
        if action == "call":
            return arguments[0](*arguments[1:], **keywords)
        if action == "items":
            items: Iterator[Any] = iter(arguments[0])
            return list(itertools.islice(items, MOST_ITEMS))
        return (getattr(operator, action, None) or getattr(builtins, action))(*arguments)

    def reference(self, value: Any) -> dict[str, Any]:
        """The reference to an object in the result of the last step."""
        own = self.found[-1]
        if not any(value is each for each in own):
            own.append(value)
        return {"object": [len(self.found) - 1, next(at for at, each in enumerate(own) if each is value)]}

    def object(self, reference: list[int]) -> Any:
        """The object that a reference means."""
        step, number = reference
        return self.found[step][number]


def answers(code: CodeType, test: dict[str, Any]) -> Iterator[Any]:
    """The answer to a test, or those to its steps."""
    if "stdin" in test:
        yield printed(code, test["stdin"])
    elif "function" in test:
        yield called(code, test)
    else:
        sys.stdin, sys.stdout = io.StringIO(), io.StringIO()
        steps = Steps(code)
        yield from map(steps.carry_out, test["steps"])


def main() -> None:
    """Carry out the order on standard input."""
    order: dict[str, Any] = json.loads(sys.stdin.buffer.read())
    write, end, dumps = os.write, os._exit, json.dumps
    code = compile(order["program"], "main.py", "exec", dont_inherit=True)
    for test in order["tests"]:
        for answer in answers(code, test):
            line = f"\n{order['mark']}{dumps(answer)}\n".encode()
            while line:
                line = line[write(1, line) :]
    end(0)


if __name__ == "__main__":
    main()
