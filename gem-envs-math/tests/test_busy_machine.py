"""A busy machine changes no verdict. `benchmarks/grading_load.py` does the same with 2,000 verdicts."""

import json
from pathlib import Path

import pytest
from busy_machine import busy, differences, verdict_by_the_clock, verdicts
from hostile import HOSTILE

PAIRS = [json.loads(line) for line in (Path(__file__).parent / "grading" / "pairs.jsonl").read_text().splitlines()]
LIST = [
    *((pair["answer"], pair["gold"]) for pair in PAIRS[::10]),
    *((rf"\int_0^{{{number}}} 2x \, dx", str(number**2 + number % 2)) for number in range(1, 21)),
    *((answer, "9") for answer in HOSTILE[::20]),
]


@pytest.mark.full
def test_verdicts_beside_30_busy_processes_are_those_of_an_idle_machine():
    idle = verdicts(LIST)
    with busy(30):
        loaded = verdicts(LIST)
        planted = verdicts(LIST[:20], verdict_by_the_clock)
    assert differences(LIST, idle, loaded) == []
    assert "fault" not in idle
    assert any("math-verify" in each for each in idle)
    assert differences(LIST[:20], ["right"] * 20, planted), "a verdict by wall time is found"
