"""Right programs of many kinds are accepted, and with one wrong result each of them is not."""

import pytest
from right_programs import ASSERTED, PRINTED

from gem_envs_code.judge import judge
from gem_envs_code.tasks import AssertTest, StdinTest, Task

PROGRAMS = {
    **{name: (program, [AssertTest(code)], change) for name, (program, code, change) in ASSERTED.items()},
    **{
        f"prints: {name}": (program, [StdinTest(*pair) for pair in pairs], change)
        for name, (program, pairs, change) in PRINTED.items()
    },
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_right_program_is_accepted_and_with_one_wrong_result_it_is_not(name, box):
    program, tests, (old, new) = PROGRAMS[name]
    assert old in program
    task = Task(statement="", tests=tuple(tests))
    assert judge(program, task, box).failure is None
    assert not judge(program.replace(old, new), task, box).right


def test_there_are_sixty():
    assert len(PROGRAMS) >= 60
