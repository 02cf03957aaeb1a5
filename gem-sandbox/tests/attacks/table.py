"""Runs every attack at every level and writes docs/sandbox_attacks.md: `python gem-sandbox/tests/attacks/table.py`.

It takes a few minutes. `test_attacks.py` compares the table with what it finds, for fewer attacks at weaker levels.
"""

import sys
from collections.abc import Collection, Mapping
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from attacks import suite
from attacks.catalogue import ALL, BY_NAME, GROUPS

from gem_sandbox import LEVELS

PAGE = Path(__file__).resolve().parents[3] / "docs" / "sandbox_attacks.md"
HEAD = """# Attacks on the sandbox

{count} programs that try what a program must not do. A cross means that an attack succeeds at a level of `gem_sandbox`,
a dot that it fails. None succeeds at the two strongest levels.

As a control, each attack is shown to succeed without the sandbox, under a runner that lacks the protection: one
interpreter per program, one for all programs, or one that compares answers in the interpreter that ran the program.
The controls, and the attacks in the sandbox, run inside an outer container with hard limits and never on the machine
itself. An attack counts as successful if it has any effect: a secret in its output, a file, a process or a memory
segment that it leaves, a change to a file or a process of its user, a connection, time or output beyond its limits, a
verdict that it did not earn, harm to the sandbox or to the next program.

Level `process` promises no protection, and at `seccomp` programs can read what their user can read. `threads` succeeds
where the threads of one program are not counted: without root and without a user namespace.

The programs are in [gem-sandbox/tests/attacks](../gem-sandbox/tests/attacks).
`python gem-sandbox/tests/attacks/table.py` runs them all and writes this page; `gem-sandbox/tests/test_attacks.py`
compares the table with what happens.
"""


def page(breached: Mapping[str, Collection[str]]) -> str:
    """The page, for the attacks that succeed at each level."""
    unknown = {name for names in breached.values() for name in names} - set(BY_NAME)
    if unknown:
        raise ValueError(f"unknown attacks: {sorted(unknown)}")
    lines = [HEAD.format(count=len(ALL))]
    for group, attacks in GROUPS.items():
        lines += [f"## {group}", "", f"| attack | what it does | {' | '.join(LEVELS)} |"]
        lines += ["|---|---|" + ":-:|" * len(LEVELS)]
        for attack in attacks:
            cells = ["×" if attack.name in breached.get(level, ()) else "·" for level in LEVELS]
            lines.append(f"| `{attack.name}` | {attack.does} | {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines)


def main() -> None:
    names = list(BY_NAME)
    controls = suite.controls(names)
    for name in names:
        if BY_NAME[name].sign not in controls[name]:
            print(f"without the sandbox {name} was not seen to succeed: {sorted(controls[name])}", file=sys.stderr)
    breached: dict[str, list[str]] = {}
    for level in LEVELS:
        found = suite.attack(level, names)
        breached[level] = [name for name in names if found[name]]
        print(level, {name: sorted(found[name]) for name in breached[level]}, file=sys.stderr)
    PAGE.write_text(page(breached), encoding="utf-8")


if __name__ == "__main__":
    main()
