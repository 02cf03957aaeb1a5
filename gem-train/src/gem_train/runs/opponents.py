"""The weights of earlier selves in a run folder: `pool/step-N.safetensors`, by the names of the model's parameters."""

from collections.abc import Collection, Iterable
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from gem.errors import ConfigError
from gem_train.runs.files import sync


class Opponents:
    """The files of a pool.

    Args:
        run: the run folder.
    """

    def __init__(self, run: Path) -> None:
        self._folder = run / "pool"

    def _path(self, member: int) -> Path:
        return self._folder / f"step-{member}.safetensors"

    def write(self, member: int, weights: Iterable[tuple[str, Tensor]], keep: Collection[int]) -> None:
        """Write the weights of a member, and remove those of all but these."""
        self._folder.mkdir(exist_ok=True)
        path = self._path(member)
        partial = path.with_suffix(".part")
        save_file({name: tensor.detach().to("cpu").contiguous() for name, tensor in weights}, partial)
        sync(partial)
        partial.replace(path)
        kept = {self._path(each) for each in keep}
        for file in self._folder.glob("step-*.safetensors"):
            if file not in kept:
                file.unlink()
        sync(self._folder)

    def read(self, member: int) -> Iterable[tuple[str, Tensor]]:
        """The weights of a member.

        Raises:
            ConfigError: they cannot be read.
        """
        try:
            return load_file(self._path(member)).items()
        except (OSError, SafetensorError) as error:
            raise ConfigError(
                f"cannot read {self._path(member)}, the weights of an earlier self that this run plays against: "
                f"{error}. Start a new run from the newest checkpoint, with --model and another --out"
            ) from error
