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

# pyright: reportUnknownArgumentType=false

import builtins
import collections
import io
import itertools
import json
import operator
import os
import random
import sys
from collections.abc import Awaitable, Callable, Iterator
from types import CodeType, CoroutineType, ModuleType
from typing import Any

from gem_envs_code.inside.wire import CLASSES, content, decode, differ, encode, fill, is_array

MOST_ITEMS = 10_000
"""Items of an iterable that a test gets to see."""

MUTABLE: tuple[Any, ...] = (list, dict, set, bytearray, collections.deque, collections.Counter, collections.OrderedDict)
"""Types of arguments that a step may change, as it may arrays."""

_HIDDEN = """abstractmethods class class_getitem del delattr delete dict dir doc get getattr getattribute getnewargs
getnewargs_ex getstate init init_subclass module mro_entries new reduce reduce_ex set set_name setattr setstate sizeof
slots subclasshook weakref"""
HIDDEN = frozenset(f"__{name}__" for name in _HIDDEN.split())
"""Special methods that a test does not call itself."""


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

    A step's answer is `{"is": result, "changed": …, "made": …}`, with the arguments that it has changed by their
    positions (keywords come last), or `{"raised": class, "args": …, "error": …, "made": …}`. What is not plain data
    stays here, and `{"object": number}` refers to it; `made` describes those that are new. `{"result": number}` is what
    a step gave.
    """

    def __init__(self, code: CodeType, seed: int) -> None:
        random.seed(seed)  # so that it draws the same numbers each time that the test is run from its beginning
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(seed)
        self.names = module(code, "main")
        self.objects: list[Any] = []
        self.numbers: dict[int, int] = {}
        self.results: list[Any] = []
        self.made: dict[int, Any] = {}

    def carry_out(self, step: list[Any]) -> dict[str, Any]:
        """Carry out the next step; returns its answer."""
        action, given, named = step
        self.made = {}
        self.results.append(None)
        arguments, keywords = decode(given, self.object), decode(named, self.object)
        try:
            result = self.act(action, arguments, keywords)
        except Exception as error:
            try:
                args = encode(error.args, self.reference)
            except Exception:
                args = {"tuple": [str(error)[:1000]]}
            kind, own = self.reference(type(error)), self.reference(error)
            return {"raised": kind, "args": args, "error": own, "made": self.made}
        self.results[-1] = result
        changed: dict[str, Any] = {}
        befores = [*given, *(value for _, value in named["dict"])]
        for number, (before, after) in enumerate(zip(befores, [*arguments, *keywords.values()], strict=True)):
            mutable = type(after) in MUTABLE or is_array(after)
            if action != "update" and mutable and isinstance(before, list | dict):
                now = encode(after, self.reference)
                if differ(now, before):
                    changed[str(number)] = now
        return {"is": encode(result, self.reference), "changed": changed, "made": self.made}

    def act(self, action: str, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        if action == "name":
            return find(self.names, arguments[0])
        if action == "call":
            return arguments[0](*arguments[1:], **keywords)
        if action == "special":
            name, own, *others = arguments
            return getattr(type(own), name)(own, *others)
        if action == "items":
            items: Iterator[Any] = iter(arguments[0])
            return list(itertools.islice(items, arguments[1]))
        if action == "plain":
            return Encoded(content(arguments[0], self.reference))
        if action == "update":
            return fill(*arguments)
        if action == "await":
            return self.waited(arguments[0])
        return (getattr(builtins, action, None) or getattr(operator, action))(*arguments)

    def waited(self, awaited: Awaitable[Any]) -> Any:
        """The result of what is awaited."""
        import asyncio  # which takes a while

        if not hasattr(self, "loop"):
            self.loop = asyncio.new_event_loop()

        async def wait() -> Any:
            return await awaited

        return self.loop.run_until_complete(wait())

    def reference(self, value: Any) -> dict[str, Any]:
        """The reference to an object, which is described the first time."""
        if isinstance(value, Encoded):
            return value.encoded
        if isinstance(value, type) and CLASSES.get(value.__name__) is value:
            return {"class": value.__name__}
        number = self.numbers.get(id(value))
        if number is None:
            number = self.numbers[id(value)] = len(self.objects)
            self.objects.append(value)
            self.made[number] = self.described(value)
        return {"object": number}

    def described(self, value: Any) -> dict[str, Any]:
        """The description of an object."""
        if type(value) is CoroutineType:
            return {"kind": "coroutine"}
        if not isinstance(value, type):
            found = {"kind": "object", "class": self.reference(type(value))}
            if isinstance(value, int | float | str | tuple | frozenset | bytes | complex):
                found["plain"] = content(value, self.reference)
            return found
        special = [name for name, found in vars(value).items() if name[:2] == "__" == name[-2:] and callable(found)]
        return {
            "kind": "class",
            "name": value.__name__,
            "bases": [self.reference(base) for base in value.__bases__],
            "special": sorted({*special} - HIDDEN),
            "unhashable": vars(value).get("__hash__", 0) is None,
        }

    def object(self, reference: dict[str, Any]) -> Any:
        """The object that a reference means."""
        ((kind, found),) = reference.items()
        if kind == "object":
            return self.objects[found]
        if kind == "result":
            return self.results[found]
        if kind == "error":
            name, args = found
            return CLASSES[name](*decode(args, self.object))
        return CLASSES[found]


class Encoded:
    """A result that is encoded already."""

    def __init__(self, encoded: Any) -> None:
        self.encoded = encoded


def answers(code: CodeType, test: dict[str, Any]) -> Iterator[Any]:
    """The answer to a test, or those to its steps."""
    if "stdin" in test:
        yield printed(code, test["stdin"])
    elif "function" in test:
        yield called(code, test)
    else:
        sys.stdin, sys.stdout = io.StringIO(), io.StringIO()
        steps = Steps(code, test["seed"])
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
