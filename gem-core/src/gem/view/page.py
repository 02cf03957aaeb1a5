"""One HTML file with everything in it: data, style and program. It needs no network."""

import json
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any


def page_of(runs: Sequence[Mapping[str, Any]]) -> str:
    """The page that shows `runs` (see `run_of`).

    The data is JSON in an element that browsers do not run, with every `<` escaped, and the program writes it as text
    only: markup in an episode is shown, not run.
    """
    data = json.dumps({"runs": runs}, ensure_ascii=False, separators=(",", ":"))
    parts = {"style": _asset("view.css"), "program": _asset("view.js"), "data": data.replace("<", "\\u003c")}
    page = _asset("view.html")
    for name, text in parts.items():
        before, mark, after = page.partition(f"/*{name}*/")
        assert mark, name
        page = before + text + after
    return page


def _asset(name: str) -> str:
    return resources.files("gem.view").joinpath(name).read_text(encoding="utf-8")
