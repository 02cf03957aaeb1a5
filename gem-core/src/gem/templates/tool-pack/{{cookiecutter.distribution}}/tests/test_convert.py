"""The tool, called directly and by an agent."""

import pytest
from {{ cookiecutter.package }}.convert import UNITS, convert

import gem
from gem.tool import ToolError


@pytest.mark.parametrize(
    ("value", "unit", "to", "result"),
    [(3, "km", "m", "3000 m"), (1, "inch", "cm", "2.54 cm"), (90, "min", "h", "1.5 h"), (2, "kg", "g", "2000 g")],
)
def test_values_are_converted(value, unit, to, result):
    assert convert(value, unit, to) == result


def test_there_and_back_is_the_same():
    for units in UNITS.values():
        for unit in units:
            for to in units:
                there = float(convert(7.0, unit, to).split()[0])
                assert float(convert(there, to, unit).split()[0]) == pytest.approx(7.0)


def test_units_of_other_quantities_are_answered_with_those_that_exist():
    with pytest.raises(ToolError, match="'km' cannot be converted to 'kg'"):
        convert(1, "km", "kg")


def test_an_agent_calls_it_by_its_name():
    env = gem.ToolEnv(gem.make("core:Echo-v0"), "convert", format="hermes")
    observation, _ = env.reset(seed=0)
    assert '"convert"' in observation
    call = '{"name": "convert", "arguments": {"value": 5, "unit": "km", "to": "mile"}}'
    step = env.step(f"<tool_call>{call}</tool_call>")
    assert "3.106855961 mile" in step.observation
    assert step.info["tool"] == {"name": "convert", "status": "ok"}
