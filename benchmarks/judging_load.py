"""Verdicts on programs on an idle machine and beside busy processes.

    python benchmarks/judging_load.py [--busy 30] [--verdicts 300] [--json FILE]

The tasks are those of `code:Sample`, with a second of processor time for each test. Their programs are their
solutions, as they are, after half a second of calculating and after half a second of sleep; the solutions of others, a
program that does nothing, and one that never ends. They are judged twice on the machine as it is, and once beside the
busy processes. A planted verdict, which wall time decides, shows that the comparison would find one.
"""

from itertools import islice

from beside_busy import compare

import gem
from gem.data import open_table
from gem.errors import Fault

SLOW = 3
"""Tasks with a program that calculates, one that sleeps, and one that never ends."""
CALCULATES = "import time\nwhile time.process_time() < 0.5: pass\n"
SLEEPS = "import time\ntime.sleep(0.5)\n"


def programs(count):
    """The list: numbers of tasks, and programs."""
    solutions = [row["solution"] for row in open_table("gem_envs_code:sample.jsonl")]
    many = len(solutions)
    found = [(task, first + solutions[task]) for task in range(SLOW) for first in (CALCULATES, SLEEPS)]
    found += [(task, "while True: pass") for task in range(SLOW)] + [(task, "pass") for task in range(many)]
    others = ((task, solutions[(task + shift) % many]) for shift in range(many) for task in range(many))
    return found + list(islice(others, max(0, count - len(found))))


def verdict(judged):
    """The verdict on a program, or `fault`."""
    task, program = judged
    env = gem.make("code:Sample", timeout=1.0)
    env.reset(options={"index": task})
    try:
        return "right" if env.step(f"```python\n{program}\n```").info["success"] else "wrong"
    except Fault:
        return "fault"
    finally:
        env.close()


if __name__ == "__main__":
    compare(__doc__.splitlines()[0], programs, verdict, 300, apart=True)
