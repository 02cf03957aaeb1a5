"""The settings of the grader."""

import json

import pytest

from gem.errors import ConfigError
from gem_envs_math.grading import Rules, grade


def test_rules_are_plain_data_and_come_back_from_json():
    rules = Rules(units="needed", tolerance=0.01)

    assert Rules.of(json.loads(json.dumps(rules.settings()))) == rules
    assert Rules.of(None) == Rules.of({}) == Rules()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"unit": "same"}, "'unit' is not a rule of grading. Did you mean 'units'?"),
        ({"units": "any"}, "units is one of 'equal', 'same', 'needed', 'ignore', not 'any'"),
        ({"tolerance": -1}, "tolerance is at least 0 and less than 1"),
        ({"tolerance": "1"}, "tolerance is a finite number"),
        ({"seconds": 0}, "seconds is more than 0"),
    ],
)
def test_a_wrong_setting_is_named(settings, message):
    with pytest.raises(ConfigError, match=message.replace("?", r"\?")):
        Rules.of(settings)


def test_each_of_several_golds_is_right_by_itself():
    assert grade("3", ["2", "3"]).right
    assert not grade("4", ["2", "3"]).right
    assert not grade("3", []).right
