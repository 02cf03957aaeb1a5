"""`gemx sft`."""

from pathlib import Path
from typing import Any

import click

from gem_train.cli.run import MODEL, Asked, RunCommand, carry_out, run_options, sources


@click.command(cls=RunCommand)
@click.argument("id", required=False)
@MODEL
@click.option("--policy", help="Who plays what is imitated: expert (the default), random, or another policy.")
@click.option("--recording", help="Recorded episodes (a file, or the folder of an evaluation) to imitate, not an ID.")
@click.option("--successful", is_flag=True, default=None, help="Imitate only episodes that succeeded.")
@click.option("--min-return", type=float, help="Imitate only episodes with at least this return.")
@click.option("--seed", type=int, help="Of everything random.")
@click.option("--steps", type=int, help="Updates of the weights.")
@run_options
def sft(asked: Asked, **given: Any) -> None:
    """Train a model to imitate: what a policy plays on the environment ID, or what a recording holds.

    The run folder keeps settings, metrics, the demonstrations and checkpoints. It is a policy (gemx eval ID --model
    FOLDER) and a start for gemx train --model FOLDER. A run that was stopped resumes when it is started again with the
    same settings and the same --out; more --steps extend a finished one.

    \b
    gemx sft game:GuessTheNumber-v0-easy --model tiny
    gemx sft --recording episodes.jsonl --successful --model Qwen/Qwen3-1.7B
    """
    # Imported here: --help should not wait for them.
    from gem_train.preflight import check_sft
    from gem_train.sft.config import load_sft_config

    data = {name: given.pop(name) for name in ("policy", "recording", "successful", "min_return") if name in given}
    config = load_sft_config(sources(asked, {**given, "data": data}))
    name = f"{config.id or Path(config.data.recording).stem}-sft-seed{config.seed}"
    carry_out(config, name, check_sft, "gem_train.sft.training:sft", asked)
