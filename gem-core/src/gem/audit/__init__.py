"""The audit of tasks: whether what an environment rewards is what it asks for. `gemx audit` is its command.

```python
from gem.audit import audit

for card in audit("math:Arithmetic-v0", "game"):
    for outcome in card.outcomes:
        print(card.id, outcome.probe, outcome.state, *(finding.what for finding in outcome.findings))
```

`gem.testing` checks whether an env keeps the contract; a *probe* asks whether its task can be believed: what silence, a
constant or a cheat earns, whether the answer is shown, whether the right one is accepted. Packs add probes by the hook
`gem_probes`; one file per probe, in `gem.audit.probes`.
"""

from gem.audit.auditing import audit
from gem.audit.card import Card, ProbeOutcome
from gem.audit.finding import Finding
from gem.audit.task import Task

__all__ = ["Card", "Finding", "ProbeOutcome", "Task", "audit"]
