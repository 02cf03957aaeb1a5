"""Geometry: lengths, angles and areas of plane figures, which are drawn or described."""

from collections.abc import Sequence
from typing import ClassVar

from gem.core import Observation
from gem.data.images import image_part
from gem.errors import ConfigError
from gem_envs_math.figures import png
from gem_envs_math.geometry.angles import (
    exterior_angle,
    inscribed_angle,
    isosceles,
    on_a_line,
    third_angle,
    two_tangents,
)
from gem_envs_math.geometry.areas import (
    area_from_sides,
    frame,
    l_shape,
    parallelogram,
    rectangle_and_circle,
    right_triangle,
    ring,
    shoelace,
    trapezoid,
)
from gem_envs_math.geometry.lengths import (
    altitude,
    angle_bisector,
    circumscribed_circle,
    inscribed_circle,
    intersecting_chords,
    law_of_cosines,
    median,
    pythagoras,
    similar_triangles,
    tangent_and_secant,
)
from gem_envs_math.problem import Levels, ProblemEnv


class Geometry(ProblemEnv):
    r"""Lengths, angles and areas of plane figures.

    One turn; an action is `\boxed{-7/2}`. 1 for the right answer, 0 for another; more at `ProblemEnv`.

    The figure is described in words, or drawn (`figure="image"`): then the observation is a list of two content parts,
    a PNG image that holds what is given, and the question as text.

    Args:
        figure: `text` or `image`.
        difficulty: see `ProblemEnv`.
        kinds: see `ProblemEnv`.
        instruction: see `ProblemEnv`.
        max_attempts: see `ProblemEnv`.
        format_error_reward: see `ProblemEnv`.
    """

    levels: ClassVar[Levels] = {
        "easy": (frame, third_angle, on_a_line, right_triangle, isosceles, parallelogram),
        "medium": (pythagoras, trapezoid, similar_triangles, inscribed_angle, l_shape, exterior_angle, ring, shoelace),
        "hard": (
            shoelace, intersecting_chords, tangent_and_secant, area_from_sides, inscribed_circle, circumscribed_circle,
            angle_bisector, median, altitude, law_of_cosines, rectangle_and_circle, two_tangents,
        ),
    }  # fmt: skip

    def __init__(
        self,
        difficulty: str = "medium",
        kinds: Sequence[str] = (),
        figure: str = "text",
        *,
        instruction: bool | str = True,
        max_attempts: int = 1,
        format_error_reward: float = 0.0,
    ) -> None:
        super().__init__(
            difficulty,
            kinds,
            instruction=instruction,
            max_attempts=max_attempts,
            format_error_reward=format_error_reward,
        )
        if figure not in ("text", "image"):
            raise ConfigError(f"figure is 'text' or 'image', not {figure!r}")
        self.figure = figure

    def _asked(self) -> Observation:
        if self.figure == "text" or self.problem.figure is None:
            return super()._asked()
        text = self._text(f"The figure shows what is given. {self.problem.question}")
        return [image_part(png(self.problem.figure)), {"type": "text", "text": text}]
