"""Display of a run on standard error: two live lines in a terminal, plain lines otherwise."""

import math
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from rich.console import Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Column, Table
from rich.text import Text

from gem.cli.output import as_text, console
from gem.episode import Episode
from gem_eval.results import Result
from gem_train.runs.folder import RunFolder
from gem_train.runs.summary import Summary

_EPISODES = 3
_IMITATION = ("loss", "held_out_loss")
_QUIET = 20.0
"""Seconds after which a pipe gets a line, even without a new step."""


class Display:
    """Shows one run: progress on standard error, the result on standard output.

    In a terminal the first live line has the bar, the steps, the time and the time left, and the second the metrics,
    the most important first, cut off at the terminal's width.

    Args:
        quiet: do not print the result.
        silent: print nothing at all, as in the processes of a run beside the first.
    """

    def __init__(self, *, quiet: bool = False, silent: bool = False) -> None:
        self._console = console(stderr=True)
        self._result = console()
        self._console.quiet = self._result.quiet = silent
        self._quiet = quiet
        self._progress = Progress(
            TextColumn("{task.description}", table_column=Column(no_wrap=True)),
            BarColumn(bar_width=None, table_column=Column(ratio=1)),
            MofNCompleteColumn(table_column=Column(no_wrap=True)),
            TimeElapsedColumn(table_column=Column(no_wrap=True)),
            TextColumn("{task.fields[left]}", table_column=Column(no_wrap=True)),
            console=self._console,
            expand=True,
        )
        self._status = Text(no_wrap=True, overflow="ellipsis")
        self.view = Group(self._progress, self._status)
        """The live lines."""
        self._live = Live(self.view, console=self._console, transient=True)
        self._task: TaskID | None = None
        self._phase = ""
        self._began = self._last_line = 0.0
        self._first = 0

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def measuring(self, who: str, done: int, total: int) -> None:
        """Show how many episodes of an evaluation have been played."""
        if not done and not self._console.is_terminal:
            self.note(f"{who}: {total} episodes")
        self._advance(who, done, total, "", every=total + 1)

    def measured(self, who: str, result: Result | None) -> None:
        """An evaluation has ended; None where the env does not offer the policy."""
        self._end_phase()  # what follows has no bar until its first step
        if result is not None:
            of = "of " if " play" in who else ""
            self.note(f"success {of}{who}: {_rate(result)}")

    def warmed_up(self, step: int, steps: int, loss: float) -> None:
        """A step of the warm-up was made."""
        self._advance("warm-up", step, steps, f"loss {loss:.3f}", every=100)

    def imitated(self, step: int, steps: int, metrics: Mapping[str, float]) -> None:
        """A step of `gemx sft` was made."""
        status = "  ".join(f"{name.replace('_', ' ')} {metrics[name]:.3f}" for name in _IMITATION if name in metrics)
        self._advance("imitation", step, steps, status, every=20)

    def note(self, text: str) -> None:
        """Something that is good to know."""
        self._console.print(text, soft_wrap=True)

    def result(self, text: str) -> None:
        """The result of a run, in words."""
        self._live.stop()
        if not self._quiet:
            self._result.print(text, soft_wrap=True)

    def warn(self, text: str | None) -> None:
        """Something to know before the run begins, if there is anything."""
        if text is not None:
            self._console.print(text, style="bold yellow", soft_wrap=True)

    def stepped(self, step: int, steps: int, metrics: Mapping[str, float]) -> None:
        """A step of training was made."""
        status = f"success {metrics['success']:.2f}  return {metrics['return']:.2f}  turns {metrics['turns']:.1f}"
        if metrics["malformed"]:
            status += f"  malformed {metrics['malformed']:.0%}"
        if metrics["failures"]:
            status += f"  failures {metrics['failures']:.0f}"
        for name, digits in (("entropy", 2), ("kl", 4), ("engine_gap", 4)):
            if name in metrics:
                status += f"  {name.replace('_', ' ')} {metrics[name]:.{digits}f}"
        if not metrics.get("signal", 1):
            status = f"no signal  {status}"
        self._advance("training", step, steps, status, every=10)

    def found(self, step: int, text: str) -> None:
        """The watch detected something."""
        self._console.print(f"step {step}: {text}", style="bold yellow")

    def interrupted(self, where: str, resume_command: str | None = None) -> None:
        """Ctrl-C stopped the run, which the command resumes."""
        self._live.stop()
        self.note(f"stopped {where}" if resume_command is None else f"stopped {where}. To resume:\n{resume_command}")

    def finished(self, summary: Summary, folder: RunFolder) -> None:
        """The run is done."""
        self._live.stop()
        if self._quiet:
            return
        # Short episodes finish first; evenly spaced ones are of all lengths.
        episodes = folder.episodes("evaluation")
        for number, episode in enumerate(episodes[:: -(-len(episodes) // _EPISODES)], start=1):
            self._result.print(f"\n--- Episode {number} after training, seed {episode.seed} ---", style="bold")
            self._result.print(_episode(episode), soft_wrap=not self._result.is_terminal)
        self._result.print(f"\n{summary.id}, {summary.algorithm}, seed {summary.seed}", soft_wrap=True)
        self._result.print(_summary_table(summary))
        self._result.print(f"learning curve  {folder.curve}", soft_wrap=True)
        self._result.print(f"run folder      {folder.path}", soft_wrap=True)

    def _end_phase(self) -> None:
        if self._task is not None:
            self._progress.remove_task(self._task)
        self._task, self._phase, self._status.plain = None, "", ""

    def _advance(self, phase: str, step: int, total: int, status: str, *, every: int) -> None:
        now = time.monotonic()
        if self._task is None or self._phase != phase:
            self._end_phase()
            self._task = self._progress.add_task(phase, total=total, left="")
            # A resumed run has not made its earlier steps in this time.
            self._phase, self._began, self._last_line = phase, now, now
            self._first = step if every > total else step - 1
        made = step - self._first
        left = (total - step) * (now - self._began) / made if made and now > self._began else None
        self._progress.update(self._task, completed=step, left="" if left is None else f"{_clock(left)} left")
        self._status.plain = status
        if self._console.is_terminal:
            return
        if step and (step % every == 0 or now - self._last_line > _QUIET or (every <= total and step in (1, total))):
            self._last_line = now
            self.note(f"{phase} {step}/{total}  {status}".rstrip())


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"


def _episode(record: Episode) -> Text:
    text = Text()
    for turn in record.turns:
        text.append(as_text(turn.observation) + "\n")
        text.append(f"> {turn.action}\n", style="bold")
    total = math.fsum(turn.reward for turn in record.turns)
    outcome = "success" if record.success else "no success"
    last = as_text(record.observation)
    text.append(f"{last}\n({outcome}, return {total:.2f})")
    return text


def _summary_table(summary: Summary) -> Table:
    table = Table()
    table.add_column("policy")
    table.add_column("success [95% interval]", justify="right")
    for name, floor in summary.before.floors.items():
        table.add_row(f"{name} play", _rate(floor))
    table.add_row("before training", _rate(summary.before))
    table.add_row("after training", _rate(summary.after), style="bold")
    for result in summary.ids:
        table.add_row(f"  {result.id}", _rate(result))
    table.caption = f"{summary.steps} {'step' if summary.steps == 1 else 'steps'} in {summary.seconds:.0f} s"
    return table


def _rate(result: Result) -> str:
    low, high = result.success_ci
    return "-" if math.isnan(result.success) else f"{result.success:.3f} [{low:.3f}, {high:.3f}]"
