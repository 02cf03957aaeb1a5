"""A page to look at recordings, evaluations, tournaments and training runs: `gemx view`."""

from gem_eval.view.page import page_of
from gem_eval.view.runs import run_of

__all__ = ["page_of", "run_of"]
