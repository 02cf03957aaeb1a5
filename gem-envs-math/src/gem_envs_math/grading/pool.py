"""The processes, shared by all envs of a process, in which math-verify compares answers until a deadline."""

from gem.work.fork_pool import ForkPool, LimitExceeded, WorkersFailed
from gem_envs_math.grading.errors import GraderFailed

# A fixed order of sympy's sets: what it does, and for how long, does not depend on the process.
POOL = ForkPool("gem_envs_math.grading.worker", workers=2, tasks=500, environment={"PYTHONHASHSEED": "0"})


def compare(answer: str, gold: str, *, tolerance: float, seconds: float, pool: ForkPool = POOL) -> tuple[bool, str]:
    """Equality of `answer` and `gold` by math-verify, and the rule: `math-verify`, or why there is no verdict of it
    (`deadline`, `memory`, `unreadable`).

    It waits for a worker as long as it takes; the deadline of `seconds` of processor time begins when the worker has
    read the gold, which has a deadline as long. How busy the machine is changes no verdict: a worker that gets hardly
    any processor time is a fault.

    Raises:
        GraderFailed: the workers die, or do not start, or the gold takes too long.
    """
    task = {"answer": answer, "gold": gold, "tolerance": tolerance}
    try:
        right, rule = pool.ask(task, seconds)
    except LimitExceeded as exceeded:
        if exceeded.limit == "memory":
            return False, "memory"
        if not exceeded.told:
            raise GraderFailed(f"math-verify did not read the gold in {seconds:g} s") from None
        return False, "deadline"
    except WorkersFailed as error:
        raise GraderFailed(f"math-verify gave no verdict: {error}") from error
    return right, rule
