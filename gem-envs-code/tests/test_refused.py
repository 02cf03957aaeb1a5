"""Settings that the environments of this pack refuse, and rows that are faults."""

import json

import pytest

from gem.errors import ConfigError, Fault
from gem_envs_code.basics import Basics
from gem_envs_code.grader import block
from gem_envs_code.puzzles.env import Puzzles
from gem_envs_code.questions import CodeQuestion
from gem_envs_code.rows import read_tests

ROW = {"problem": "Double n.", "tests": {"inputs": ["1"], "outputs": ["2"]}}
SETTINGS = [
    (Basics, {"level": "bwrap"}, "level is one of"),
    (Basics, {"min_level": "none"}, "min_level is one of"),
    (Basics, {"min_level": "process"}, "by name"),
    (Puzzles, {"difficulty": "hrd"}, "Did you mean 'hard'"),
    (Puzzles, {"kinds": []}, "one or more of"),
    (Puzzles, {"kinds": "path"}, "one or more of"),
    (Puzzles, {"kinds": ["list_step"]}, "Did you mean 'list_steps'"),
    (CodeQuestion, {"data": [ROW], "language": "cobol"}, "no language 'cobol'"),
    (CodeQuestion, {"data": [ROW], "max_tests": 0}, "max_tests"),
    (CodeQuestion, {"data": [ROW], "modules": ["numpy.linalg"]}, "write 'numpy' instead of 'numpy.linalg'"),
    (CodeQuestion, {"data": [ROW], "timeout": -1}, "timeout"),
    (CodeQuestion, {"data": [ROW], "tolerance": "x"}, "tolerance"),
]


@pytest.mark.parametrize(("env", "settings", "message"), SETTINGS)
def test_settings_that_make_no_sense_are_refused_at_once(env, settings, message):
    with pytest.raises(ConfigError, match=message):
        env(**settings)


def test_a_row_cannot_name_a_function_that_runs_in_our_process():
    env = CodeQuestion([{**ROW, "checker": "code_checkers:is_anything"}])
    env.reset(seed=0)
    with pytest.raises(ConfigError, match="no checker 'code_checkers"):
        env.step(block("print(2)"))


@pytest.mark.parametrize("column", [{}, {"inputs": [1], "outputs": []}, [3], "[1", 7, None, [{"a": 1}]])
def test_tests_of_an_unknown_form_are_a_fault_of_the_episode(column):
    with pytest.raises(Fault, match=r"unknown form.*Known are"):
        read_tests(column)
    with pytest.raises(Fault, match="unknown form"):
        CodeQuestion([{"problem": "", "tests": json.dumps({"in": []})}]).reset(seed=0)
