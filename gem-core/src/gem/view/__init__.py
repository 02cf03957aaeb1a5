"""A page to look at recordings, evaluations and training runs: `gemx view`."""

from gem.view.page import page_of
from gem.view.runs import run_of

__all__ = ["page_of", "run_of"]
