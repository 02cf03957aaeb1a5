"""`gemx sft`."""

from pathlib import Path
from typing import Any

import click

from gem.cli.options import Seed, as_json
from gem.cli.output import echo, print_json, print_waiting, stray_prints_to_stderr
from gem_train.cli.estimate import ESTIMATE, print_estimate
from gem_train.distributed.world import is_first, reported_once


@click.command()
@click.argument("id", default="")
@click.option("--model", help="A path, a name on the Hugging Face hub, or 'tiny': a small model with random weights.")
@click.option("--policy", help="Who plays what is imitated: expert (the default), random, or another policy.")
@click.option("--recording", help="Recorded episodes (a file, or the folder of an evaluation) to imitate, not an ID.")
@click.option("--successful", is_flag=True, default=None, help="Imitate only episodes that succeeded.")
@click.option("--min-return", type=float, help="Imitate only episodes with at least this return.")
@click.option("--seed", type=Seed(), help="Of everything random.")
@click.option("--steps", type=int, help="Updates of the weights.")
@click.option("--config", "file", type=click.Path(path_type=Path), help="A TOML file with settings.")
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="One setting, such as optim.lr=1e-5.")
@click.option("--out", type=click.Path(path_type=Path), help="The run folder; by default a new one under runs/.")
@as_json
@click.option("--show-config", is_flag=True, help="Print the settings that would be in force, as TOML, and stop.")
@click.option("--estimate", type=click.IntRange(1), metavar="IDS", help=ESTIMATE)
@reported_once()
def sft(
    id: str,
    file: Path | None,
    settings: tuple[str, ...],
    out: Path | None,
    as_json: bool,
    show_config: bool,
    estimate: int | None,
    **options: Any,
) -> None:
    """Train a model to imitate: what a policy plays on the environment ID, or what a recording holds.

    The run folder keeps settings, metrics, the demonstrations and checkpoints. It is a policy (gemx eval ID --model
    FOLDER) and a start for gemx train --model FOLDER. A run that was stopped resumes when it is started again with the
    same settings and the same --out; more --steps extend a finished one.

    \b
    gemx sft game:GuessTheNumber-v0-easy --model tiny
    gemx sft --recording episodes.jsonl --successful --model Qwen/Qwen3-1.7B
    """
    # Imported here: --help should not wait for them.
    from gem_train.config.sources import given_sources, to_toml
    from gem_train.preflight import check_sft
    from gem_train.sft.config import load_sft_config

    given = {name: value for name, value in options.items() if value is not None}
    data = {name: given.pop(name) for name in ("policy", "recording", "successful", "min_return") if name in given}
    given |= {"data": data, **({"id": id} if id else {})}
    config = load_sft_config(given_sources(file, given, settings))
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
        check_sft(config, Path("runs") if out is None else out)

    first = is_first()
    if first:
        print_waiting("loading PyTorch and transformers")
    from transformers.utils import logging

    from gem_train.distributed.processes import connect
    from gem_train.runs.display import Display
    from gem_train.runs.folder import new_run_path
    from gem_train.sft.training import sft as run

    logging.disable_progress_bar()  # transformers would draw one at every checkpoint, over ours
    name = f"{config.id or Path(config.data.recording).stem}-sft-seed{config.seed}"
    with (
        Display(quiet=as_json or not first, silent=not first) as display,
        stray_prints_to_stderr(),
        connect(config.device, config.distributed.timeout) as world,
    ):
        path = world.first(lambda: out or new_run_path(name))
        summary = run(config, path, display, world)
    if as_json and first:
        from dataclasses import asdict

        print_json(asdict(summary))
