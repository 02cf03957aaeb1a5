"""Measuring: a model evaluated on environments, tournaments of several, and recorded episodes replayed, graded again,
compared and exported.

```python
from gem_eval import evaluate

found = evaluate("game:GuessTheNumber-v0-easy", "openai:gpt-5-mini", episodes=50, k=4, out="runs/guess")
print(found.total().success, found.total().success_ci)
```

Each name is imported when it is first used: listing commands imports this package.
"""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from gem_eval.evaluating import evaluate
    from gem_eval.evaluation import Evaluation
    from gem_eval.folder import read_settings
    from gem_eval.replay import Difference, Rescore, outdated, reproduce, rescore
    from gem_eval.results import Result
    from gem_eval.settings import Budget, Group, Settings, TournamentSettings
    from gem_eval.suite import read_models, read_suite
    from gem_eval.tournament import Tournament

_HOME = {
    "evaluating": ("evaluate",),
    "evaluation": ("Evaluation",),
    "folder": ("read_settings",),
    "replay": ("Difference", "Rescore", "outdated", "reproduce", "rescore"),
    "results": ("Result",),
    "settings": ("Budget", "Group", "Settings", "TournamentSettings"),
    "suite": ("read_models", "read_suite"),
    "tournament": ("Tournament",),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [  # pyright: ignore[reportUnsupportedDunderAll]
    "Budget",
    "Difference",
    "Evaluation",
    "Group",
    "Rescore",
    "Result",
    "Settings",
    "Tournament",
    "TournamentSettings",
    "evaluate",
    "outdated",
    "read_models",
    "read_settings",
    "read_suite",
    "reproduce",
    "rescore",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'gem_eval' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"gem_eval.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value
