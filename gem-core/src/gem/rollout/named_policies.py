"""From a name, or a name with settings, to a policy."""

import functools
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gem.errors import GemError, PolicyError, UnknownId
from gem.failure import failure_of
from gem.packs.component_ref import ComponentRef, name_and_settings
from gem.packs.importing import check_arguments, module_hint
from gem.packs.lookup import find_offer, find_policy
from gem.packs.preflight import check_name
from gem.rollout.function_policy import PARAMETERS, FunctionPolicy, required_arguments
from gem.rollout.policy import Policy

CHECKPOINT = "checkpoint"
"""The policy that a folder is: gem-train's."""


def policy_ref(policy: ComponentRef) -> ComponentRef:
    """A policy as data: a folder's path becomes the policy `checkpoint` with that path.

    A name that a pack offers is that policy, even where a folder is called the same.

    Raises:
        SpecError: it is neither a name nor a mapping with one.
    """
    name, settings = name_and_settings(policy)
    if Path(name).is_dir() and (name == CHECKPOINT or find_offer("policy", name) is None):
        name, settings = CHECKPOINT, {"path": name, **settings}
    return {"name": name, **settings} if settings else name


def written_at(policy: ComponentRef) -> datetime | None:
    """When the weights of a policy that is a folder were last written; None for any other."""
    name, settings = name_and_settings(policy)
    if name != CHECKPOINT:
        return None
    weights = Path(str(settings.get("path", ""))).expanduser().rglob("*.safetensors")
    times = [file.stat().st_mtime for file in weights if file.is_file()]
    return datetime.fromtimestamp(max(times), UTC) if times else None


def check_policy(policy: ComponentRef) -> None:
    """See that there is such a policy; what makes it is not imported.

    Raises:
        UnknownId: there is not; where it is gem-train's, the message says what to install.
    """
    name, settings = name_and_settings(policy_ref(policy))
    if name == CHECKPOINT and find_offer("policy", name) is None:
        what = settings.get("path", name)
        raise UnknownId(
            f"{what!r} as a policy is a trained model, which gem-train plays: install it; `gemx doctor` shows what is "
            "installed, and why something is not loaded"
        )
    if "/" in name and ":" not in name:
        choices = f"a policy is a name, module:name, or the folder of a model.{module_hint(name)}"
        raise UnknownId(f"there is no folder {name!r}; {choices}")
    check_name("policy", name)


def make_policy(policy: ComponentRef) -> Policy:
    """Build a policy.

    Args:
        policy: a name that a pack offers; `"module:name"`, which is a `Policy`, what makes one, or a function that
            answers (see `gem.rollout.function_policy`); the folder of a run or a checkpoint; or `{"name": …}` with any
            of them and the settings to build it with. A function's settings are arguments of its own, and `at_once`.

    Raises:
        UnknownId: there is no such policy.
        SpecError: a setting that it does not take, or one that it lacks.
        PolicyError: it is something else, or building it raised an error.
    """
    check_policy(policy)
    name, settings = name_and_settings(policy_ref(policy))
    what, found = f"the policy {name!r}", find_policy(name)
    if isinstance(found, Policy):
        if settings:
            raise PolicyError(f"{what} is built already, and takes no settings, such as {next(iter(settings))!r}")
        return found
    if not callable(found):
        raise PolicyError(f"{what} is of type {type(found).__name__}: neither a gem.Policy nor what makes one")
    if not isinstance(found, type) and (needed := required_arguments(found, settings)):
        limits = {"at_once": settings.pop("at_once")} if "at_once" in settings else {}
        check_arguments(what, found, settings, filled={*PARAMETERS, *needed} - settings.keys())
        return FunctionPolicy(functools.partial(found, **settings), **limits)
    check_arguments(what, found, settings)
    try:
        made: Any = found(**settings)
    except GemError:
        raise
    except Exception as error:
        raise PolicyError(f"{what} cannot be built: {failure_of(error).error}") from error
    if isinstance(made, Policy):
        return made
    if callable(made) and not isinstance(made, type):
        return FunctionPolicy(made)
    raise PolicyError(f"{what} makes something of type {type(made).__name__}, and not a gem.Policy")
