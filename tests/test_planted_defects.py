"""The audit on forty tasks with a planted defect each, and on their sound twins.

They were written from the list of what the audit asks and from what others reported of their tasks, without a look at
the probes: so what is not found stays in `NOT_FOUND` until a probe is better, and no task is changed for it.
"""

import importlib
import re
from pathlib import Path

import pytest
from planted_defects import plugin

from gem.audit import audit
from gem.packs import registry

PLANTED = {
    "NothingToDo": ("silence wins", "silence"),
    "MostlyB": ("a constant wins", "constant"),
    "UnreadableIsRight": ("what cannot be read is right", "malformed"),
    "MustInclude": ("an echo wins", "echo"),
    "AnyChoicePays": ("random play wins", "random_play"),
    "SameMaze": ("a fixed sequence wins", "blind"),
    "AllListed": ("a list of all answers wins", "everything"),
    "ForgedVerdict": ("a verdict in the reply wins", "wish"),
    "FormatHint": ("the answer is in the question", "gold_shown"),
    "ScoreTold": ("the answer is in a later observation", "gold_shown"),
    "TableInDescription": ("the answer is in the description of a tool", "gold_shown"),
    "StateInInfo": ("the answer is in the info", "gold_shown"),
    "ErrorTellsAll": ("the answer is in the text of an error", "gold_shown"),
    "Checksum": ("the answer can be computed from what is shown", "gold_shown"),
    "Substring": ("a wrong answer that is like the right one is accepted", "similar"),
    "EachIsIn": ("an empty answer is accepted", "malformed"),
    "NoSign": ("a wrong answer that is like the right one is accepted", "similar"),
    "LongIsRight": ("a very long answer is accepted", "malformed"),
    "NoCommas": ("a usual spelling is refused", "gold_refused"),
    "OrIsText": ("the right answer is refused", "solvable"),
    "ByteForByte": ("a usual spelling is refused", "gold_refused"),
    "AgainAndAgain": ("a reward can be had again and again", "repeated_reward"),
    "FallAtOnce": ("to stop early pays", "early_stop"),
    "AlmostPays": ("who loses earns more than who wins", "reward_against_success"),
    "WalledIn": ("starts cannot be won", "solvable"),
    "FourGuesses": ("the turn limit is too low", "solvable"),
    "WholePage": ("the conversation outgrows the context", "context"),
    "TwoConclusions": ("a question has different answers", "ambiguous"),
    "FiveCopies": ("questions are repeated", "duplicates"),
    "Rivers": ("splits overlap", "overlap"),
    "Swapped": ("levels are in the wrong order", "levels"),
    "Tomorrow": ("the day decides", "dependence"),
    "Drifts": ("earlier episodes decide", "dependence"),
    "PathInQuestion": ("the machine decides", "dependence"),
    "NeverDrawn": ("the env does not return", "silence"),  # of these two, each probe that plays tells
    "EndsTheProcess": ("the env ends the process", "silence"),
    "EqualToAll": ("a program can cheat the grader", "cheats"),
    "StatusZero": ("a program can cheat the grader", "cheats"),
    "TableInQuestion": ("the tool is not needed", "tool_noise"),
    "HistoryTool": ("a tool tells the answer", "tool_tells"),
}
"""A task → the kind of its defect, and the probe that is meant for it."""

NOT_FOUND = {
    "MustInclude": "random_play and similar find it: random play always wins too, and an echo wins no more than that",
}
"""A task whose defect the probe meant for it does not find → what is known of the reason."""

SOUND = {*" ".join(plugin.SOUND.values()).split(), "Brooks", "Ordered"}
STOPPED = {"NeverDrawn", "EndsTheProcess"}
"""They stop probes: with a short limit."""


def _ids(*names: str) -> list[str]:
    return [spec.id for spec in plugin.gem_envs() if _name(spec.id) in names]


def _name(id: str) -> str:
    return id.removeprefix("planted:").partition("-")[0]


@pytest.fixture
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pack of the tasks as an installed one, for this process and those that it starts."""
    about = tmp_path / "planted_defects-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: planted-defects\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[gem.packs]\nplanted = planted_defects.plugin\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(registry, "_registry", registry.Registry())


def test_there_are_forty_defects_of_37_kinds_and_most_are_from_reports_of_others() -> None:
    assert {_name(spec.id) for spec in plugin.gem_envs()} == PLANTED.keys() | SOUND
    assert (len(PLANTED), len({kind for kind, _ in PLANTED.values()})) == (40, 37)
    about = [
        getattr(importlib.import_module(f"planted_defects.{module}"), name).__doc__
        for module, names in plugin.PLANTED.items()
        for name in names.split()
    ]
    sources = [re.search(r"Source: (https://github\.com/|.*arXiv [0-9]|made up)", text) for text in about]
    assert None not in sources
    assert (
        sum(found is not None and found[1] != "made up" for found in sources) == 29
    )  # and that of Rivers, in the plugin


@pytest.mark.full
@pytest.mark.usefixtures("_installed")
@pytest.mark.parametrize("part", range(8))
def test_a_planted_defect_is_found_by_the_probe_meant_for_it(part: int) -> None:
    names = list(PLANTED)[part::8]
    quick, stopped = [name for name in names if name not in STOPPED], [name for name in names if name in STOPPED]
    cards = [*audit(*_ids(*quick), jobs=2), *(audit(*_ids(*stopped), limit=5.0) if stopped else ())]
    for name in names:
        found = {
            outcome.probe
            for card in cards
            if _name(card.id) == name
            for outcome in card.outcomes
            if outcome.state == "found"
        }
        assert (PLANTED[name][1] in found) == (name not in NOT_FOUND), (name, found)


@pytest.mark.full
@pytest.mark.usefixtures("_installed")
@pytest.mark.parametrize("part", range(4))
def test_the_sound_twins_have_no_finding(part: int) -> None:
    for card in audit(*_ids(*sorted(SOUND)[part::4]), jobs=2):
        assert card.sound, (card.id, card.findings)
