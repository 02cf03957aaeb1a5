"""The reward of `run.toml`."""

import gem


@gem.reward
def found(success: bool, turns: tuple) -> float:
    """1 for the right word, less a little for every reply after the second: look, then answer."""
    return float(success) - 0.1 * max(0, len(turns) - 2)
