"""`gemx rescore`: grade recorded episodes by the current rules, or by other weights or rewards."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from operator import itemgetter
from pathlib import Path
from typing import Any

import click
from msgspec.structs import replace

from gem.cli.options import as_json, reward, reward_ref
from gem.cli.output import echo, print_json, stray_prints_to_stderr
from gem.episode import Episode
from gem.errors import ConfigError, did_you_mean
from gem.record import Recorder
from gem.rewards import make_pipeline, reweighted, scored, weighed
from gem.rewards.pipeline import AT_ONCE
from gem_eval.cli.recordings import MOST_LISTED, Replayed, count, numbered, title, trust
from gem_eval.cli.role_options import parse_roles, with_role_options
from gem_eval.replay import Rescore, compare, rescore
from gem_eval.roles import playing, without_prices
from gem_eval.trust import check_episode

Graded = tuple[int, Episode, Rescore]


@click.command("rescore")
@click.argument("file", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--weight",
    "weights",
    multiple=True,
    metavar="NAME=NUMBER",
    help="Weigh the recorded scores of a reward anew, such as judge/clear=0.5 or env=0; nothing is scored again.",
)
@reward
@with_role_options
@click.option("--base-url", metavar="URL", help="Of the server of those models, before /chat/completions.")
@click.option("--out", type=click.Path(path_type=Path), help="Write the episodes with --weight or --reward here.")
@trust
@as_json
def rescore_episodes(
    *,
    file: Path,
    weights: Sequence[str],
    reward: str | None,
    roles: Sequence[str],
    role_arguments: Sequence[str],
    cache: str | None,
    base_url: str | None,
    out: Path | None,
    trust: bool,
    as_json: bool,
) -> None:
    """Grade the recorded episodes of FILE by the rules of today, and list those whose success or return changes.

    The environments are built again from id, arguments, wrappers and seed, and given the recorded actions. An episode
    in which these actions now answer other observations is counted as diverged: its new grade says little.
    Without --trust, FILE can have built only what installed packs register and call safe with data.

    With --weight or --reward nothing is played: the scores that rewards gave are weighed anew, or a reward scores the
    recorded turns again, also those that it failed to score. Rewards that the environment gave stay as they are.
    """
    replayed = Replayed(file)
    given = _weights(weights)
    if out is not None and not (given or reward):
        raise ConfigError("--out is for episodes with other weights or rewards: give --weight or --reward, too")
    if given and not reward:
        _check_recorded(file, given)
    with stray_prints_to_stderr(), ExitStack() as opened:
        graded: list[Graded]
        models = parse_roles({}, roles, role_arguments, base_url)
        opened.enter_context(playing(without_prices(models), cache, AT_ONCE))
        if given or reward:
            recorder = opened.enter_context(Recorder(out)) if out is not None else None
            records = replayed.of(numbered(file), failed_rewards=True)
            graded = []
            for number, record, now in _regraded(records, given, reward, trust=trust):
                graded.append((number, record, compare(record, now)))
                if recorder is not None:
                    recorder.write(now, {**record.labels, **({"reward": reward_ref(reward)} if reward else {})})
            graded.sort(key=itemgetter(0))
        else:
            graded = [(n, record, rescore(record, trust=trust)) for n, record in replayed.of(numbered(file))]
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


def _regraded(
    records: Iterable[tuple[int, Episode]],
    weights: Mapping[str, float],
    reward: str | None,
    *,
    trust: bool,
) -> Iterator[tuple[int, Episode, Episode]]:
    """The records with their numbers, as recorded and with other rewards, as soon as they are scored."""
    ref = reward_ref(reward)
    if ref is None:
        for number, record in records:
            yield number, record, reweighted(record, weights)
        return
    asked: dict[str, tuple[int, Episode]] = {}

    def unfailed() -> Iterator[Episode]:
        for number, record in records:
            if not trust:
                check_episode(record)  # a reward may ask for the row, for which the env is built
            asked[str(number)] = number, record
            yield replace(record, key=str(number), failure=None)

    with closing(make_pipeline(ref)) as pipeline:
        for now in scored(unfailed(), pipeline):
            number, record = asked.pop(now.key)
            yield number, record, reweighted(replace(now, key=record.key), weights)


def _check_recorded(file: Path, weights: Mapping[str, float]) -> None:
    """Refuse the weight of a score that no episode has, such as one that is misspelt."""
    known = sorted({name for _, episode in numbered(file) for name in weighed(episode)})
    for name in weights:
        if name not in known:
            raise ConfigError(
                f"no episode of {file} has a score {name!r}.{did_you_mean(name, known)} There are: {', '.join(known)}"
            )


def _weights(given: Sequence[str]) -> dict[str, float]:
    weights: dict[str, float] = {}
    for each in given:
        name, equals, number = each.partition("=")
        try:
            weights[name] = float(number)
        except ValueError:
            equals = ""
        if not equals or not math.isfinite(weights[name]):
            raise ConfigError(f"--weight takes NAME=NUMBER, such as judge/clear=0.5 or env=0, not {each!r}")
    return weights


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
