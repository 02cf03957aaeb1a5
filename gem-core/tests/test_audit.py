"""The audit finds what is planted, each by the probe meant for it, and nothing in a sound task."""

import planted_tasks
import pytest

from gem.audit import audit
from gem.audit.auditing import probes

PLANTED = {
    "SilenceWins": "silence",
    "GoldInInfo": "gold_shown",
}
"""A task of `planted_tasks` → the probe that finds its defect."""


@pytest.mark.parametrize(("name", "probe"), PLANTED.items())
def test_a_planted_defect_is_found_by_its_probe_and_can_be_seen_again(name: str, probe: str) -> None:
    (card,) = audit(f"planted_tasks:{name}")

    assert [outcome.probe for outcome in card.outcomes if outcome.state == "found"] == [probe]
    for finding in card.findings:
        env = getattr(planted_tasks, name)()
        env.reset(seed=finding.seed)
        steps = [env.step(action) for action in finding.actions]
        assert not steps or steps[-1].done


def test_a_sound_task_has_no_finding() -> None:
    (card,) = audit("planted_tasks:Sum")

    assert card.sound, card.findings
    assert [outcome.probe for outcome in card.outcomes] == probes()


@pytest.mark.parametrize(("name", "words"), [("Hangs", "did not end within 1 s"), ("Dies", "exited with status 3")])
def test_a_task_that_hangs_or_dies_has_a_finding_and_the_next_is_audited(name: str, words: str) -> None:
    broken, sound = audit(f"planted_tasks:{name}", "planted_tasks:Sum", only=["silence"], limit=1.0)

    assert words in broken.findings[0].what
    assert sound.sound
