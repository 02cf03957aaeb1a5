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
    from gem import answers, errors, rollout, seeding, tool, wrappers
    from gem.core import ContentPart, Env, Info, Observation, Step, Wrapper
    from gem.episode import Completion, Episode, Turn
    from gem.llm.models import chat_model, use_models
    from gem.packs.hookspecs import CommandSpec, EnvSource, hookimpl
    from gem.packs.make import make
    from gem.packs.registry import all_specs, get_spec, register
    from gem.packs.spec import EnvId, EnvSpec
    from gem.rewards import RewardPipeline, judge, reward, verified
    from gem.rollout.policy import Policy
    from gem.rollout.transcript import Transcript
    from gem.tool import Tool
    from gem.turn_env import TurnEnv
    from gem.vector import VectorEnv, make_vec
    from gem.wrappers.tool_env import ToolEnv

_HOME = {
    "gem.core": ("ContentPart", "Env", "Info", "Observation", "Step", "Wrapper"),
    "gem.llm.models": ("chat_model", "use_models"),
    "gem.packs.hookspecs": ("CommandSpec", "EnvSource", "hookimpl"),
    "gem.episode": ("Completion", "Episode", "Turn"),
    "gem.rewards": ("RewardPipeline", "judge", "reward", "verified"),
    "gem.rollout.policy": ("Policy",),
    "gem.packs.make": ("make",),
    "gem.packs.registry": ("all_specs", "get_spec", "register"),
    "gem.packs.spec": ("EnvId", "EnvSpec"),
    "gem.tool": ("Tool",),
    "gem.wrappers.tool_env": ("ToolEnv",),
    "gem.rollout.transcript": ("Transcript",),
    "gem.turn_env": ("TurnEnv",),
    "gem.vector": ("VectorEnv", "make_vec"),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}
_SUBMODULES = ("errors", "answers", "rollout", "seeding", "tool", "wrappers")

__all__ = [  # pyright: ignore[reportUnsupportedDunderAll]
    "CommandSpec", "Completion", "ContentPart", "Env", "EnvId", "EnvSource", "EnvSpec", "Episode", "Info",
    "Observation", "Policy", "RewardPipeline", "Step", "Tool", "ToolEnv", "Transcript", "Turn", "TurnEnv", "VectorEnv",
    "Wrapper", "__version__", "all_specs", "answers", "chat_model", "errors", "get_spec", "hookimpl", "judge", "make",
    "make_vec", "register", "reward", "rollout", "seeding", "tool", "use_models", "verified", "wrappers",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return importlib.import_module(f"gem.{name}")
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'gem' has no attribute {name!r}")
    value = getattr(importlib.import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
