"""What can be known to be wrong with the settings before torch is imported or anything is built."""

import os
import tempfile
from pathlib import Path

from gem.errors import ConfigError
from gem.packs.component_ref import as_list
from gem.packs.preflight import check_envs
from gem.rollout.named_policies import check_policy, make_policy
from gem_train.checkpoints import model_folder
from gem_train.config import TrainConfig

TINY = "tiny"
AUTO = "auto"


def check(config: TrainConfig, out: Path | None) -> None:
    """See that the env can be made, the policies and the model exist, and the folder can be written.

    Raises:
        GemError: what is wrong, and what to do about it.
    """
    if config.warmup.policy != AUTO:
        check_policy(config.warmup.policy)
        if not Path(config.warmup.policy).is_dir():  # a model's folder is read when it is its turn
            make_policy(config.warmup.policy).close()
    check_envs(config.id, as_list(config.wrappers), **config.env)
    check_model(config.model)
    check_writable(Path("runs") if out is None else out)


def check_model(name: str) -> None:
    """See that there is a model of this name: `tiny`, a folder, or on the Hugging Face hub.

    Raises:
        ConfigError: there is not, or it cannot be known because the hub cannot be reached.
    """
    if name == TINY:
        return
    folder = Path(model_folder(name))
    if folder.is_dir():
        if not (folder / "config.json").is_file():
            raise ConfigError(f"the folder {name} holds no model: there is no config.json in it. {_CHOICES}")
        return
    # A name on the hub is `name` or `owner/name`.
    if folder.exists() or name.startswith((".", "/", "~")) or name.count("/") > 1 or not name.strip():
        raise ConfigError(f"there is no model at {name!r}. {_CHOICES}")
    # Imported here: it takes a moment, and a path does not need it.
    from huggingface_hub import model_info, try_to_load_from_cache

    try:
        if not isinstance(try_to_load_from_cache(name, "config.json"), str):
            model_info(name, timeout=20)
    except Exception as error:
        # Whatever the hub's client raises, from a name it cannot read to a network it cannot reach.
        raise ConfigError(
            f"cannot load the model {name!r}: {str(error).splitlines()[0].rstrip('.')}. {_CHOICES}"
        ) from error


_CHOICES = "Give the path of a folder with a model, a name on the Hugging Face hub, or 'tiny'."


def check_writable(path: Path) -> None:
    """See that a folder can be made at `path`, or written if it is there; makes nothing.

    Raises:
        ConfigError: it cannot.
    """
    for place in (path, *path.absolute().parents):
        if not os.path.lexists(place):
            continue
        if not place.is_dir():
            raise ConfigError(f"cannot make the run folder {path}: {place} is not a folder; choose another --out")
        try:
            # Permissions alone do not tell: a file system may be read-only, or no place for files.
            tempfile.TemporaryFile(dir=place).close()
        except OSError as error:
            raise ConfigError(
                f"cannot write the run folder {path}: {place}: {error.strerror}; choose another --out"
            ) from error
        return
