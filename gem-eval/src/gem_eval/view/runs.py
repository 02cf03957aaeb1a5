"""A run as the page shows it, as plain data: its episodes, its settings, its standings and its curves; and cards."""

import heapq
import itertools
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gem import seeding
from gem.audit import Card
from gem.episode import Episode
from gem.episode.codec import decode, to_json
from gem.episode.pictures import FOLDER, Pictures
from gem.errors import RecordError
from gem.files import open_file, read_bytes, read_lines
from gem.record import read, torn_bytes
from gem_eval.results import item_of
from gem_eval.results.curves import curves, read_metrics, thinned
from gem_eval.results.standings import Standings

EPISODES, METRICS, EVALUATION, TOURNAMENT = "episodes.jsonl", "metrics.jsonl", "eval.json", "arena.json"
"""Files of a folder: its episodes, and what only a training run has, an evaluation, and a tournament."""
DEMONSTRATIONS = "demonstrations.jsonl"
"""The episodes that a run of `gemx sft` imitates."""
SUMMARY = "summary.json"
MOST_BYTES = 2**20
"""Most bytes of settings and of a summary that are shown."""
MOST_OF_PICTURES = 32 * 2**20
"""Most bytes of pictures in a page, each as often as it is shown."""
FACTS = ("config.toml", EVALUATION, TOURNAMENT, SUMMARY)
"""Files of a folder that are shown as they are."""
MOST_OF_CARDS = 64 * 2**20
"""Most bytes of a file of cards."""
MOST_POINTS = 1000
"""Most points of a curve; longer ones are thinned out."""

Run = dict[str, Any]


def run_of(path: Path, *, most: int | None = None) -> Run:
    """A recording, the folder of an evaluation, a tournament or a training run, or cards, as JSON for the page.

    Args:
        path: a recording, a folder with `episodes.jsonl` or `metrics.jsonl` in it, or a file NAME.json of what
            `gemx audit --json` printed.
        most: the most episodes to show; None for all. Of more, a training run shows some of all its steps, and others
            show the same items, so that they can be compared.

    Raises:
        RecordError: there is nothing to show, or the file is neither a recording nor cards.
        OSError: a file cannot be read.
    """
    if not path.is_dir():
        rest: Run = {"name": path.name, "path": str(path), "curves": {}, "facts": {}, "results": [], "floors": {}}
        if path.suffix == ".json":
            return {**rest, "kind": "audit", "episodes": [], "recorded": 0, "cards": _cards(path)}
        return {**rest, "kind": "recording", **_episodes(path, most)}
    recording, metrics = path / EPISODES, path / METRICS
    if not recording.is_file():
        recording = path / DEMONSTRATIONS
    if not recording.is_file() and not metrics.is_file():
        found = ", ".join(sorted(each.name for each in path.glob("*.jsonl"))) or "no recording"
        inside = sorted(str(each.parent) for name in (EPISODES, METRICS) for each in path.glob(f"*/{name}"))
        runs = f". These folders in it are runs: {', '.join(dict.fromkeys(inside))}" if inside else ""
        raise RecordError(f"{path} has neither {EPISODES} nor {METRICS}, so it is not a run; it has {found}{runs}")
    played: Run = {"episodes": [], "recorded": 0}
    if recording.is_file():
        played = _episodes(recording, most, over_time=metrics.is_file())
    kinds = {METRICS: "training", EVALUATION: "evaluation", TOURNAMENT: "tournament"}
    kind = next((kind for name, kind in kinds.items() if (path / name).is_file()), "recording")
    named = {"name": path.resolve().name, "path": str(path), "kind": kind}
    return {
        **named,
        **played,
        "curves": _curves(metrics) if metrics.is_file() else {},
        "facts": _facts(path),
        **_summarised(path, kind),
    }


def _cards(path: Path) -> list[dict[str, Any]]:
    """The cards of a file, with what JavaScript would round as text."""
    try:
        cards = [Card.from_json(card).as_json() for card in json.loads(read_bytes(path, MOST_OF_CARDS))["cards"]]
    except (ValueError, TypeError, LookupError, RecursionError, RecordError) as error:
        raise RecordError(f"{path} is not what `gemx audit NAME --json` prints ({error})") from error
    for finding in (finding for card in cards for outcome in card["outcomes"] for finding in outcome["findings"]):
        finding["seed"] = None if finding["seed"] is None else str(finding["seed"])
        for name in ("options", "kwargs"):
            finding[name] = json.dumps(finding[name]) if finding[name] else ""
    return cards


def _episodes(path: Path, most: int | None, *, over_time: bool = False) -> dict[str, Any]:
    next(read(path), None)  # says what is wrong with a file that is something else
    recorded = sum(1 for _ in read_lines(path)) - bool(torn_bytes(path))
    if most is None or recorded <= most:
        chosen = set(range(recorded))
    elif over_time:
        chosen = {index * recorded // most for index in range(most)}
    else:
        chosen = _same_items(path, recorded, most)
    # Only what is shown is parsed: a recording may be large.
    shown = ((number, line) for number, line in enumerate(read_lines(path), start=1) if number - 1 in chosen)
    records = (decode(line, f"{path}, line {number}") for number, line in shown)
    pictures = Pictures(path.with_name(FOLDER), MOST_OF_PICTURES)
    return {"episodes": [_episode(pictures.put_into(record)) for record in records], "recorded": recorded}


def _same_items(path: Path, recorded: int, most: int) -> set[int]:
    """The lines of so many episodes, of items that are the same in every recording that holds them."""
    ranked = [(_rank(line), index) for index, line in enumerate(itertools.islice(read_lines(path), recorded))]
    return {index for _, index in heapq.nsmallest(most, ranked)}


def _rank(line: bytes) -> int:
    """A number that depends on the item alone; -1 for what is not an episode, so that it is parsed and refused."""
    try:
        start = json.loads(line)
        return seeding.derive(start["seed"], start["id"], repr(start.get("options")))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return -1


def _episode(record: Episode) -> dict[str, Any]:
    """An episode as the codec writes it, with what the page shows beside it."""
    return {
        **to_json(record),
        "item": item_of(record),
        "seed": str(record.seed),  # JavaScript's numbers are exact up to 2**53 only
        "success": None if record.failure else record.success,
        "return": record.total_reward,
        "end": "failed" if record.failure else "cut off" if record.truncated else "ended",
    }


def _curves(path: Path) -> dict[str, list[dict[str, Any]]]:
    """Metric → its lines, each the name of a phase with points (step, value)."""
    return {
        name: [
            {"phase": phase, "points": [(point.step, point.mean) for point in thinned(line, MOST_POINTS)]}
            for phase, line in by_phase.items()
        ]
        for name, by_phase in curves(read_metrics(path)).items()
        if any(len(line) > 1 for line in by_phase.values())
    }


def _summarised(path: Path, kind: str) -> dict[str, Any]:
    """Results, floors and standings of `summary.json`, which is there after the end of a run."""
    standings: dict[str, Any] | None = None
    results: list[dict[str, Any]] = []
    floors: dict[str, float | None] = {}
    try:
        summary: Any = json.loads(read_bytes(path / SUMMARY, MOST_BYTES)) if (path / SUMMARY).is_file() else {}
        if kind == "evaluation":
            results = [_result(each) for each in summary.get("ids", ())]
        if kind == "tournament" and (path / SUMMARY).is_file():
            standings = _standings(summary)
        if kind == "training":
            played = summary.get("before", {}).get("floors", {})
            floors = {name: _number(played.get(name, {}), "success") for name in ("random", "expert")}
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        writers = {
            "evaluation": f"; `gemx eval --resume {path}` writes it again",
            "tournament": "; its command writes it again",
        }
        again = writers.get(kind, "")
        raise RecordError(
            f"{path / SUMMARY} is damaged, it is not the summary of a run ({error}): remove it, and the rest is shown"
            f"{again}"
        ) from error
    return {"results": results, "floors": floors, "standings": standings}


def _standings(summary: Mapping[str, Any]) -> dict[str, Any]:
    """The standings of a tournament, with its game and how much of it was played."""
    found = Standings.from_json(summary)
    finite = [number for each in found.players for number in (each.rating, *each.rating_ci)]
    if not all(map(math.isfinite, finite)):
        raise ValueError("a rating is not finite")
    if not isinstance(summary.get("env"), str):
        raise TypeError("env is not a name")
    return {**found.as_json(), "env": summary["env"], **{name: _number(summary, name) for name in ("asked", "games")}}


def _number(summary: Mapping[str, Any], name: str) -> Any:
    value = summary.get(name)
    if not isinstance(value, int | float | None):
        raise TypeError(f"{name} is {value!r:.40}")
    return value


def _result(summary: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a `gem_eval.results.Result` on one id that the page shows."""
    k, floors = summary.get("k"), summary.get("floors", {})
    return {
        **{name: summary.get(name) for name in ("id", "group", "success_ci")},
        **{name: _number(summary, name) for name in ("episodes", "failures", "success", "return_mean", "k")},
        **{name: summary.get(name, {}).get(str(k)) for name in ("pass_at", "pass_hat")},
        **{name: _number(floors.get(name, {}), "success") for name in ("random", "expert")},
    }


def _facts(path: Path) -> dict[str, str]:
    """Texts about a run: its settings and its summary."""
    facts: dict[str, str] = {}
    for name in FACTS:
        file = path / name
        if file.is_file():
            with open_file(file) as content:
                facts[name] = content.read(MOST_BYTES).decode("utf-8", errors="replace")
    return facts
