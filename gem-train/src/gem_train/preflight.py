"""Checks of the settings of a run before torch is imported or anything is built."""

import os
import tempfile
from importlib.util import find_spec
from pathlib import Path

from gem.errors import ConfigError, MissingExtra
from gem.packs.component_ref import as_list
from gem.packs.preflight import check_envs
from gem.record import recording_at
from gem.rewards import make_pipeline
from gem.rollout.named_policies import check_policy, make_policy
from gem_eval.roles import playing
from gem_train.config.sections import RunConfig
from gem_train.config.training import TrainConfig
from gem_train.engines import ENGINES
from gem_train.evaluation import AUTO
from gem_train.models.lora import check_adapter
from gem_train.runs.checkpoints import holds_model, model_folder
from gem_train.runs.metric_logs import check_wandb
from gem_train.sft.config import SFTConfig

TINY = "tiny"

_CHOICES = "Give the path of a folder with a model, a name on the Hugging Face hub, or 'tiny'."


def check(config: TrainConfig, out: Path) -> None:
    """Check that the env can be made, the policy and the model exist, and the folder can be written.

    Args:
        config: the settings.
        out: the run folder, or the folder that it will be made in.

    Raises:
        GemError: what is wrong, and what to do about it.
    """
    if config.warmup.policy != AUTO:
        check_teacher(config.warmup.policy)
    for opponent in filter(None, (config.selfplay.opponent, config.measured_against)):
        check_teacher(opponent)
    # Environments look for their models when they are made.
    with playing(config.models, config.cache, config.rollout.num_envs):
        for each in (config.trained, config.evaluated):
            for part in each.parts:
                check_envs(part.id, as_list(part.wrappers), **part.env)
    check_engine(config.rollout.engine)
    if config.reward is not None:
        make_pipeline(config.reward).close()
    _check_any(config, out)


def check_sft(config: SFTConfig, out: Path) -> None:
    """The same for `gemx sft`.

    Raises:
        GemError: what is wrong, and what to do about it.
    """
    recording = config.data.recording
    if recording and not recording_at(recording).is_file():
        raise ConfigError(f"there is no recording {recording}: `gemx eval ID --out FOLDER` writes one")
    if not recording:
        check_teacher(config.data.policy)
        check_envs(config.id, as_list(config.wrappers), **config.env)
    _check_any(config, out)


def _check_any(config: RunConfig, out: Path) -> None:
    check_model(config.model)
    if config.log.wandb:
        check_wandb()
    check_writable(out)


def check_teacher(policy: str) -> None:
    """Check that the policy to imitate, or to meet, exists and can be made.

    Raises:
        GemError: it does not, or cannot.
    """
    check_policy(policy)
    if not Path(policy).is_dir():  # a model's folder is read when it is needed
        make_policy(policy).close()


def check_model(name: str) -> None:
    """Check that there is a model of this name: `tiny`, a folder, or on the Hugging Face hub.

    Raises:
        ConfigError: there is not, or the hub cannot be reached.
    """
    if name == TINY:
        return
    folder = Path(model_folder(name))
    if folder.is_dir():
        if not holds_model(folder):
            raise ConfigError(f"the folder {name} holds no model: there is no config.json in it. {_CHOICES}")
        check_adapter(folder)
        return
    # A name on the hub is `name` or `owner/name`.
    if folder.exists() or name.startswith((".", "/", "~")) or name.count("/") > 1 or not name.strip():
        raise ConfigError(f"there is no model at {name!r}. {_CHOICES}")
    if ":" in name:
        raise ConfigError(f"{name!r} is a policy, which plays, and not weights, which can be trained. {_CHOICES}")
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


def check_engine(name: str) -> None:
    """Check that what the engine `name` needs is installed.

    Raises:
        MissingExtra: it is not.
    """
    package = ENGINES[name].package
    if package is not None and find_spec(package) is None:
        raise MissingExtra(
            f"rollout.engine = {name!r} needs {package}, which is not installed: docs/engines.md says how "
            "to install it for a GPU or a CPU"
        )


def check_writable(path: Path) -> None:
    """Check that a folder can be made at `path`, or written if it exists; makes nothing.

    Raises:
        ConfigError: it cannot.
    """
    for folder in (path, *path.absolute().parents):
        if not os.path.lexists(folder):
            continue
        if not folder.is_dir():
            raise ConfigError(f"cannot make the run folder {path}: {folder} is not a folder; choose another --out")
        try:
            # Permissions alone do not tell: a file system may be read-only, or unable to hold files.
            tempfile.TemporaryFile(dir=folder).close()
        except OSError as error:
            raise ConfigError(
                f"cannot write the run folder {path}: {folder}: {error.strerror}; choose another --out"
            ) from error
        return
