"""Running untrusted programs.

```python
from gem import sandbox

result = sandbox.run("print(input()[::-1])", stdin="olleh")
print(result.stdout, result.reason, result.level)
```

Each program is a process of its own, without network, without processes beside it, without anything of this machine but
an interpreter and its libraries, and with limits on time, memory, output and disk. `docs/sandbox.md` says what holds at
which level.
"""

from gem.sandbox.box import NotIsolated, Sandbox
from gem.sandbox.cases import CaseVerdict, Stop, Verdict, same_output
from gem.sandbox.defaults import arun, default, run, run_many, run_tests
from gem.sandbox.probe import LevelReport, levels
from gem.sandbox.types import LEVELS, Job, Level, Limits, Reason, Result

__all__ = [
    "LEVELS",
    "CaseVerdict",
    "Job",
    "Level",
    "LevelReport",
    "Limits",
    "NotIsolated",
    "Reason",
    "Result",
    "Sandbox",
    "Stop",
    "Verdict",
    "arun",
    "default",
    "levels",
    "run",
    "run_many",
    "run_tests",
    "same_output",
]
