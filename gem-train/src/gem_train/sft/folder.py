"""The run folder of `gemx sft`: that of a training run, with the demonstrations and another result."""

import json
import shlex
from dataclasses import asdict, dataclass
from pathlib import Path

from gem_train.runs.files import write_json
from gem_train.runs.folder import RunFolder


@dataclass(frozen=True, slots=True)
class SFTSummary:
    """The result of `gemx sft`, as it is written to `summary.json`. Losses are means per token, in nats."""

    id: str | None
    """The environment that was played; None for a recording."""
    recording: str | None
    policy: str | None
    """Who played; None for a recording."""
    seed: int
    episodes: int
    """That were trained on."""
    held_out_episodes: int
    cut_episodes: int
    """Of all of them, those that lost turns because the model's context is shorter."""
    steps: int
    loss: float
    """Of the last step."""
    held_out_loss_before: float | None
    held_out_loss_after: float | None
    """None if nothing was held out."""
    seconds: float


class SFTFolder(RunFolder):
    """The files of one run of `gemx sft`."""

    @property
    def title(self) -> str:
        """What is imitated, and the seed."""
        what = self._settings["id"] or Path(self._settings["data"]["recording"]).name
        return f"{what}, imitation, seed {self._settings['seed']}"

    @property
    def resume_command(self) -> str:
        """The command that resumes the run."""
        words = shlex.join(["--config", str(self.path / "config.toml"), "--out", str(self.path)])
        return f"{self._world.command} sft {words}"

    @property
    def demonstrations(self) -> Path:
        """The episodes that are imitated: a recording."""
        return self.path / "demonstrations.jsonl"

    def rewind(self, step: int | None) -> None:
        """Remove what was written after the checkpoint of `step`; it records no episodes."""
        super().rewind(step)
        self._episodes.unlink(missing_ok=True)

    def result(self) -> SFTSummary | None:
        """The result, if the run has finished with the steps that are asked for."""
        if self._finished_steps != self._settings["steps"]:
            return None
        return self._read_summary(lambda text: SFTSummary(**json.loads(text)))

    def write_result(self, summary: SFTSummary) -> None:
        """Write the result; the run has finished."""
        with self._writing():
            write_json(self.path / "summary.json", asdict(summary))
