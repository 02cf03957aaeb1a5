"""`QuestionEnv` and `DatasetEnv`: one question, one reply, one grade."""

import pytest

from gem.answers.parsing import boxed
from gem.core import Step
from gem.dataset_env import DatasetEnv, QuestionEnv
from gem.errors import EpisodeOver

CAPITALS = (("France", "Paris"), ("Japan", "Tokyo"), ("Kenya", "Nairobi"), ("Peru", "Lima"))


class Double(QuestionEnv[int]):
    answer_form = "number inside \\boxed{}"

    def _reset(self, options):
        self.number = self.rng.randint(1, 1000)
        return f"Double {self.number}."

    def _read(self, reply):
        answer = boxed(reply)
        return int(answer) if answer and answer.isascii() and answer.isdigit() else None

    def _grade(self, answer):
        if answer == 13:
            raise OSError("the grader is broken")
        success = answer == 2 * self.number
        return Step.final("Right." if success else "Wrong.", float(success), success=success)

    def sample_action(self):
        return f"\\boxed{{{self.action_rng.randint(2, 2000)}}}"


class Capital(DatasetEnv[tuple[str, str], str]):
    @property
    def rows(self):
        return CAPITALS

    def _question(self, row):
        return f"What is the capital of {row[0]}?"

    def _read(self, reply):
        return boxed(reply)

    def _grade(self, answer):
        success = answer == self.row[1]
        return Step.final("Right." if success else "Wrong.", float(success), success=success)

    def sample_action(self):
        return f"\\boxed{{{self.action_rng.choice(CAPITALS)[1]}}}"


def test_the_answer_ends_the_episode_with_its_grade():
    env = Double()
    env.reset(seed=1)
    step = env.step(f"\\boxed{{{2 * env.number}}}")
    assert step == Step("Right.", 1.0, True, False, {"success": True})
    with pytest.raises(EpisodeOver):
        env.step("\\boxed{1}")


def test_a_wrong_answer_is_graded_and_no_answer_is_malformed():
    env = Double()
    env.reset(seed=1)
    assert env.step("\\boxed{1}") == Step("Wrong.", 0.0, True, False, {"success": False})
    env.reset()
    malformed = {"success": False, "malformed": True}
    assert env.step("no idea") == Step("Your reply has no number inside \\boxed{}.", -0.1, True, False, malformed)


def test_what_a_malformed_reply_earns_is_the_envs_choice():
    env = Double(format_error_reward=0.0)
    env.reset(seed=1)
    assert env.step("no idea").reward == 0.0


def test_a_fault_of_the_grader_raises():
    env = Double()
    env.reset(seed=1)
    with pytest.raises(OSError, match="grader is broken"):
        env.step("\\boxed{13}")


def test_a_seed_chooses_a_row_and_all_rows_come_up():
    env = Capital()
    first = [env.reset(seed=seed)[0] for seed in range(60)]
    assert first == [env.reset(seed=seed)[0] for seed in range(60)]
    assert set(first) == {f"What is the capital of {country}?" for country, _ in CAPITALS}


def test_without_a_seed_the_rows_continue_after_the_last():
    env = Capital()
    env.reset(seed=0)
    assert len({env.reset()[0] for _ in range(60)}) == len(CAPITALS)


def test_an_index_chooses_the_row():
    env = Capital()
    for index, (country, capital) in enumerate(CAPITALS):
        observation, _ = env.reset(options={"index": index})
        assert observation == f"What is the capital of {country}?"
        assert env.step(f"\\boxed{{{capital}}}").info["success"]


def test_a_snapshot_holds_the_rows_number_and_not_the_table():
    env, other = Capital(), Capital()
    env.reset(seed=3)
    state = env.snapshot()
    assert not any(country.encode() in state for country, _ in CAPITALS)
    other.restore(state)
    assert other.row == env.row
    assert other.step(f"\\boxed{{{env.row[1]}}}").info["success"]
