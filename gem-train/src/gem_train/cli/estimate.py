"""`--estimate` of `gemx train` and `gemx sft`."""

from typing import Any

from gem.cli.output import echo, print_json, print_waiting, stray_prints_to_stderr

ESTIMATE = "Print the memory that the run will need if its longest conversations have so many ids, by part, and stop."


def print_estimate(config: Any, ids: int, *, as_json: bool) -> None:
    """Print what memory the run of `config` will need."""
    print_waiting("loading PyTorch and transformers")
    from gem_train.runs.estimate import estimate

    with stray_prints_to_stderr():
        found = estimate(config, ids)
    if as_json:
        print_json(found.as_json())
    else:
        echo(found.as_text())
