"""`gemx eval`: measure a model, or another policy, on environments."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import click

from gem.cli.error_output import error_line
from gem.cli.options import (
    POSITIVE,
    Seed,
    arguments,
    as_json,
    components,
    pairs_of,
    parse_arguments,
    parse_wrappers,
    reward,
    reward_ref,
    tool_arguments,
    tools,
    wrappers,
)
from gem.cli.output import echo, print_json, print_waiting, stray_prints_to_stderr
from gem.errors import ConfigError
from gem.llm.client import CONCURRENCY
from gem.packs.component_ref import ComponentRef, as_list, name_and_settings
from gem.rollout.named_policies import LOCAL_MODELS, policy_ref
from gem.rollout.running import MOST_TURNS
from gem.vector import BackendName
from gem_eval import Evaluation, Group, Settings, read_models, read_suite
from gem_eval.cli.report import print_failures, print_report, with_progress
from gem_eval.cli.role_options import parse_roles, prices_of, with_role_options
from gem_eval.evaluating import make_settings
from gem_eval.folder import stored_settings
from gem_eval.plan import EPISODES, MOST_ROWS
from gem_eval.roles import OPENAI
from gem_eval.settings import NUM_ENVS
from gem_eval.suite import make_group
from gem_eval.trust import check_settings, names_in, needs_trust

BUDGET = ("max_tokens", "max_cost", "max_minutes", "prices")
SPENDING = ("max_episodes", "widest")
OF_MODEL = ("model", "base_url", "model_arguments")
OF_ROLES = ("roles", "role_arguments", "cache")
RESUMABLE = {
    *(*BUDGET, *SPENDING, *OF_MODEL, *OF_ROLES),
    *("reward", "num_envs", "backend", "no_floors", "as_json", "resume", "trust"),
}
"""Options that may be given beside --resume."""


@click.command("eval")
@click.argument("ids", metavar="ID…", nargs=-1)
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
@reward
@with_role_options
@click.option("--suite", metavar="FILE[:NAME]", help="Play the groups of a TOML file, or some of them, instead of ID.")
@click.option(
    "--episodes",
    type=click.IntRange(min=1),
    help="Items of each ID: seeds, or rows of a data set, no row twice.  "
    f"[default: {EPISODES}; of a data set of at most {MOST_ROWS:,} rows all]",
)
@click.option("--each-row", is_flag=True, help="Play every row of the data sets once, however many.")
@click.option("--k", type=click.IntRange(min=1), help="Attempts at each item; gives pass@k and pass^k.  [default: 1]")
@click.option("--seed", type=Seed(), default=0, show_default=True, help="Gives every item its own seed.")
@click.option(
    "--num-envs",
    type=click.IntRange(min=1),
    help=f"Most episodes at once.  [default: {NUM_ENVS}; with openai:NAME as many as requests, {CONCURRENCY}]",
)
@click.option(
    "--max-turns",
    type=click.IntRange(min=1),
    help=f"Cut an episode off after so many turns.  [default: {MOST_TURNS:,}, or the environment's own limit]",
)
@click.option(
    "--backend",
    type=click.Choice(get_args(BackendName)),
    help="Where the environments run: here, or in threads, processes or Ray actors.  [default: sync; with --role "
    "thread, so that environments do not wait for each other's model]",
)
@click.option("--max-tokens", type=click.IntRange(min=1), help="End before more tokens are used, read and written.")
@click.option("--max-cost", type=POSITIVE, help="End before more is spent, in the unit of --prices.")
@click.option("--max-minutes", type=POSITIVE, help="End the model's play after so many minutes.")
@click.option("--max-episodes", type=click.IntRange(min=1), help="End after so many episodes of the model.")
@click.option(
    "--widest",
    is_flag=True,
    help="Play next the ID whose interval of success is the widest, instead of IDs in turn; for a limit.",
)
@click.option("--prices", metavar="IN,OUT[,CACHED]", help="Of a million tokens read and written, such as 0.25,2.")
@click.option("--no-floors", is_flag=True, help="Do not play random and the expert on the same items.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Keep the evaluation in FOLDER: each episode as it finishes. Those that it has already are not played again.",
)
@click.option(
    "--resume",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Play what the evaluation in FOLDER lacks; everything else is as FOLDER says.",
)
@click.option("--trust", is_flag=True, help="With --resume: use everything that FOLDER names: trust it like your own.")
@tools
@tool_arguments
@wrappers
@arguments
@as_json
@click.pass_context
def evaluate(ctx: click.Context, **given: Any) -> None:
    """Measure a model on the environments ID: success with a 95% interval, return, tokens and latency.

    ID may be a pattern, such as 'game:*-easy'. Random play and the expert are measured on the same items. An episode in
    which the environment or the model raised an error is a failure: it is counted, printed on standard error, and left
    out of the means. The exit status is 1 if every episode failed, and 3 if a budget ended a partial evaluation.

    Ctrl-C, and a budget that is spent, print the report so far. With --out, the same command, or --resume FOLDER, then
    plays what is missing.
    """
    with stray_prints_to_stderr():
        settings = _resumed(ctx, given) if given["resume"] else _settings(ctx, given)
        out = given["resume"] or given["out"]
        evaluation = Evaluation(settings, out)
        _print_notes(evaluation, out)
        if name_and_settings(settings.model)[0] in LOCAL_MODELS and evaluation.played < evaluation.asked:
            print_waiting("loading the model")
        stopped: BaseException | None = None
        try:
            with_progress(evaluation)
        except (Exception, KeyboardInterrupt) as error:
            stopped = error
    if stopped and not evaluation.played:
        if isinstance(stopped, KeyboardInterrupt):
            echo("Interrupted before any episode had ended.", err=True)
        raise stopped
    failed = evaluation.failed
    if given["as_json"]:
        error = {"error": error_line(stopped)} if isinstance(stopped, Exception) else {}
        print_json({**evaluation.as_json(), "resumed": evaluation.resumed, **error})
    else:
        print_report(evaluation)
    print_failures(failed, debug=ctx.find_root().params["debug"])
    partial = evaluation.played < evaluation.asked
    if evaluation.meter and evaluation.meter.estimated:
        counted = f"replies with fewer tokens by the server's count than is possible: {evaluation.meter.estimated:,}"
        echo(f"{counted}; theirs are estimated, 4 characters each.", fg="yellow", err=True)
    if out and (stopped or failed or partial):
        complete = not partial and not stopped
        what = "plays the failed episodes again" if complete else "plays what is missing"
        trust = " --trust" if needs_trust(settings) else ""
        limits = {**settings.budget.model_dump(include={*BUDGET[:3]}), "max_episodes": settings.max_episodes}
        budget = [f"--{name.replace('_', '-')}" for name, limit in limits.items() if limit]
        again = f", with as much again or what {', '.join(budget)} gives it" if evaluation.budget_spent else ""
        echo(f"`gemx eval --resume {out}{trust}` {what}{again}.", err=True)
    if stopped:
        raise stopped
    if failed and len(failed) == evaluation.played:
        ctx.exit(1)
    if partial:
        ctx.exit(3)


def _given(ctx: click.Context) -> set[str]:
    """The options that are on the command line."""
    default = click.core.ParameterSource.DEFAULT
    return {name for name in ctx.params if ctx.get_parameter_source(name) != default}


def _option(name: str) -> str:
    return {"ids": "ID", "roles": "--role"}.get(name, "--" + name.replace("arguments", "arg").replace("_", "-"))


def _settings(ctx: click.Context, given: dict[str, Any]) -> Settings:
    groups = _groups(ctx, given)
    of_suite = read_models(_suite_of(given)[0]) if given["suite"] else {}
    models = parse_roles(of_suite, given["roles"], given["role_arguments"], given["base_url"])
    return make_settings(
        model=_parse_model(given["model"], given["base_url"], given["model_arguments"], of_roles=bool(models)),
        groups=groups,
        reward=reward_ref(given["reward"]),
        seed=given["seed"],
        num_envs=given["num_envs"],
        backend=given["backend"] or ("thread" if models else "sync"),
        floors=not given["no_floors"],
        budget=_budget(given),
        max_episodes=given["max_episodes"],
        widest=given["widest"],
        models=models,
        cache=given["cache"],
    )


def _resumed(ctx: click.Context, given: dict[str, Any]) -> Settings:
    if refused := sorted(_given(ctx) - RESUMABLE):
        raise ConfigError(f"--resume takes everything but limits from its folder: leave out {_option(refused[0])}")
    kept = stored_settings(given["resume"]).model_dump()
    if "model" in _given(ctx):
        kept["model"] = _parse_model(*(given[name] for name in OF_MODEL))
        named = {"model", *name_and_settings(kept["model"])[1]}
    else:
        name, own = name_and_settings(kept["model"])
        changed = pairs_of("--model-arg", "timeout=60", given["model_arguments"])
        if given["base_url"]:
            changed["base_url"] = given["base_url"]
        kept["model"] = {"name": name, **own, **changed}
        named = set(changed)
    kept |= {name: given[name] for name in ("num_envs", "backend") if given[name] is not None}
    named |= {"--backend"} if given["backend"] else set()
    if given["reward"]:
        kept["reward"] = reward_ref(given["reward"])
        named.add("--reward")
    kept["models"] = parse_roles(kept["models"], given["roles"], given["role_arguments"], given["base_url"])
    named |= {"--role"} if {each.partition("=")[0] for each in given["roles"]} >= kept["models"].keys() else set()
    if given["cache"]:
        kept["cache"] = given["cache"]
        named.add("--cache")
    kept["floors"] = kept["floors"] and not given["no_floors"]
    kept["budget"] |= _budget(given)
    kept |= {name: given[name] for name in SPENDING if given[name]}
    settings = make_settings(**kept)
    if not given["trust"]:
        check_settings(settings, given["resume"], named)
    return settings


def _budget(given: dict[str, Any]) -> dict[str, Any]:
    budget = {name: given[name] for name in BUDGET if given[name] is not None}
    if "prices" in budget:
        budget["prices"] = prices_of("--prices", budget["prices"])
    return budget


def _groups(ctx: click.Context, given: dict[str, Any]) -> Sequence[Group]:
    own = {name: given[name] for name in ("episodes", "k", "max_turns") if given[name] is not None}
    if given["each_row"]:
        own["each_row"] = True
    if not given["suite"]:
        if not given["ids"]:
            raise click.UsageError("give an ID (`gemx list` shows every one), --suite FILE or --resume FOLDER")
        layers = parse_wrappers(given["wrappers"], given["tools"], given["tool_arguments"])
        names = [name for each in given["ids"] for name in as_list(each)]
        return [
            make_group("", {"ids": names, "wrappers": layers, "kwargs": parse_arguments(given["arguments"]), **own})
        ]
    for name in ("ids", "wrappers", "tools", "tool_arguments", "arguments"):
        if given[name]:
            raise ConfigError(f"a group of --suite has {name} of its own: leave out {_option(name)}")
    path, names = _suite_of(given)
    groups = read_suite(path, names)
    if used := names_in([*(each.model_dump() for each in groups), read_models(path)]):
        echo(f"{path} names {', '.join(used)}.", fg="yellow", err=True)
    return [make_group("", {**each.model_dump(), **own}) for each in groups] if own else groups


def _suite_of(given: dict[str, Any]) -> tuple[Path, str]:
    """The file of --suite, and the names of the groups to take."""
    path, _, names = given["suite"].partition(":") if not Path(given["suite"]).is_file() else (given["suite"], "", "")
    return Path(path), names


def _parse_model(model: str, base_url: str | None, settings: Sequence[str], *, of_roles: bool = False) -> ComponentRef:
    """The model with its settings; with `of_roles` the address may be for models that play roles alone."""
    named = [model] if Path(model).is_dir() else components("--model", model)
    if len(named) != 1:
        raise ConfigError(f"--model takes one model, not {model!r}")
    given = pairs_of("--model-arg", "temperature=0.7", settings)
    if "name" in given:
        raise ConfigError("--model-arg is for settings of the model; its name is given by --model")
    name, own = name_and_settings(named[0])
    found = policy_ref({"name": name, **own, **given})
    if not base_url or (of_roles and name_and_settings(found)[0] != OPENAI):
        return found
    name, own = name_and_settings(found)
    return {"name": name, **own, "base_url": base_url}


def _print_notes(evaluation: Evaluation, out: Path | None) -> None:
    for note in evaluation.notes:
        echo(note, fg="yellow", err=True)
    if evaluation.resumed:
        echo(
            f"{out} holds {evaluation.resumed} of the {evaluation.asked} episodes; they are not played again.", err=True
        )
    if evaluation.others:
        others = "an episode" if evaluation.others == 1 else f"{evaluation.others} episodes"
        echo(f"{out} also holds {others} that this evaluation does not ask for.", fg="yellow", err=True)
