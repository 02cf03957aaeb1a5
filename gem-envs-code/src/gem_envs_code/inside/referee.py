"""Runs the assertions of a test in the sandbox. The program is not here: it runs in a process of its own.

Names that the test does not define are those of the program. What the test does with them are *steps*, which the
program's process carries out: see `gem_envs_code.inside.caller.Steps`. This one reads an order from standard input:

    {"test": code, "names": of the program, "mark": text, "known": [[step, answer], …]}

The test runs from its beginning with the answers that are known. When it needs another one, this process ends, and asks
for the steps so far and that one. To ask for many at once it runs on with a `Guess`, which meets every assertion, and
asks for what it comes by: if that is what the test does once the answers are known, they are there. It writes one line:
the mark, then `{"passed": bool}`, `{"ask": steps, "sure": how many are not guesses}` or `{"fault": text}`.
"""

import builtins
import json
import os
import sys
from types import ModuleType
from typing import Any, NoReturn

from gem_envs_code.inside.wire import NotPlain, decode, encode

MOST_GUESSES = 500


class Session:
    """The steps of a test."""

    def __init__(self, order: dict[str, Any]) -> None:
        self.mark: str = order["mark"]
        self.known: list[Any] = order["known"]
        self.asked: list[Any] = []
        self.sure = 0

    def step(self, action: str, *arguments: Any, **keywords: Any) -> Any:
        """The result of a step in the program's process, or what it raised there."""
        step: list[Any] = []
        try:
            step = [action, encode(list(arguments), reference), encode(keywords, reference)]
        except NotPlain as error:
            if self.sure:
                self.ask()
            self.end({"fault": f"the test hands the program what cannot leave it: {error}"})
        at = len(self.asked)
        self.asked.append(step)
        if not self.sure and at < len(self.known) and self.known[at][0] == step:
            return self.result(at, self.known[at][1], arguments)
        self.sure = self.sure or at + 1
        if at - self.sure > MOST_GUESSES:
            self.ask()
        return Guess(self, [at, 0])

    def result(self, at: int, answer: dict[str, Any], arguments: tuple[Any, ...]) -> Any:
        """The result of a step whose answer is known."""

        def found(reference: Any) -> Remote:
            step, number = reference
            return Remote(self, [int(step), int(number)])

        if "raised" in answer:
            kinds = [getattr(builtins, str(name), None) for name in answer["raised"]]
            kind = next(each for each in kinds if isinstance(each, type) and issubclass(each, Exception))
            error = kind.__new__(kind)
            error.args = (str(answer["text"]),)
            raise error
        for number, now in answer["changed"].items():
            changed, after = arguments[int(number)], decode(now, found)
            if isinstance(changed, list | bytearray):
                changed[:] = after
            else:
                changed.clear()
                changed.update(after)
        return decode(answer["is"], found)

    def ask(self) -> NoReturn:
        """Ask for the answers to the steps so far, and end."""
        self.end({"ask": self.asked, "sure": self.sure})

    def end(self, said: dict[str, Any]) -> NoReturn:
        """Write what this process has found, and end it."""
        sys.stdout.flush()
        line = f"\n{self.mark}{json.dumps(said)}\n".encode()
        while line:
            line = line[os.write(1, line) :]
        os._exit(0)


class Remote:
    """An object of the program that is not plain data.

    It says what it is, but cannot judge the expectations of a test: it is equal to no plain data, and cannot be
    compared with any, or added to it. Among themselves, objects of the program are what the program says.
    """

    def __init__(self, session: Session, reference: list[int]) -> None:
        self._session, self._reference = session, reference

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self._session.step("call", self, *arguments, **keywords)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__") and name not in ("__name__", "__doc__", "__dict__"):
            raise AttributeError(name)
        return self._session.step("getattr", self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("_session", "_reference"):
            object.__setattr__(self, name, value)
        else:
            self._session.step("setattr", self, name, value)

    def __getitem__(self, key: Any) -> Any:
        return self._session.step("getitem", self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._session.step("setitem", self, key, value)

    def __delitem__(self, key: Any) -> None:
        self._session.step("delitem", self, key)

    def __iter__(self) -> Any:
        return iter(self._session.step("items", self))

    def __next__(self) -> Any:
        return self._session.step("next", self)

    def __contains__(self, item: Any) -> bool:
        return item in list(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Remote) and bool(self._session.step("eq", self, other))

    def __hash__(self) -> int:
        return self._session.step("hash", self)

    def __instancecheck__(self, value: Any) -> bool:
        return isinstance(value, Remote) and bool(self._session.step("isinstance", value, self))


def reference(value: Any) -> Any:
    """The encoding of an object of the program."""
    if isinstance(value, Remote) and value._reference:  # pyright: ignore[reportPrivateUsage]
        return {"object": value._reference}  # pyright: ignore[reportPrivateUsage]
    raise NotPlain(f"a value of type {type(value).__name__}")


def _unary(action: str) -> Any:
    def method(self: Remote) -> Any:
        return self._session.step(action, self)  # pyright: ignore[reportPrivateUsage]

    return method


def _binary(action: str) -> Any:
    def method(self: Remote, other: Any) -> Any:
        return self._session.step(action, self, other) if isinstance(other, Remote) else NotImplemented  # pyright: ignore

    return method


class Guess(Remote):
    """A result that is not known yet. It meets every expectation, and is a result of the program in further steps."""


def _ask(self: Guess, *_: Any) -> NoReturn:
    self._session.ask()  # pyright: ignore[reportPrivateUsage]


def _unknown(self: Guess, *_: Any) -> Guess:
    """Another one, which is not the result of a step."""
    return Guess(self._session, [])  # pyright: ignore[reportPrivateUsage]


def _true(self: Guess, *_: Any) -> bool:
    return True


for _action in ("len", "bool", "str", "repr", "int", "float", "complex", "index", "neg", "abs", "round"):
    setattr(Remote, f"__{_action}__", _unary(_action))
    setattr(Guess, f"__{_action}__", _ask)
for _action in ("lt", "le", "gt", "ge"):
    setattr(Remote, f"__{_action}__", _binary(_action))
for _action in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "or_", "xor"):
    setattr(Remote, f"__{_action.strip('_')}__", _binary(_action))
    setattr(Guess, f"__{_action.strip('_')}__", _unknown)
    setattr(Guess, f"__r{_action.strip('_')}__", _unknown)
for _name in ("getitem", "neg", "abs", "round"):
    setattr(Guess, f"__{_name}__", _unknown)
for _name in ("eq", "ne", "lt", "le", "gt", "ge", "bool", "contains"):
    setattr(Guess, f"__{_name}__", _true)
for _name in ("iter", "next", "hash", "setitem", "delitem", "instancecheck"):
    setattr(Guess, f"__{_name}__", _ask)


def main() -> None:
    """Run the test of the order on standard input."""
    order: dict[str, Any] = json.loads(sys.stdin.buffer.read())
    session = Session(order)
    passed = False
    try:
        sys.modules["__main__"] = made = ModuleType("__main__")  # where unittest looks for tests
        names = made.__dict__
        for name in order["names"]:
            names[name] = session.step("name", name)
        exec(compile(order["test"], "test.py", "exec"), names)
        passed = True
    except SystemExit as end:
        passed = not end.code
    except (ImportError, SyntaxError) as error:
        if not session.known:
            session.end({"fault": f"the test cannot be run: {type(error).__name__}: {error}"})
    except BaseException:  # the test has failed; what the program says may be of any form
        passed = False
    if session.sure:
        session.ask()
    session.end({"passed": passed})


if __name__ == "__main__":
    main()
