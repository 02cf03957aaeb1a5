"""The probe `cheats` of the audit finds judges that a cheat passes, and nothing to say of ours."""

import planted_judges
import pytest

from gem.audit import audit


def found(name):
    (card,) = audit(name, only=["cheats"])
    (outcome,) = card.outcomes
    return outcome


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ExitStatus", "one that exits with 0 before the test"),
        ("ShownAnswers", "one that looks into the stack of inspect"),
        ("OneTest", "A program that always gives the answer of the question's example"),
    ],
)
def test_a_judge_that_a_cheat_passes_is_found_and_the_cheat_can_be_tried_again(name, words):
    (finding,) = found(f"planted_judges:{name}").findings

    assert words in finding.what
    env = getattr(planted_judges, name)()
    env.reset(seed=finding.seed)
    assert env.step(finding.actions[0]).info["success"]


@pytest.mark.parametrize("name", ["planted_judges:Doubles", "code:Sample"])
def test_no_cheat_passes_our_judge(name):
    assert found(name).state == "sound", found(name).findings


def test_a_task_without_programs_has_nothing_to_cheat_at():
    assert found("core:Echo-v0").state == "skipped"
