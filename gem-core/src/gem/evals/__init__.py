"""Evaluations: a model measured on environments, with intervals, and random play and the expert beside it.

```python
from gem.evals import evaluate

found = evaluate("game:GuessTheNumber-v0-easy", "openai:gpt-5-mini", episodes=50, k=4, out="runs/guess")
print(found.total().success, found.total().success_ci)
```
"""

from gem.evals.evaluate import evaluate
from gem.evals.evaluation import Evaluation
from gem.evals.folder import read_settings
from gem.evals.settings import Budget, Group, Settings
from gem.evals.suite import read_suite
from gem.evals.summary import Outcome, Summary

__all__ = ["Budget", "Evaluation", "Group", "Outcome", "Settings", "Summary", "evaluate", "read_settings", "read_suite"]
