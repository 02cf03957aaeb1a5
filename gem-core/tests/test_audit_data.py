"""The audit finds leaks of answers, rewards that pay for something else, and defects of data, and nothing else."""

from collections.abc import Iterator

import pytest

import gem
from gem.audit import ProbeOutcome, Task
from gem.audit.auditing import probes, run_probe
from gem.packs.lookup import find_named
from gem.packs.registry import registry

PLANTED = {
    "AnswerInQuestion": "gold_shown",
    "AnswerInBase64": "gold_shown",
    "AnswerAsHash": "gold_shown",
    "SeedShown": "gold_shown",
    "SystemTells": "gold_shown",
    "FeedbackTells": "gold_shown",
    "ErrorTells": "gold_shown",
    "InfoOfSteps": "gold_shown",
    "PaidForEachStep": "repeated_reward",
    "StoppingPays": "early_stop",
    "LosingPays": "reward_against_success",
    "Hidden": "ambiguous",
    "RowsDisagree": "ambiguous",
    "FewStarts": "duplicates",
    "RowsAgain": "duplicates",
}
"""A task of `planted_leaks_of_gold` → the probe that finds its defect."""
SOUND = ("FeedbackIsSilent", "Secret", "Steps", "PaidByPotential", "Rows")


def _outcomes(id: str) -> list[ProbeOutcome]:
    """What the probes say of an id, but the one that plays in other processes."""
    entry = registry().find(id)
    task = Task(entry.spec, entry.pack)
    return [run_probe(name, find_named("probe", name), task) for name in probes() if name != "dependence"]


@pytest.mark.parametrize(("name", "probe"), PLANTED.items())
def test_a_planted_defect_is_found_by_its_probe_and_by_no_other(name: str, probe: str) -> None:
    outcomes = _outcomes(f"planted_leaks_of_gold:{name}")

    assert [outcome.probe for outcome in outcomes if outcome.state == "found"] == [probe], outcomes


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_twin_has_no_finding(name: str) -> None:
    outcomes = _outcomes(f"planted_leaks_of_gold:{name}")

    assert {outcome.state for outcome in outcomes} <= {"sound", "skipped"}, outcomes


@pytest.fixture
def ids() -> Iterator[None]:
    """Levels of which the harder one is easier, and splits that share rows."""
    module = "planted_leaks_of_gold"
    gem.register("planted:Doors-v0", f"{module}:Doors", doors=6)
    gem.register("planted:Doors-v0-hard", f"{module}:Doors", doors=2)
    gem.register("planted:Rising-v0", f"{module}:Doors", doors=2)
    gem.register("planted:Rising-v0-hard", f"{module}:Doors", doors=6)
    gem.register("planted:Same-v0", f"{module}:Secret")
    gem.register("planted:Same-v0-hard", f"{module}:Secret")
    for split in ("test", "train", "validation"):
        gem.register(f"planted:Split-{split}", f"{module}:Split", data=split)
    yield
    for name in [name for name in registry()._entries if name.startswith("planted:")]:
        del registry()._entries[name]


@pytest.mark.usefixtures("ids")
@pytest.mark.parametrize(
    ("id", "found", "words"),
    [
        ("planted:Doors-v0", ["levels"], "of the harder planted:Doors-v0-hard"),
        ("planted:Rising-v0", [], ""),
        ("planted:Same-v0", ["overlap"], "40 of 40 seeds start an episode that planted:Same-v0-hard has too"),
        ("planted:Split-test", ["overlap"], "20 of 100 rows are in planted:Split-train too"),
        ("planted:Split-train", [], ""),
    ],
)
def test_levels_and_splits_are_compared_with_the_other_ids_of_their_class(
    id: str, found: list[str], words: str
) -> None:
    outcomes = _outcomes(id)

    assert [outcome.probe for outcome in outcomes if outcome.state == "found"] == found
    assert words in "".join(finding.what for outcome in outcomes for finding in outcome.findings)
