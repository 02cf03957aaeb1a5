r"""GEM: a gym for LLM agents.

```python
import gem

env = gem.make("game:GuessTheNumber-v0-easy")
observation, info = env.reset(seed=0)
observation, reward, terminated, truncated, info = env.step("\\boxed{5}")
```

Importing `gem` loads no pack: each public name is imported when it is first used.
"""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from gem import errors, parsing, rollout, seeding, tool, wrappers
    from gem.core import ContentPart, Env, Info, Observation, Step, Wrapper
    from gem.gymnasium import to_gymnasium
    from gem.packs.hookspecs import CommandSpec, EnvSource, hookimpl
    from gem.packs.make import make
    from gem.packs.registry import all_specs, get_spec, register
    from gem.packs.spec import EnvId, EnvSpec
    from gem.rollout.policy import Completion, Policy
    from gem.rollout.report import Report
    from gem.rollout.transcript import Episode, Transcript, Turn
    from gem.tool import Tool
    from gem.turn_env import TurnEnv
    from gem.vector import VectorEnv, make_vec
    from gem.wrappers.tool_env import ToolEnv

_HOME = {
    "gem.core": ("ContentPart", "Env", "Info", "Observation", "Step", "Wrapper"),
    "gem.rollout.report": ("Report",),
    "gem.gymnasium": ("to_gymnasium",),
    "gem.packs.hookspecs": ("CommandSpec", "EnvSource", "hookimpl"),
    "gem.rollout.policy": ("Completion", "Policy"),
    "gem.packs.make": ("make",),
    "gem.packs.registry": ("all_specs", "get_spec", "register"),
    "gem.packs.spec": ("EnvId", "EnvSpec"),
    "gem.tool": ("Tool",),
    "gem.wrappers.tool_env": ("ToolEnv",),
    "gem.rollout.transcript": ("Episode", "Transcript", "Turn"),
    "gem.turn_env": ("TurnEnv",),
    "gem.vector": ("VectorEnv", "make_vec"),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}
_SUBMODULES = ("errors", "parsing", "rollout", "seeding", "tool", "wrappers")

__all__ = [  # pyright: ignore[reportUnsupportedDunderAll]
    "CommandSpec",
    "Completion",
    "ContentPart",
    "Env",
    "EnvId",
    "EnvSource",
    "EnvSpec",
    "Episode",
    "Info",
    "Observation",
    "Policy",
    "Report",
    "Step",
    "Tool",
    "ToolEnv",
    "Transcript",
    "Turn",
    "TurnEnv",
    "VectorEnv",
    "Wrapper",
    "__version__",
    "all_specs",
    "errors",
    "get_spec",
    "hookimpl",
    "make",
    "make_vec",
    "parsing",
    "register",
    "rollout",
    "seeding",
    "to_gymnasium",
    "tool",
    "wrappers",
]


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return importlib.import_module(f"gem.{name}")
    if name not in _MODULE_OF:
        from gem.gem_llm import TOP, instead_of

        if name in TOP:
            raise instead_of(name, TOP[name])
        raise AttributeError(f"module 'gem' has no attribute {name!r}")
    value = getattr(importlib.import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
