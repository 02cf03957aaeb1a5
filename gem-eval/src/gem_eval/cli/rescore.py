"""`gemx rescore`: grade recorded episodes by the current rules."""

from pathlib import Path
from typing import Any

import click

from gem.cli.options import as_json
from gem.cli.output import echo, print_json, stray_prints_to_stderr
from gem.episode import Episode
from gem_eval.cli.recordings import MOST_LISTED, Replayed, count, numbered, title, trust
from gem_eval.replay import Rescore, rescore

Graded = tuple[int, Episode, Rescore]


@click.command("rescore")
@click.argument("file", type=click.Path(exists=True, path_type=Path))
@trust
@as_json
def rescore_episodes(*, file: Path, trust: bool, as_json: bool) -> None:
    """Grade the recorded episodes of FILE by the rules of today, and list those whose success or return changes.

    The environments are built again from id, arguments, wrappers and seed, and given the recorded actions. An episode
    in which these actions now answer other observations is counted as diverged: its new grade says little.
    Without --trust, FILE can have built only what installed packs register and call safe with data.
    """
    replayed = Replayed(file)
    with stray_prints_to_stderr():
        graded: list[Graded] = [(n, record, rescore(record, trust=trust)) for n, record in replayed.of(numbered(file))]
    sound = [each for each in graded if each[2].error is None]
    changed = [each for each in sound if each[2].changed]
    errors = [each for each in graded if each[2].error is not None]
    counts = {
        "graded": len(sound),
        "errors": len(errors),
        "lost": sum(score.success == (True, False) for _, _, score in sound),
        "won": sum(score.success == (False, True) for _, _, score in sound),
        "reward_only": sum(not score.flipped for _, _, score in changed),
        "diverged": sum(score.diverged is not None for _, _, score in sound),
    }
    if as_json:
        listed = [_as_json(*each) for each in graded if each[2].changed or each[2].error is not None]
        print_json({**replayed.as_json(), **counts, "changes": listed})
        return
    for number, record, score in [*changed, *errors][:MOST_LISTED]:
        echo(f"{title(number, record)}: {_in_words(score)}")
    if len(changed) + len(errors) > MOST_LISTED:
        echo(f"… and {count(len(changed) + len(errors) - MOST_LISTED)} more.")
    echo(
        f"{count(counts['graded'])} graded: {counts['lost']} successes lost, {counts['won']} won, "
        f"{counts['reward_only']} with another return only; {counts['diverged']} diverged. "
        f"Errors: {counts['errors']}."
    )
    replayed.print_notes()


def _as_json(number: int, record: Episode, score: Rescore) -> dict[str, Any]:
    return {
        "episode": number,
        "id": record.id,
        "seed": record.seed,
        "success": {"recorded": score.success[0], "today": score.success[1]},
        "return": {"recorded": score.total_reward[0], "today": score.total_reward[1]},
        "diverged": score.diverged,
        "error": score.error,
    }


def _in_words(score: Rescore) -> str:
    if score.error is not None:
        return f"error, {score.error}"
    old, new = ("success" if success else "no success" for success in score.success)
    words = f"{old} → {new}" if score.flipped else old
    words += ", return {:g} → {:g}".format(*score.total_reward)
    return words if score.diverged is None else f"{words}, diverged at turn {score.diverged}"
