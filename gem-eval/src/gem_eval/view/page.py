"""One HTML file with everything in it: data, style and program. It needs no network."""

import base64
import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any, cast

PROGRAM = ("base", "episodes", "transcript", "compare", "curves", "ratings", "audit", "runs")
"""The files of the program, in order."""


def page_of(runs: Sequence[Mapping[str, Any]]) -> str:
    """The page that shows `runs` (see `run_of`).

    The data is JSON in an element that browsers do not run, with every `<` escaped, and the program writes it as text
    only: markup in an episode is shown, not run. The page allows the browser no other program and no connections.
    """
    names = Counter(run["name"] for run in runs)
    named = [{**run, "name": run["name"] if names[run["name"]] == 1 else run["path"]} for run in runs]
    program = "\n".join(asset(f"program/{name}.js") for name in PROGRAM)
    digest = base64.b64encode(hashlib.sha256(program.encode()).digest()).decode()
    parts = {"data": _json(named), "program": program, "hash": f"sha256-{digest}", "style": asset("view.css")}
    texts = re.split(r"/\*(\w+)\*/", asset("view.html"))  # a mark is /*name*/; the parts are not searched for marks
    texts[1::2] = [parts[name] for name in texts[1::2]]
    return "".join(texts)


def asset(name: str) -> str:
    """The text of a file beside this one."""
    return resources.files("gem_eval.view").joinpath(name).read_text(encoding="utf-8")


def _json(runs: Sequence[Mapping[str, Any]]) -> str:
    data = {"runs": runs}
    try:
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except ValueError:
        text = json.dumps(_named(data), ensure_ascii=False, separators=(",", ":"))
    # Half a pair of surrogates is not valid UTF-8.
    return re.sub("[<\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", text)


def _named(value: Any) -> Any:
    """`value` with words for the numbers that JSON does not have; JavaScript's `Number` reads them."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, Mapping):
        return {name: _named(each) for name, each in cast("Mapping[str, Any]", value).items()}
    return [_named(each) for each in cast("list[Any]", value)] if isinstance(value, list | tuple) else value
