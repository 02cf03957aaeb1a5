"""The arguments of the launch files in `examples/frameworks`: a setting has the same name and default in all of them.

The defaults are those of `gemx train` for a language model. A file gives its own for what its framework does otherwise.
"""

import argparse
import os
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import gem
from gem.errors import ConfigError, GemError


class _Each(argparse.Action):
    """The action "append", but in place of the default."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        given = getattr(namespace, self.dest)
        setattr(namespace, self.dest, [*([] if given is self.default else given), values])


@contextmanager
def named_if_missing() -> Generator[None]:
    """Around what needs a framework or a model: one that is missing, or cannot be used, is named in one line.

    A framework's module of GEM is imported after the arguments were read, so that `--help`, and a mistake in them, need
    no framework.
    """
    try:
        yield
    except GemError as error:
        sys.exit(f"{Path(sys.argv[0]).name}: {error}")


def known_id(id: str) -> str:
    """An id that can be played here: a mistake in it is found before a framework starts its engines."""
    # As for `gemx`: a "module:Class" may be in the current folder, which comes last, so that it shadows nothing.
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    try:
        gem.get_spec(id)
    except GemError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return id


def count(text: str) -> int:
    """A number of things, of which there is at least one."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is not at least 1")
    return number


def several(text: str) -> int:
    """The size of a group that is learned from: an episode is compared with the others of its group."""
    number = count(text)
    if number == 1:
        raise argparse.ArgumentTypeError("an episode is compared with others of its group: at least 2")
    return number


def rate(text: str) -> float:
    """A rate at which something is learned."""
    number = float(text)
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not a number above 0")
    return number


def seed(text: str) -> int:
    """A seed that every framework takes: NumPy's generators have 32 bits."""
    number = int(text)
    if not 0 <= number < 2**32:
        raise argparse.ArgumentTypeError(f"{number} is not from 0 to 2**32 - 1")
    return number


def folder(text: str) -> Path:
    """A folder, which need not be there yet."""
    path = Path(text)
    if path.exists() and not path.is_dir():
        raise argparse.ArgumentTypeError(f"{text} is a file, and not a folder")
    return path


@named_if_missing()
def check_model(name: str) -> None:
    """End the program if there is no such model, before a framework starts its engines.

    It needs transformers, so it comes after the framework is known to be there.

    Args:
        name: a folder with a model, or the name of one on the Hugging Face hub, of which its configuration is fetched.
    """
    from transformers import PretrainedConfig

    folder = Path(name)
    if folder.exists() and not (folder / "config.json").is_file():
        if (folder / "adapter_config.json").is_file():  # transformers loads it with peft, on the base that it names
            return
        raise ConfigError(f"{name} is not a folder with a model: it has no config.json, nor an adapter_config.json")
    try:
        PretrainedConfig.get_config_dict(name)
    except OSError as error:
        why = str(error).splitlines()[0]
        raise ConfigError(f"{name} is not a folder, nor found on the Hugging Face hub: {why}") from error


ALWAYS = ("env", "seed")
SETTINGS: dict[str, dict[str, Any]] = {
    "env": {
        "action": _Each,
        "type": known_id,
        "metavar": "ID",
        "default": ["game:GuessTheNumber-v0-easy"],
        "help": "once for each id; the starts are divided among them",
    },
    "seed": {
        "type": seed,
        "default": 0,
        "help": "of the starts, which are the same in every framework, and of what else it draws",
    },
    "steps": {"type": count, "default": 200, "help": "batches of episodes that are played and learned from"},
    "starts": {"type": count, "default": 16, "help": "of episodes"},
    "groups": {"type": count, "default": 16, "help": "starts in a step"},
    "group": {"type": count, "default": 8, "help": "episodes from the same start"},
    "max_new_tokens": {"type": count, "default": 1024, "help": "of a reply"},
    "max_context": {"type": count, "default": 4096, "help": "ids of an episode, read and sampled"},
    "max_turns": {"type": count, "default": 100, "help": "after which an episode is truncated"},
    "score": {
        "choices": ["return", "success"],
        "default": "return",
        "help": "what an episode earns: its return, or 1 for success and 0 otherwise",
    },
    "lr": {"type": rate, "default": 1e-6, "help": "learning rate"},
    "out": {"type": folder, "help": "folder that is written to"},
    "dry_run": {"action": "store_true", "help": "only write the files, and print the command"},
}


def arguments(description: str | None, *names: str, **defaults: Any) -> argparse.ArgumentParser:
    """A parser with `--env`, `--seed` and those of `SETTINGS` that are named, or have a default of the file's own."""
    text = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=description, formatter_class=text, allow_abbrev=False)
    for name in dict.fromkeys([*ALWAYS, *names, *defaults]):
        setting = SETTINGS[name] | ({"default": defaults[name]} if name in defaults else {})
        # A file with steps learns from its groups; the others only play, and one episode of a start may do.
        if name == "group" and "steps" in names:
            setting["type"] = several
        default = setting.get("default")
        shown = "" if default is None else f"; default: {' '.join(default) if isinstance(default, list) else default}"
        parser.add_argument(f"--{name.replace('_', '-')}", **{**setting, "help": setting["help"] + shown})
    return parser
