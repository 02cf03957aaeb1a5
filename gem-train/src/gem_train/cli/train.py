"""`gemx train`."""

from pathlib import Path
from typing import Any

import click

from gem.cli.options import Seed, as_json
from gem.cli.output import echo, print_json, print_waiting, stray_prints_to_stderr
from gem_train.cli.estimate import ESTIMATE, print_estimate
from gem_train.distributed.world import is_first, reported_once


@click.command()
@click.argument("id", required=False)
@click.option("--algorithm", help="reinforce, rebn, grpo, ppo, a name that a pack offers, or module:Class.")
@click.option("--model", help="A path, a name on the Hugging Face hub, or 'tiny': a small model with random weights.")
@click.option("--seed", type=Seed(), help="Of everything random.")
@click.option("--steps", type=int, help="Batches to play and learn from.")
@click.option("--config", "file", type=click.Path(path_type=Path), help="A TOML file with settings.")
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="One setting, such as optim.lr=1e-3.")
@click.option("--out", type=click.Path(path_type=Path), help="The run folder; by default a new one under runs/.")
@as_json
@click.option("--show-config", is_flag=True, help="Print the settings that would be in force, as TOML, and stop.")
@click.option("--estimate", type=click.IntRange(1), metavar="IDS", help=ESTIMATE)
@reported_once()
def train(
    id: str | None,
    file: Path | None,
    settings: tuple[str, ...],
    out: Path | None,
    as_json: bool,
    show_config: bool,
    estimate: int | None,
    **options: Any,
) -> None:
    """Train a model on the environment ID by reinforcement learning. Without an ID, the file names one, or a mix.

    The run folder keeps everything: settings, metrics, episodes, the learning curve, the newest checkpoint and the
    best. A run that was stopped, by Ctrl-C or otherwise, resumes when it is started again with the same settings and
    the same --out; more --steps extend a finished one.

    \b
    gemx train game:GuessTheNumber-v0-easy --model tiny
    gemx train game:Sudoku-v0-easy --model Qwen/Qwen3-1.7B --algorithm rebn --set optim.lr=1e-6
    """
    # Imported here: --help should not wait for them.
    from gem_train.config.sources import given_sources, to_toml
    from gem_train.config.training import load_config
    from gem_train.preflight import check

    if id is None and file is None:
        raise click.UsageError("Missing argument 'ID'.")
    given = {name: value for name, value in {"id": id, **options}.items() if value is not None}
    config = load_config(given_sources(file, given, settings))
    if show_config:
        if as_json:
            print_json(config.model_dump(mode="json"))
        else:
            echo(to_toml(config), nl=False)
        return
    if estimate is not None:
        print_estimate(config, estimate, as_json=as_json)
        return
    with stray_prints_to_stderr():
        folder = Path("runs") if out is None else out
        check(config, folder)

    first = is_first()
    if first:
        print_waiting("loading PyTorch and transformers")
    from transformers.utils import logging

    from gem_train.distributed.processes import connect
    from gem_train.runs.display import Display
    from gem_train.runs.folder import new_run_path
    from gem_train.train import train as run

    logging.disable_progress_bar()  # transformers would draw one at every checkpoint, over ours
    name = f"{config.id}-{config.algorithm}-seed{config.seed}"
    with (
        Display(quiet=as_json or not first, silent=not first) as display,
        stray_prints_to_stderr(),
        connect(config.device, config.distributed.timeout) as world,
    ):
        path = world.first(lambda: out or new_run_path(name))
        summary = run(config, path, display, world)
    if as_json and first:
        print_json(summary.as_json())
