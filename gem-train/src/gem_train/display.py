"""What a person sees of a run, on standard error: a live progress line in a terminal, plain lines elsewhere."""

import json
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from gem.cli.output import as_text, console
from gem_train.config import TrainConfig
from gem_train.run_folder import RunFolder

_EPISODES = 3


class Display:
    """Shows one run: progress on standard error, what came of it on standard output.

    Args:
        config: of the run.
        as_json: print what came of it as one JSON object, and nothing else.
    """

    def __init__(self, config: TrainConfig, *, as_json: bool = False) -> None:
        self._config = config
        self._console = console(stderr=True)
        self._result = console()
        self._as_json = as_json
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[status]}"),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        self._task: TaskID | None = None
        self._phase = ""

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def warmed_up(self, step: int, loss: float) -> None:
        """A step of the warm-up was made."""
        self._advance("warm-up", step, self._config.warmup.steps, f"loss {loss:.3f}", every=100)

    def evaluated(self, when: str, report: Mapping[str, Any]) -> None:
        """The model was evaluated."""
        self._say(f"success {when} training: {_rate(report['success'], report['success_ci'])}")

    def resumed(self, step: int) -> None:
        """The run goes on from a checkpoint."""
        self._say(f"going on from the checkpoint of step {step}")

    def stepped(self, step: int, metrics: Mapping[str, float]) -> None:
        """A step of training was made."""
        status = (
            f"success {metrics['success']:.2f}  return {metrics['return']:.2f}  turns {metrics['turns']:.1f}  "
            f"entropy {metrics['entropy']:.2f}  kl {metrics['kl']:.4f}"
        )
        if metrics["malformed"]:
            status += f"  malformed {metrics['malformed']:.0%}"
        if metrics["failures"]:
            status += f"  failures {metrics['failures']:.0f}"
        self._advance("training", step, self._config.steps, status, every=10)

    def already_finished(self, summary: Mapping[str, Any], folder: RunFolder) -> None:
        """The folder holds this very run, finished."""
        self._say("this run has finished already; this is what came of it")
        self.finished(summary, folder)

    def finished(self, summary: Mapping[str, Any], folder: RunFolder) -> None:
        """The run is done."""
        self._progress.stop()
        if self._as_json:
            self._result.file.write(json.dumps(summary) + "\n")
            return
        # Short episodes finish first; evenly spaced ones are of all lengths.
        episodes = folder.episodes("evaluation")
        for number, episode in enumerate(episodes[:: -(-len(episodes) // _EPISODES)], start=1):
            self._result.print(f"\n--- Episode {number} after training, seed {episode['seed']} ---", style="bold")
            self._result.print(_episode(episode), soft_wrap=True)
        self._result.print()
        self._result.print(_summary_table(summary))
        self._result.print(f"learning curve  {folder.curve}", soft_wrap=True)
        self._result.print(f"run folder      {folder.path}", soft_wrap=True)

    def _advance(self, phase: str, step: int, total: int, status: str, *, every: int) -> None:
        if self._task is None or self._phase != phase:
            self._task = self._progress.add_task(phase, total=total, status="")
            self._phase = phase
        self._progress.update(self._task, completed=step, status=status)
        if not self._console.is_terminal and (step % every == 0 or step in (1, total)):
            self._console.print(f"{phase} {step}/{total}  {status}", soft_wrap=True)

    def _say(self, text: str) -> None:
        self._console.print(text, soft_wrap=True)


def _episode(episode: Mapping[str, Any]) -> Text:
    text = Text()
    for turn in episode["turns"]:
        text.append(as_text(turn["observation"]) + "\n")
        text.append(f"> {turn['action']}\n", style="bold")
    total = sum(turn["reward"] for turn in episode["turns"])
    outcome = "success" if episode["success"] else "no success"
    text.append(f"{as_text(episode['observation'])}\n({outcome}, return {total:.2f})")
    return text


def _summary_table(summary: Mapping[str, Any]) -> Table:
    table = Table(title=f"{summary['id']}, {summary['algorithm']}, seed {summary['seed']}", title_justify="left")
    table.add_column("policy")
    table.add_column("success [95% interval]", justify="right")
    for name in ("random", "expert"):
        rate = summary[f"{name}_success"]
        if rate is not None:
            table.add_row(f"{name} play", _rate(rate, summary[f"{name}_success_ci"]))
    table.add_row("before training", _rate(summary["success_before"], summary["success_before_ci"]))
    table.add_row("after training", _rate(summary["success_after"], summary["success_after_ci"]), style="bold")
    table.caption = f"{summary['steps']} steps in {summary['seconds']:.0f} s"
    return table


def _rate(rate: float | None, interval: tuple[float, float]) -> str:
    return "-" if rate is None else f"{rate:.3f} [{interval[0]:.3f}, {interval[1]:.3f}]"
