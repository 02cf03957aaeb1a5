"""Settings, rows and images that the environments of this pack refuse."""

import pytest

from gem.errors import ConfigError
from gem_envs_math.algebra.env import Algebra
from gem_envs_math.arithmetic import Arithmetic
from gem_envs_math.figure_questions import FigureQuestion
from gem_envs_math.geometry.env import Geometry
from gem_envs_math.long_arithmetic import LongArithmetic
from gem_envs_math.questions import MathQuestion

SETTINGS = [
    (Arithmetic, {"operands": 21}, "operands"),
    (Arithmetic, {"digits": 10}, "digits"),
    *((Arithmetic, {"operators": operators}, "operators") for operators in ("", "+/", "++")),
    (LongArithmetic, {"digits": 501}, "from 1 to 500"),
    (Algebra, {"difficulty": "extreme"}, "difficulty is 'easy'"),
    (Algebra, {"kinds": ["quadratics"]}, "Did you mean 'quadratic'"),
    (Algebra, {"difficulty": "easy", "kinds": "cubic"}, "no easy kind"),
    (Geometry, {"figure": "video"}, "figure is 'text' or 'image'"),
    (MathQuestion, {"tolerance": 1}, "less than 1"),
]
ROWS = [
    *((MathQuestion, {"answer": answer}, "row 0: the answer to") for answer in (None, [], [None], {"other": 1})),
    (FigureQuestion, {"images": []}, "1 marks <image>, and 0 images"),
    (FigureQuestion, {"images": [b"BM not a kind"]}, "this one begins with"),
    (FigureQuestion, {"images": ["data:text/html,<b>"]}, "the data URL of an image"),
    (FigureQuestion, {"images": ["/nowhere/figure.png"]}, "cannot be read"),
    (FigureQuestion, {"images": [{"bytes": None, "path": None}]}, "not NoneType"),
]


@pytest.mark.parametrize(("env", "settings", "message"), SETTINGS)
def test_settings_that_make_no_sense_are_refused(env, settings, message):
    with pytest.raises(ConfigError, match=message):
        env(**settings)


@pytest.mark.parametrize(("env", "row", "message"), ROWS)
def test_a_row_without_a_usable_answer_or_image_is_refused(env, row, message):
    with pytest.raises(ConfigError, match=message):
        env([{"problem": "<image>?", "answer": "1", **row}]).reset(seed=0)
