"""One worker of a peer's grader, for `grading.py`: pairs on standard input, verdicts on standard output.

Its name is `gem-llm` (its environment, in whose process pool of one each answer is graded) or `math-verify`.
"""

import json
import logging
import sys
import time


def gem_llm():
    """gem-llm's own way: its env has a process, and waits a second for its verdict."""
    from datasets import Dataset

    from gem.envs.math_env import MathEnv

    env = MathEnv(dataset=Dataset.from_list([{"problem": "?", "answer": "1"}]), eval=True)
    env.reset()

    def grade(answer, gold):
        env.answer = gold
        _, reward, *_ = env.step(f"\\boxed{{{answer}}}")
        return reward == 1

    return grade


def math_verify():
    """As the page of math-verify shows it, with its own time limits, and dollar signs around both."""
    from math_verify import parse, verify

    def grade(answer, gold):
        return verify(parse(f"${gold}$"), parse(f"${answer}$"))

    return grade


if __name__ == "__main__":
    logging.disable()
    grade = {"gem-llm": gem_llm, "math-verify": math_verify}[sys.argv[1]]()
    grade("1", "1")
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        started = time.perf_counter()
        verdicts = [bool(grade(answer, gold)) for answer, gold in json.loads(line)]
        print(json.dumps([time.perf_counter() - started, verdicts]), flush=True)
