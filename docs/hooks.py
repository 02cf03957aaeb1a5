"""What MkDocs does here beyond its settings.

- The site holds the pages of the whole repository, each at its path in the repository: links between pages are the
  same here and where the code is browsed. A link to a file or a folder that is not in the site becomes its text.
- `reference/NAME.md` in the navigation of `mkdocs.yml` is generated: it documents the module NAME and those in it, of
  an environment pack the classes that its ids name. Names of the reference that stand in code are links to it.
"""

import importlib
import inspect
import posixpath
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
FILES = (
    "*.md",
    "docs/*.md",
    "docs/*.css",
    "docs/*.png",
    "gem-*/README.md",
    "gem-*/src/**/*.md",
    "examples/*",
    "LICENSE",
)

_REFERENCE = re.compile(r"reference/(\w+(?:\.\w+)*)\.md")
_LINK = re.compile(r"\[([^\]]*)\]\(([^)\s#:]+)(#[^)\s]*)?\)")
_CODE = re.compile(r"(?<!<pre>)<code>((?:gem|gem_\w+)(?:\.\w+)+)(\([^<]*\))?</code>(?!</a>)")

SOURCES = sorted(ROOT.glob("gem-*/src"))


def on_config(config: MkDocsConfig) -> None:
    """Tell mkdocstrings where the packages are: it reads their source and imports nothing."""
    sys.path[:0] = map(str, SOURCES)
    config.plugins["mkdocstrings"].config["handlers"]["python"]["paths"] = [str(path) for path in SOURCES]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The files of the theme, and those of the repository at their paths in it."""
    kept = [file for file in files if not str(file.abs_src_path).startswith(config.docs_dir)]
    own = [
        File.generated(config, path.relative_to(ROOT).as_posix(), abs_src_path=str(path))
        for pattern in FILES
        for path in sorted(ROOT.glob(pattern))
        if path.is_file()
    ]
    made = [
        File.generated(config, f"reference/{name}.md", content=reference(name))
        for path in paths(config.nav)
        if (match := _REFERENCE.fullmatch(path)) and (name := match[1])
    ]
    return Files([*kept, *own, *made])


def on_page_markdown(markdown: str, page: Any, files: Files, **_: Any) -> str:
    """Links to what the repository has and the site has not become text."""
    folder = posixpath.dirname(page.file.src_uri)

    def known(match: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(folder, match[2]))
        return match[0] if files.get_file_from_path(path) or not (ROOT / path).exists() else match[1]

    return _LINK.sub(known, markdown)


def on_page_content(html: str, **_: Any) -> str:
    """Names in code become links to the reference, where it has them."""
    return _CODE.sub(r'<autoref identifier="\1" optional><code>\1\2</code></autoref>', html)


def paths(nav: Any) -> Iterator[str]:
    """The pages that the navigation names."""
    match nav:
        case str():
            yield nav
        case list() | dict():
            for part in nav.values() if isinstance(nav, dict) else nav:
                yield from paths(part)


def reference(name: str) -> str:
    """The Markdown of the page about a module."""
    if name.startswith("gem_envs_"):
        plugin = importlib.import_module(f"{name}.plugin")
        shown = dict.fromkeys(spec.entry_point.replace(":", ".") for spec in plugin.gem_envs())
        return "\n\n".join([f"# `{name}`", importlib.import_module(name).__doc__ or "", *map(block, shown)])
    module = importlib.import_module(name)
    if name == "gem":
        return "\n".join([f"# `{name}`\n", module.__doc__ or "", *public_names(module)])
    return block(name, heading_level=1, show_submodules=not hasattr(module, "__all__"))


def block(path: str, **options: object) -> str:
    """What mkdocstrings replaces by the documentation of one object."""
    lines = [f"      {name}: {str(value).lower()}" for name, value in options.items()]
    return "\n".join([f"::: {path}", *(["    options:"] if lines else []), *lines])


def public_names(module: ModuleType) -> list[str]:
    """A table of what `gem` exports, with links to where it is documented."""
    rows = ["\n| name | |", "|---|---|"]
    for name in module.__all__:
        if not name.startswith("_"):
            value = getattr(module, name)
            path = value.__name__ if isinstance(value, ModuleType) else f"{module._MODULE_OF[name]}.{name}"
            rows.append(f"| [`gem.{name}`][{path}] | {(inspect.getdoc(value) or '').partition(chr(10))[0]} |")
    return rows
