"""The API reference is complete: what it shows is documented, and what the guides name is in it."""

import ast
import functools
import importlib.util
import re
from pathlib import Path

import documents
import layering
import pytest
import reference

ROOT = Path(__file__).parent.parent
NAV = (ROOT / "mkdocs.yml").read_text("utf-8")

_spec = importlib.util.spec_from_file_location("hooks", ROOT / "docs" / "hooks.py")
assert _spec is not None
assert _spec.loader is not None
hooks = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(hooks)
SHOWN = list(hooks.shown(NAV))
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@functools.cache
def source() -> reference.Source:
    """All packages, parsed once, and only in a process that runs these tests."""
    modules = (each for package in layering.packages(ROOT).values() for each in package.items())
    return reference.read(dict(modules))


@pytest.mark.full
def test_every_name_of_the_reference_is_documented() -> None:
    missing = [name for shown in SHOWN for name in reference.undocumented(source(), shown)]

    assert missing == []


def test_the_page_of_sessions_shows_what_its_classes_inherit() -> None:
    assert "inherited_members: true" in hooks.page("gem_interop.session")
    assert "inherited_members" not in hooks.page("gem.vector")


def test_every_package_is_in_the_reference() -> None:
    pages = {name.partition(".")[0] for name in SHOWN}

    assert set(layering.packages(ROOT)) - pages == set()


@pytest.mark.full
def test_what_the_pages_name_is_in_the_reference() -> None:
    known = {reference.home(source(), shown) for shown in SHOWN}
    whole = tuple(f"{module}." for module, name in known if name is None)
    missing: list[str] = []
    for page in [ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("gem-*/README.md")]:
        for code in documents.inline_code(page.read_text("utf-8")):
            name = code.partition("(")[0]
            if (
                re.fullmatch(r"gem(_\w+)?(\.\w+)+", name)
                and home(name) not in {*known, None}
                and not name.startswith(whole)
            ):
                missing.append(f"{page.name}: {name}")

    assert missing == []


def test_python_in_docstrings_compiles_and_has_no_control_characters() -> None:
    wrong: list[str] = []
    for module, tree in source().trees.items():
        documented = (node for node in ast.walk(tree) if isinstance(node, DOCUMENTED))
        for block in re.findall(
            r"```python\n(.*?)```", "\n".join(ast.get_docstring(n) or "" for n in documented), re.S
        ):
            strings = [node.value for node in ast.walk(ast.parse(block)) if isinstance(node, ast.Constant)]
            # Such as the \b of "\boxed{5}", where the docstring is not raw.
            wrong += [f"{module}: {text!r}" for text in strings if re.search(r"[\x00-\x08\x0b-\x1f]", str(text))]

    assert wrong == []


def test_every_page_is_in_the_navigation_of_the_site() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("gem-*/README.md")]

    assert [str(page.relative_to(ROOT)) for page in pages if str(page.relative_to(ROOT)) not in NAV] == []


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ('"""A module."""\ndef f(): ...', ["planted.f"]),
        ('"""A module."""\nLIMIT = 3', ["planted.LIMIT"]),
        ('"""A module."""\nclass C:\n    """A class."""\n    def f(self): ...', ["planted.C.f"]),
        ('"""A module."""\nclass C:\n    """A class."""\n    field: int', ["planted.C.field"]),
        ('"""A module."""\nclass C:\n    """A class."""\n    def __init__(self): self.x = 1', ["planted.C.x"]),
        ("def _private(): ...", ["planted"]),
        ('"""A module."""\nLIMIT = 3\n"""The most."""\nclass C:\n    """A class with `field`."""\n    field: int', []),
        ('"""A module."""\nclass A:\n    """A."""\n    f = 1\n    """f"""\nclass B(A):\n    """B."""\n    f = 2', []),
    ],
)  # fmt: skip
def test_a_name_without_documentation_is_found(text: str, missing: list[str], tmp_path: Path) -> None:
    (tmp_path / "planted.py").write_text(text, "utf-8")
    planted = reference.read({"planted": tmp_path / "planted.py"})

    assert reference.undocumented(planted, "planted") == missing


def test_a_page_about_a_name_that_does_not_exist_is_found() -> None:
    with pytest.raises(LookupError, match=r"gem\.core has no Envv"):
        reference.undocumented(source(), "gem.core.Envv")


def home(name: str) -> tuple[str, str] | None:
    """Where an object is defined; None for modules, members of classes, and what is not ours."""
    try:
        module, found = reference.home(source(), name)
    except LookupError:
        return None
    return (module, found) if found else None
