"""The processes behind the grader. `gem-core/tests/test_work_pool.py` tests what does not depend on math-verify."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from gem.work.fork_pool import LimitExceeded, WorkersFailed
from gem_envs_math.grading import GraderFailed, grade
from gem_envs_math.grading.pool import POOL

ENDLESS = r"\int e^{e^{x^{x}}} \sin(x^{x^x}) dx"
PATIENT = 60
"""For right answers: a busy machine must not matter."""


def integral(number):
    """A right and a wrong answer that only math-verify can tell from each other."""
    return rf"\int_0^{{{number}}} 2x \, dx", str(number**2), str(number**2 + 1)


def test_an_answer_that_takes_too_long_is_wrong_and_the_next_right_one_is_right():
    answer, gold, wrong = integral(3)
    assert grade(answer, gold, seconds=PATIENT) == (True, "math-verify")
    for _ in range(2):
        assert grade(ENDLESS, gold, seconds=0.2) == (False, "deadline")
        assert grade(answer, gold, seconds=PATIENT) == (True, "math-verify")
        assert grade(answer, wrong, seconds=PATIENT) == (False, "math-verify")


def test_answers_of_threads_and_coroutines_are_not_mixed_up():
    cases = [integral(number % 25 + 1) for number in range(16)]

    def verdicts(case):
        answer, gold, wrong = case
        return [grade(answer, each, seconds=PATIENT).right for each in (gold, wrong)]

    async def gathered():
        return await asyncio.gather(*(asyncio.to_thread(verdicts, case) for case in cases))

    with ThreadPoolExecutor(16) as threads:
        assert list(threads.map(verdicts, cases)) == [[True, False]] * 16
    assert asyncio.run(gathered()) == [[True, False]] * 16


@pytest.mark.parametrize(
    ("error", "message"),
    [(LimitExceeded("time", []), "did not read the gold"), (WorkersFailed("the machine is too busy"), "too busy")],
)
def test_without_a_verdict_the_grader_has_failed(monkeypatch, error, message):
    def ask(*_):
        raise error

    monkeypatch.setattr(POOL, "ask", ask)
    with pytest.raises(GraderFailed, match=message):
        grade(*integral(3)[:2])
