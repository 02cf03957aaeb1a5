"""An attack: a program, and how to see that it has had its way."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Attack:
    """`code` runs in the sandbox and, as its control, under a careless runner that shows that it works."""

    name: str
    does: str
    """What it tries, in a few words: a row of the table in the documentation."""
    code: str
    sign: str
    """How success shows when nothing holds it back; in the sandbox no sign at all may show (`world` names them)."""
    runner: str = "subprocess"
    """The careless runner of the control: a function of `careless`."""
    then: str = ""
    """A second program, which prints `intact` unless the first has got at it."""
    tests: bool = False
    """Whether the program is graded against an answer that it does not know, by `run_tests`."""
    options: Mapping[str, float] = field(default_factory=dict[str, float])
    """Arguments of `sandbox.run`, beside those that all attacks share."""
    kernel: str = ""
    """What the kernel must have for the control; some kernels lack it."""
