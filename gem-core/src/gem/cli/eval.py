"""`gemx eval`: measure a model or another policy on environments."""

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, NamedTuple, get_args

import click

from gem import seeding
from gem.cli.error_output import error_line
from gem.cli.eval_report import print_failures, print_report, with_progress
from gem.cli.options import (
    Seed,
    arguments,
    as_json,
    components,
    pairs_of,
    parse_arguments,
    parse_wrappers,
    tool_arguments,
    tools,
    wrappers,
)
from gem.cli.output import echo, print_json, print_waiting, stray_prints_to_stderr
from gem.errors import ConfigError
from gem.packs.component_ref import ComponentRef, as_list, name_and_settings
from gem.packs.preflight import check_envs, check_wrappers
from gem.packs.registry import get_spec
from gem.packs.spec import EnvSpec
from gem.record import EPISODES_FILE, Recorder, load_recorded
from gem.rollout import rows
from gem.rollout.evaluation import Report
from gem.rollout.loop import MOST_TURNS, assign, rollout
from gem.rollout.named_policies import CHECKPOINT, check_policy, make_policy, policy_ref, written_at
from gem.rollout.transcript import Episode, Start
from gem.vector import BackendName, make_vec

EPISODES = 100
"""The default of --episodes."""
MOST_SLOTS = 16
"""The default of --num-envs."""


@click.command("eval")
@click.argument("ids", metavar="ID…", nargs=-1, required=True)
@click.option(
    "--model",
    default="random",
    show_default=True,
    help="openai:NAME, hf:PATH or vllm:PATH, the folder of a training run, random, expert, a pack's policy, or "
    "module:name, a function that answers.",
)
@click.option("--base-url", metavar="URL", help="Of the server of openai:NAME, before /chat/completions.")
@click.option(
    "--model-arg",
    "model_arguments",
    multiple=True,
    metavar="KEY=VALUE",
    help="A setting of the model, such as temperature=0.7.",
)
@click.option("--episodes", type=click.IntRange(min=1), help=f"How many to play.  [default: {EPISODES}]")
@click.option("--each-row", is_flag=True, help="Play every row of the data sets once, instead of --episodes.")
@click.option("--seed", type=Seed(), default=0, show_default=True, help="Gives every episode its own seed.")
@click.option("--num-envs", type=click.IntRange(min=1), help=f"Most episodes at once.  [default: {MOST_SLOTS}]")
@click.option(
    "--max-turns",
    type=click.IntRange(min=1),
    help=f"Cut an episode off after so many turns.  [default: {MOST_TURNS:,}, or the environment's own limit]",
)
@click.option(
    "--backend",
    type=click.Choice(get_args(BackendName)),
    default="sync",
    show_default=True,
    help="Where the environments run: here, or in threads, processes or Ray actors.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Keep the evaluation in FOLDER: each episode as it finishes. Those that it has already are not played again.",
)
@tools
@tool_arguments
@wrappers
@arguments
@as_json
@click.pass_context
def evaluate(  # noqa: PLR0915
    ctx: click.Context,
    *,
    ids: Sequence[str],
    model: str,
    base_url: str | None,
    model_arguments: Sequence[str],
    episodes: int | None,
    each_row: bool,
    seed: int,
    num_envs: int | None,
    max_turns: int | None,
    backend: BackendName,
    out: Path | None,
    tools: str,
    tool_arguments: Sequence[str],
    wrappers: str,
    arguments: Sequence[str],
    as_json: bool,
) -> None:
    """Play a model on the environment ID, and print its success with a 95% Wilson interval.

    Several IDs share the episodes equally, and are reported one by one as well. With --each-row every row of every data
    set is played exactly once. An episode in which the environment or the model raised an error is a failure: it is
    counted, printed on standard error, and left out of the means. The exit status is 1 if every episode failed.

    Ctrl-C prints the report so far. With --out, the same command then plays what is missing.
    """
    with stray_prints_to_stderr():
        player = _parse_model(model, base_url, model_arguments)
        record = out / EPISODES_FILE if out else None
        plan = _plan(ids, parse_wrappers(wrappers, tools, tool_arguments), parse_arguments(arguments), player)
        starts = plan.starts(seed, episodes, each_row=each_row)
        asked = len(starts)
        played: list[Episode] = []
        stopped: BaseException | None = None
        with ExitStack() as opened:
            recorder = opened.enter_context(Recorder(record, policy=player)) if record else None
            if record:
                recorded = _resume(record, plan, starts, player, max_turns)
                played += recorded.values()
                starts = [start for start in starts if start not in recorded]
            before = tuple(played)
            if starts:
                if name_and_settings(player)[0] == CHECKPOINT:
                    print_waiting("loading the model")
                made = opened.enter_context(closing(make_policy(player)))
                envs = opened.enter_context(
                    make_vec(
                        plan.names,
                        min(num_envs or MOST_SLOTS, len(starts)),
                        backend=backend,
                        wrappers=plan.wrappers,
                        info_methods=made.info_methods,
                        env_kwargs=plan.kwargs,
                    )
                )
                playing = rollout(made, envs, starts, max_turns=max_turns)
                try:
                    for episode in with_progress(playing, asked, before):
                        played.append(episode)
                        if recorder:
                            recorder.write(episode)
                except (Exception, KeyboardInterrupt) as error:
                    stopped = error
    if stopped and not played:
        if isinstance(stopped, KeyboardInterrupt):
            echo("Interrupted before any episode had ended.", err=True)
        raise stopped
    total = Report.of(played, id=",".join(plan.names), policy=_title(player), seed=seed)
    each = Report.per_id(played, policy=total.policy, seed=seed)
    if as_json:
        object = total.as_json() | {"asked": asked, "resumed": len(before), "partial": len(played) < asked}
        if len(plan.specs) > 1:
            object["ids"] = [report.as_json() for report in each]
        if isinstance(stopped, Exception):
            object["error"] = error_line(stopped)
        print_json(object)
    else:
        print_report(total, each, asked)
    print_failures([episode for episode in played if episode.failure], debug=ctx.find_root().params["debug"])
    if record and record.is_file() and (stopped or total.failures):
        what = "continues from what the file holds" if stopped else "plays the failed episodes again"
        echo(f"The same command, with --out {out}, {what}.", err=True)
    if stopped:
        raise stopped
    if total.failures == total.episodes:
        ctx.exit(1)


class _Plan(NamedTuple):
    """The checked arguments of the command."""

    names: list[str]
    """The ids as given; a repeated one has a larger share."""
    specs: list[EnvSpec]
    """One per distinct id."""
    shares: dict[str, int]
    wrappers: list[ComponentRef]
    kwargs: dict[str, Any]

    def starts(self, seed: int, episodes: int | None, *, each_row: bool) -> list[Start]:
        """The start of every episode; more episodes begin with the same ones."""
        if not each_row:
            return list(assign([seeding.derive(seed, "run", i) for i in range(episodes or EPISODES)], self.shares))
        if episodes is not None:
            raise ConfigError("--each-row plays as many episodes as there are rows: leave --episodes out")
        return rows.each_row(self.names, seed=seed, wrappers=self.wrappers, env_kwargs=self.kwargs)


def _plan(ids: Iterable[str], wrappers: list[ComponentRef], kwargs: dict[str, Any], policy: ComponentRef) -> _Plan:
    """Check all names, that of the policy included, and then build each env once.

    Raises:
        GemError: a name does not exist, or settings are refused.
    """
    names = [str(name) for each in ids for name in as_list(each)]
    for name in names:
        get_spec(name)
    check_wrappers(wrappers)
    check_policy(policy)
    specs = check_envs(names, wrappers, **kwargs)
    return _Plan(names, list(specs.values()), Counter(specs[name].id for name in names), wrappers, kwargs)


def _parse_model(model: str, base_url: str | None, settings: Sequence[str]) -> ComponentRef:
    named = [model] if Path(model).is_dir() else components("--model", model)
    if len(named) != 1:
        raise ConfigError(f"--model takes one model, not {model!r}")
    given = pairs_of("--model-arg", "temperature=0.7", settings)
    if "name" in given:
        raise ConfigError("--model-arg is for settings of the model; its name is given by --model")
    name, own = name_and_settings(named[0])
    return policy_ref({"name": name, **own, **given, **({"base_url": base_url} if base_url else {})})


def _title(policy: ComponentRef) -> str:
    """A short description of a policy: `random`, or `checkpoint(path='runs/a')`."""
    name, settings = name_and_settings(policy)
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in settings.items())})" if settings else name


def _resume(
    path: Path, plan: _Plan, starts: Sequence[Start], policy: ComponentRef, max_turns: int | None
) -> dict[Start, Episode]:
    """The episodes that the recording `path` holds; prints how many."""
    resumed = load_recorded(path, plan.specs, starts, policy, max_turns, since=written_at(policy))
    if resumed.episodes:
        echo(
            f"{path} holds {len(resumed.episodes)} of the {len(starts)} episodes; they are not played again.", err=True
        )
    if resumed.others:
        others = "an episode" if resumed.others == 1 else f"{resumed.others} episodes"
        echo(
            f"{path} also holds {others} of another policy, setting or seed, not in this report.", fg="yellow", err=True
        )
    return resumed.episodes
