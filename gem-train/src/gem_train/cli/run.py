"""The options and the course of the commands that train: `gemx train` and `gemx sft`."""

import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import click

from gem.cli.options import as_json
from gem.cli.output import echo, print_json, print_waiting, stray_prints_to_stderr
from gem.packs.importing import import_object
from gem_train.config.sections import RunConfig
from gem_train.distributed.world import is_first, reported_once

_ESTIMATE = (
    "Print the memory that the run will need if its longest conversations have so many ids, and what fits; stop."
)

MODEL = click.option(
    "--model", help="A path, a name on the Hugging Face hub, or 'tiny': a small model with random weights."
)

_OPTIONS = (
    click.option("--config", "file", type=click.Path(path_type=Path), help="A TOML file with settings."),
    click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="One setting, such as optim.lr=1e-5."),
    click.option("--out", type=click.Path(path_type=Path), help="The run folder; by default a new one under runs/."),
    as_json,
    click.option("--show-config", is_flag=True, help="Print the settings that would be in force, as TOML, and stop."),
    click.option("--estimate", type=click.IntRange(1), metavar="IDS", help=_ESTIMATE),
    reported_once(),
)


class RunCommand(click.Command):
    """A command that trains. It has no `--resume`, and says what to do instead."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if error.option_name == "--resume":
                message = f"A run is resumed by its settings: gemx {ctx.info_name} --config RUN/config.toml --out RUN"
                raise click.UsageError(message, ctx) from None
            raise


class Asked(NamedTuple):
    """Options of every run."""

    file: Path | None
    settings: tuple[str, ...]
    out: Path | None
    as_json: bool
    show_config: bool
    estimate: int | None


def run_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of every run, which it gets as `asked`, and those of its own that were given."""

    @functools.wraps(command)
    def called(**options: Any) -> None:
        asked = Asked(*(options.pop(name) for name in Asked._fields))
        command(asked, **{name: value for name, value in options.items() if value is not None})

    for option in reversed(_OPTIONS):
        called = option(called)
    return called


def sources(asked: Asked, options: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The sources of the settings. What the file names is printed first: to read them, an algorithm is imported."""
    # Imported here: --help should not wait for them.
    from gem_eval.trust import names_in
    from gem_train.config.sources import given_sources

    found = given_sources(asked.file, options, asked.settings)
    if asked.file is not None and (used := names_in(found[0])):
        echo(f"{asked.file} names {', '.join(used)}.", fg="yellow", err=True)
    return found


def carry_out(config: RunConfig, name: str, check: Callable[[Any, Path], None], entry_point: str, asked: Asked) -> None:
    """Do what a command is asked for: show the settings, estimate the memory, or carry out the run.

    Args:
        config: the settings.
        name: of the run; a new folder is named after it.
        check: checks the settings and the folder before PyTorch is loaded.
        entry_point: `module:function` of what carries out the run; its module imports PyTorch.
        asked: the options of every run.
    """
    if asked.show_config:
        # Imported here: --help should not wait for it.
        from gem_train.config.sources import to_toml

        if asked.as_json:
            print_json(config.model_dump(mode="json", by_alias=True))
        else:
            echo(to_toml(config), nl=False)
        return
    if asked.estimate is None:
        with stray_prints_to_stderr():
            check(config, asked.out or Path("runs"))
    first = is_first()
    if first:
        print_waiting("loading PyTorch and transformers")
    if asked.estimate is not None:
        from gem_train.config.devices import describe
        from gem_train.runs.fitting import fit

        with stray_prints_to_stderr():
            found = fit(config, asked.estimate, describe(config.device))
        if asked.as_json:
            print_json(found.as_json())
        else:
            echo(found.as_text())
        return
    from transformers.utils import logging

    from gem_train.distributed.processes import connect
    from gem_train.runs.display import Display
    from gem_train.runs.folder import new_run_path

    run = import_object(entry_point)
    logging.disable_progress_bar()  # transformers would draw one at every checkpoint, over ours
    with (
        Display(quiet=asked.as_json or not first, silent=not first) as display,
        stray_prints_to_stderr(),
        connect(config.device, **config.distributed.model_dump()) as world,
    ):
        summary = run(config, world.first(lambda: asked.out or new_run_path(name)), display, world)
    if asked.as_json and first:
        print_json(summary.as_json())
