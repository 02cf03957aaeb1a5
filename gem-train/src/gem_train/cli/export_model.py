"""`gemx export-model`."""

from pathlib import Path

import click

from gem.cli.options import as_json
from gem.cli.output import echo, print_json, print_waiting, stray_prints_to_stderr


@click.command("export-model")
@click.argument("source", metavar="RUN")
@click.argument("out", type=click.Path(path_type=Path))
@as_json
def export_model(source: str, out: Path, as_json: bool) -> None:
    """Write the model of RUN to the new folder OUT, for transformers, vLLM and the Hugging Face hub.

    RUN is a run folder (its newest checkpoint is taken), a checkpoint, such as runs/echo/checkpoint/best, or a folder
    with a model. The weights get the type that they had before training, and an adapter is merged into its base.

    \b
    gemx export-model runs/echo echo-model
    """
    print_waiting("loading PyTorch and transformers")
    # Imported here: --help should not wait for them.
    from transformers.utils import logging

    from gem_train.models.export import export_model as export

    logging.disable_progress_bar()
    with stray_prints_to_stderr():
        dtype = export(source, out)
    if as_json:
        print_json({"model": str(out), "dtype": dtype})
    else:
        echo(f"model  {out}, {dtype}")
