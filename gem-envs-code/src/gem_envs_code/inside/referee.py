"""Runs the assertions of a test in the sandbox. The program is not here: it runs in a process of its own.

Names that the test does not define are those of the program. What the test does with them are *steps*, which the
program's process carries out: see `gem_envs_code.inside.caller.Steps`. This one reads an order from standard input:

    {"test": code, "names": of the program, "mark": text, "known": [[step, answer], …]}

The test runs from its beginning with the answers that are known. When it needs another one, this process ends, and asks
for the steps so far and that one. To ask for many at once it runs on with a `Guess`, which meets every assertion, and
asks for what it comes by: if that is what the test does once the answers are known, they are there. It writes one line:
the mark, then `{"passed": bool}`, `{"ask": steps, "sure": how many are not guesses}` or `{"fault": text}`.

A test passes if it comes to its end, and has come by an assertion or an expected exception.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownLambdaType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false, reportPrivateUsage=false

import ast
import json
import os
import sys
from types import CoroutineType, ModuleType, TracebackType
from typing import Any, NoReturn

from gem_envs_code.inside.mirrors import (
    IMMUTABLE,
    JUDGING,
    METHODS,
    MUTABLE,
    OWN,
    Guess,
    Mirror,
    Reference,
    Remote,
    StandIn,
    judging,
    method,
    placed,
    special,
)
from gem_envs_code.inside.wire import CLASSES, NotPlain, TooDeep, decode, differ, encode, fill, is_array

MOST_GUESSES = 500


class Session:
    """The steps of a test."""

    def __init__(self, order: dict[str, Any]) -> None:
        self.mark: str = order["mark"]
        self.known: list[Any] = order["known"]
        self.ends = "Stop" in order["test"]
        """Whether the test itself says something about the end of iterators."""
        self.asked: list[Any] = []
        self.sure = 0
        self.checked = 0
        self.made: dict[str, Any] = {}
        self.has_class = False
        """Whether the program has named a class of Python's, whose objects are made here."""
        self.mirrors: dict[int, Any] = {}
        """What stands here for each object of the program."""
        self.chosen: set[Any] = set()
        """Classes of the program that the test names."""
        self.coroutines: dict[int, Any] = {}
        self.attributes: list[Any] = []
        """Lists, arrays and the like that are attributes in the program's process: step, value, and encoding."""

    def step(self, action: str, *arguments: Any, **keywords: Any) -> Any:
        """The result of a step in the program's process, or what it raised there."""
        for each in [*self.attributes]:
            at, value, before = each
            now = encode(value, self.reference)
            if differ(now, before):  # the test has changed it
                each[2] = now
                self.take("update", Reference({"result": at}), value)
        return self.take(action, *arguments, **keywords)

    def take(self, action: str, *arguments: Any, **keywords: Any) -> Any:
        """`step`, for a program that knows of everything that the test has changed."""
        step: list[Any] = []
        try:
            step = [action, encode(list(arguments), self.reference), encode(keywords, self.reference)]
        except NotPlain as error:
            if self.sure:
                self.ask()
            if isinstance(error, TooDeep) or self.has_class:  # the program has made it
                self.end({"passed": False})
            self.end({"fault": f"the test hands the program what cannot leave it: {error}"})
        at = len(self.asked)
        self.asked.append(step)
        known = None if self.sure or at >= len(self.known) else self.known[at][0]
        if known and not differ(self.resolved(known), self.resolved(step)):
            self.asked[at] = known
            return self.result(at, action, self.known[at][1], [*arguments, *keywords.values()])
        self.sure = self.sure or at + 1
        if at - self.sure > MOST_GUESSES:
            self.ask()
        return Guess(self, {"result": at})

    def resolved(self, step: Any) -> Any:
        """A step with the results that are known by now in the places of those that were guesses."""
        if isinstance(step, list):
            return [self.resolved(each) for each in step]
        if isinstance(step, dict):
            if [*step] == ["result"]:
                return self.known[step["result"]][1].get("is")
            return {kind: self.resolved(each) for kind, each in step.items()}
        return step

    def result(self, at: int, action: str, answer: dict[str, Any], arguments: list[Any]) -> Any:
        """The result of a step whose answer is known."""
        self.made.update(answer["made"])
        if "raised" in answer:
            error = self.error(answer)
            if isinstance(error, StopIteration) and action == "call" and not self.ends:
                self.end({"passed": False})  # it would end a loop of the test before its time, and nobody would notice
            raise error
        for number, now in answer["changed"].items():
            fill(arguments[int(number)], decode(now, self.object))
        found = decode(answer["is"], self.object)
        self.has_class |= isinstance(found, type) and not isinstance(found, Mirror)
        mutable = is_array(found) or (isinstance(found, MUTABLE) and not isinstance(found, Remote))
        if action == "getattr" and mutable:
            self.attributes.append([at, found, encode(found, self.reference)])
        return found

    def error(self, answer: dict[str, Any]) -> BaseException:
        """The exception that a step has raised."""
        kind = self.object(answer["raised"])
        if not (isinstance(kind, type) and issubclass(kind, Exception)):
            raise TypeError("what the program has raised is no exception")
        error = kind.__new__(kind)
        BaseException.__setattr__(error, "args", tuple(decode(answer["args"], self.object)))
        if isinstance(kind, Mirror):
            self.mirrors[answer["error"]["object"]] = placed(error, self, answer["error"])
        return error

    def reference(self, value: Any) -> Any:
        """The encoding of what stands for an object of the program, or of what both sides have."""
        if isinstance(value, StandIn | Mirror | Reference):
            found = value._reference
            if found:
                return found
        elif type(value) is CoroutineType and id(value) in self.coroutines:
            return self.coroutines[id(value)][0]
        elif isinstance(value, type) and CLASSES.get(value.__name__) is value:
            return {"class": value.__name__}
        elif isinstance(value, type) and issubclass(value, Exception):
            return self.reference(value.__base__)
        elif isinstance(value, Exception):
            kind = next(each for each in type(value).__mro__ if CLASSES.get(each.__name__) is each)
            return {"error": [kind.__name__, encode(list(value.args), self.reference)]}
        elif isinstance(value, TracebackType):
            return None
        return encode(value)

    def object(self, reference: Any) -> Any:
        """What stands here for an object of the program."""
        ((kind, number),) = reference.items()
        if kind == "class":
            return CLASSES[number]
        if kind != "object":
            raise ValueError("what the program's process does not say")
        if number not in self.mirrors:
            found = self.made[str(number)]
            if found["kind"] == "coroutine":
                made: Any = self.awaiting(reference)
                self.coroutines[id(made)] = reference, made
            elif found["kind"] == "class":
                made = self.mirror(found, reference)
            else:
                kind = self.object(found["class"])
                if not isinstance(kind, Mirror):
                    kind = self.stand_in(kind)
                plain = next((each for each in IMMUTABLE if issubclass(kind, each)), None)
                if plain is not None:
                    made = plain.__new__(kind, decode(found["plain"], self.object))
                else:
                    made = next(each for each in (*MUTABLE, object) if issubclass(kind, each)).__new__(kind)
                placed(made, self, reference)
            self.mirrors[number] = made
        elif isinstance(self.mirrors[number], Remote):
            # As a result it is the program's: a method might return its own object instead of an answer.
            object.__setattr__(self.mirrors[number], "_own", False)
        return self.mirrors[number]

    async def awaiting(self, reference: Any) -> Any:
        """The result of a coroutine of the program."""
        return self.step("await", Reference(reference))

    def stand_in(self, kind: type) -> Any:
        """A class for objects of the program whose class is here, too, but which cannot be made here."""
        bases = [{"class": kind.__name__}] if issubclass(kind, MUTABLE) else []
        found = {"name": kind.__name__, "bases": bases, "special": {*dir(kind)} - {*dir(object)}, "unhashable": False}
        return self.mirror(found, {"class": kind.__name__})

    def mirror(self, found: dict[str, Any], reference: Any) -> Any:
        """What stands here for a class of the program."""
        bases = [base for base in map(self.object, found["bases"]) if base is not object]
        bases.sort(key=lambda base: not isinstance(base, Mirror))
        if not any(isinstance(base, Mirror) for base in bases):
            bases.insert(0, Remote)
        names: dict[str, Any] = {"_session": self, "_reference": reference}
        for name in found["special"]:
            if name.startswith("__") and name.endswith("__") and name not in OWN:
                names[name] = special(name)
        if found["unhashable"]:
            names["__hash__"] = None
        for base in MUTABLE:
            if any(issubclass(each, base) for each in bases):
                for name in {*dir(base)} - {*dir(object)}:
                    if not name.startswith("__") or name in METHODS:
                        made = special if name in METHODS else judging if name in JUDGING else method
                        names.setdefault(name, made(name))
        try:
            return Mirror(found["name"], tuple(bases), names)
        except TypeError:  # of bases that cannot be put together here
            return Mirror(found["name"], (Remote,), names)

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


class Counting(ast.NodeTransformer):
    """Counts what a test checks: its assertions, calls of functions such as `assertEqual`, and expected exceptions."""

    def visit_Assert(self, node: ast.Assert) -> Any:
        return [_count(), self.generic_visit(node)]

    def visit_Raise(self, node: ast.Raise) -> Any:
        return [_count(), self.generic_visit(node)]

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> Any:
        self.generic_visit(node)
        node.body.insert(0, _count())
        return node

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name.lower().startswith(("assert", "fail", "exit")):
            both = ast.Tuple([_count().value, node.func], ast.Load())
            node.func = ast.Subscript(both, ast.Constant(1), ast.Load())
        return node


def _count() -> ast.Expr:
    return ast.Expr(ast.Call(ast.Name("__checked__", ast.Load()), [], []))


def imported_by(tree: ast.Module) -> set[str]:
    """The names of the modules that a test imports, up to the first dot."""
    names: list[str] = []
    for each in ast.walk(tree):
        if isinstance(each, ast.Import):
            names += [alias.name for alias in each.names]
        elif isinstance(each, ast.ImportFrom):
            names.append(each.module or "")
    return {name.partition(".")[0] for name in names}


def main() -> None:
    """Run the test of the order on standard input."""
    order: dict[str, Any] = json.loads(sys.stdin.buffer.read())
    session = Session(order)
    passed = False

    def checked() -> None:
        session.checked += 1

    tree = ast.parse(order["test"])
    imported = imported_by(tree)
    try:
        code = compile(ast.fix_missing_locations(Counting().visit(tree)), "test.py", "exec")
    except (SyntaxError, ValueError) as error:
        session.end({"fault": f"the test cannot be run: {type(error).__name__}: {error}"})
    try:
        sys.modules["__main__"] = made = ModuleType("__main__")  # where unittest looks for tests
        names = made.__dict__
        names["__checked__"] = checked
        for name in order["names"]:
            names[name] = found = session.step("name", name)
            if isinstance(found, Mirror) and name.lstrip("_")[:1].isupper():
                session.chosen.add(found)
        exec(code, names)
        passed = True
    except SystemExit as end:
        passed = not end.code
    except ImportError as error:
        # This process lacks what the test imports. An error that the program has raised does not name a module here.
        if not session.known or (error.name or "").partition(".")[0] in imported:
            session.end({"fault": f"the test cannot be run: {type(error).__name__}: {error}"})
    except BaseException:  # the test has failed; what the program says may be of any form
        passed = False
    if session.sure:
        session.ask()
    session.end({"passed": passed and session.checked > 0})


if __name__ == "__main__":
    main()
