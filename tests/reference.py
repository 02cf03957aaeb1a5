"""Which names of the API reference lack documentation, read from the source with `ast`; nothing is imported.

A name is documented

- as a module, a class, a function or a method: by a docstring, or as a method by that of a class that it overrides;
- as a constant, a type or a field: by a text below it, or in the docstring of its class, as `` `name` `` or `name:`.

What begins with an underscore needs none, nor do the members of such a class.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

FRAMEWORK = frozenset({"model_config", "GEM_API"})
"""Names that pydantic and the hooks prescribe."""


@dataclass(frozen=True)
class Source:
    """The source of all packages, parsed."""

    trees: Mapping[str, ast.Module]
    """Module → its tree."""
    classes: Mapping[str, list[ast.ClassDef]]
    """Name → the classes of that name, in any module."""


def read(modules: Mapping[str, Path]) -> Source:
    """Parse modules, given as name → file."""
    trees = {name: ast.parse(file.read_text("utf-8")) for name, file in modules.items()}
    classes: dict[str, list[ast.ClassDef]] = {}
    for node in (node for tree in trees.values() for node in ast.walk(tree)):
        if isinstance(node, ast.ClassDef):
            classes.setdefault(node.name, []).append(node)
    return Source(trees, classes)


def undocumented(source: Source, shown: str) -> list[str]:
    """The names that lack documentation in what the reference shows under a full name: an object, or a whole package.

    Raises:
        LookupError: nothing has that name.
    """
    if shown in source.trees:
        inside = [module for module in source.trees if f"{module}.".startswith(f"{shown}.")]
        return [name for module in inside for name in _of_module(source, module)]
    module, name = home(source, shown)
    if name is None:
        return _of_module(source, module)
    return [f"{module}.{each}" for each in _of_body(source, source.trees[module]) if each.partition(".")[0] == name]


def home(source: Source, full: str) -> tuple[str, str | None]:
    """The module that defines what has this full name, perhaps as an export of another, and its name there."""
    if full in source.trees:
        return full, None
    module, _, name = full.rpartition(".")
    if module not in source.trees:
        raise LookupError(f"there is no {full}")
    for node in ast.walk(source.trees[module]):
        if isinstance(node, ast.ImportFrom) and any((alias.asname or alias.name) == name for alias in node.names):
            return home(source, f"{node.module}.{name}")
    if name not in map(_name, source.trees[module].body):
        raise LookupError(f"{module} has no {name}")
    return module, name


def _of_module(source: Source, module: str) -> list[str]:
    tree = source.trees[module]
    missing = [] if ast.get_docstring(tree) else [module]
    return missing + [f"{module}.{name}" for name in _of_body(source, tree)]


def _of_body(
    source: Source, owner: ast.Module | ast.ClassDef, inherited: frozenset[str] = frozenset()
) -> Iterator[str]:
    """The names in a body that lack documentation, dotted where they are in a class of it."""
    text = (isinstance(owner, ast.ClassDef) and ast.get_docstring(owner)) or ""
    # Overloads, setters and overriding methods need no text of their own.
    documented = {_name(node) for node in owner.body if _has_docstring(node)} | inherited
    for node, below in zip(owner.body, [*owner.body[1:], None], strict=True):
        name = _name(node)
        if not name or name.startswith("_") or name in FRAMEWORK or _explains_itself(node):
            continue
        if isinstance(node, ast.Assign | ast.AnnAssign):
            if name not in documented and not _explained(name, below, text):
                yield name
        elif name not in documented:
            yield name
        if isinstance(node, ast.ClassDef):
            yield from (f"{name}.{member}" for member in _of_body(source, node, frozenset(_inherited(source, node))))
            yield from (f"{name}.{attribute}" for attribute in _of_constructor(source, node))


def _of_constructor(source: Source, owner: ast.ClassDef) -> Iterator[str]:
    """The attributes that a constructor sets, without documentation there or in the docstring of the class."""
    known = {_name(node) for node in owner.body} | set(_inherited(source, owner))
    text = ast.get_docstring(owner) or ""
    for made in (node for node in owner.body if isinstance(node, ast.FunctionDef) and node.name == "__init__"):
        for node, below in zip(made.body, [*made.body[1:], None], strict=True):
            match node:
                case (
                    ast.Assign(targets=[ast.Attribute(ast.Name("self"), name)])
                    | ast.AnnAssign(target=ast.Attribute(ast.Name("self"), name))
                ):
                    if not name.startswith("_") and name not in known and not _explained(name, below, text):
                        yield name


def _explained(name: str, below: ast.stmt | None, text: str) -> bool:
    """Whether there is a text below the attribute, or the docstring of its class names it."""
    explained = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
    return explained or re.search(rf"`{name}\b|^\s*{name}:", text, re.MULTILINE) is not None


def _inherited(source: Source, owner: ast.ClassDef) -> Iterator[str]:
    """The members of the bases of a class; of a base that is not ours, all methods of the class."""
    for base in owner.bases:
        name = ast.unparse(base.value if isinstance(base, ast.Subscript) else base).rpartition(".")[2]
        parents = [each for each in source.classes.get(name, ()) if each is not owner]
        for parent in parents:
            yield from map(_name, parent.body)
            yield from _inherited(source, parent)
        if not parents and name not in (
            "ABC",
            "BaseModel",
            "Exception",
            "Generic",
            "NamedTuple",
            "Protocol",
            "TypedDict",
        ):
            yield from (_name(node) for node in owner.body if isinstance(node, ast.FunctionDef))


def _name(node: ast.stmt) -> str:
    match node:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return name
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
            return name
    return ""


def _explains_itself(node: ast.stmt) -> bool:
    """Whether it is a type variable, or implements a hook, which `gem.packs.hookspecs` documents."""
    match node:
        case ast.Assign(value=ast.Call(func=ast.Name(id="TypeVar"))):
            return True
        case ast.FunctionDef(decorator_list=[decorator, *_]):
            return ast.unparse(decorator).rpartition(".")[2] == "hookimpl"
    return False


def _has_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and bool(ast.get_docstring(node))
