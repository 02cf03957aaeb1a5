"""Runs that a benchmark compares: from settings to a finished run folder, what it came to, and paired differences."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

from transformers.utils import logging

from gem_train.config.training import load_config
from gem_train.runs.compare import mean_and_half_width, read_run
from gem_train.runs.display import Display
from gem_train.sft.config import load_sft_config
from gem_train.sft.training import sft
from gem_train.train import train

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Outcome:
    """What a run came to."""

    before: float
    """Success in the evaluation before training."""
    after: float
    training: tuple[float, ...]
    """Success in each training step."""
    turns_before: float
    """Of an episode."""
    turns_after: float
    seconds: float


def imitated(settings: Settings, out: Path) -> Path:
    """The folder of a run of `gemx sft`, which is carried out, or resumed, unless it has finished."""
    if not (out / "summary.json").exists():
        logging.disable_progress_bar()  # transformers would draw one for every checkpoint
        sft(load_sft_config([settings]), out, Display(silent=True))
    return out


def trained(settings: Sequence[Settings], out: Path) -> Outcome:
    """What a run of `gemx train` came to, which is carried out, or resumed, unless it has finished."""
    if not (out / "summary.json").exists():
        logging.disable_progress_bar()
        train(load_config(settings), out, Display(silent=True))
    read = read_run(out)
    evaluated, turns = read.points("success", "eval"), read.points("turns", "eval")
    return Outcome(
        before=evaluated[0].mean,
        after=evaluated[-1].mean,
        training=tuple(point.mean for point in read.points("success", "train")),
        turns_before=turns[0].mean,
        turns_after=turns[-1].mean,
        seconds=json.loads((out / "summary.json").read_text("utf-8"))["seconds"],
    )


def interval(values: Sequence[float]) -> tuple[float, float]:
    """The mean of `values` and half of its 95% interval by Student's t: NaN for a single value."""
    return mean_and_half_width(values) if len(values) > 1 else (fmean(values), math.nan)


def mean(values: Sequence[float], sign: str = "") -> str:
    """A mean and half of its 95% interval, in words."""
    middle, half = interval(values)
    return f"{middle:{sign}.2f} ± {half:.2f}"


def sign_flip(differences: Sequence[float]) -> float:
    """The two-sided p of the exact sign-flip test: the share of all 2^n assignments of signs that are as extreme."""
    observed = abs(sum(differences))
    flips = product((-1, 1), repeat=len(differences))
    sums = [abs(sum(sign * value for sign, value in zip(signs, differences, strict=True))) for signs in flips]
    return sum(each >= observed - 1e-12 for each in sums) / len(sums)
