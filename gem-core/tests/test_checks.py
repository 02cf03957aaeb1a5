"""Checks of settings."""

import numpy as np
import pytest

from gem.checks import check_int
from gem.errors import ConfigError


@pytest.mark.parametrize("value", [2, 5, np.int64(4)])
def test_a_whole_number_in_its_range_comes_back_as_an_int(value: object) -> None:
    checked = check_int("size", value, 2, 5)

    assert checked == value
    assert type(checked) is int


@pytest.mark.parametrize("value", [1, 6, 2.5, 3.0, "3", True, None, float("nan"), [3]])
def test_anything_else_is_refused_by_name(value: object) -> None:
    with pytest.raises(ConfigError) as raised:
        check_int("size", value, 2, 5)

    assert str(raised.value) == f"size must be an integer from 2 to 5, not {value!r}"


def test_a_range_may_have_no_end() -> None:
    assert check_int("size", 10**30, 2) == 10**30
    with pytest.raises(ConfigError, match="size must be an integer >= 2, not 1"):
        check_int("size", 1, 2)
