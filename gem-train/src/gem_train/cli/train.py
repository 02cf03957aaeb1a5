"""`gemx train`."""

from typing import Any

import click

from gem.cli.options import reward, reward_ref
from gem_train.cli.run import MODEL, Asked, RunCommand, carry_out, run_options, sources


@click.command(cls=RunCommand)
@click.argument("id", required=False)
@click.option("--algorithm", help="reinforce, rebn, grpo, ppo, a name that a pack offers, or module:Class.")
@reward
@MODEL
@click.option("--seed", type=int, help="Of everything random.")
@click.option("--steps", type=int, help="Batches to play and learn from.")
@run_options
def train(asked: Asked, **given: Any) -> None:
    """Train a model on the environment ID by reinforcement learning. Without an ID, the file names one, or a mix.

    The run folder keeps everything: settings, metrics, episodes, the learning curve, the newest checkpoint and the
    best. A run that was stopped, by Ctrl-C or otherwise, resumes when it is started again with the same settings and
    the same --out; more --steps extend a finished one.

    \b
    gemx train game:GuessTheNumber-v0-easy --model tiny
    gemx train game:Sudoku-v0-easy --model Qwen/Qwen3-1.7B --algorithm rebn --set optim.lr=1e-6
    """
    # Imported here: --help should not wait for them.
    from gem_train.config.training import load_config
    from gem_train.preflight import check

    if "id" not in given and asked.file is None:
        raise click.UsageError("Missing argument 'ID'.")
    if "reward" in given:
        given["reward"] = reward_ref(given["reward"])
    config = load_config(sources(asked, given))
    name = f"{config.id}-{config.algorithm}-seed{config.seed}"
    carry_out(config, name, check, "gem_train.train:train", asked)
