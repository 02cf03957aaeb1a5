"""Questions of data sets about figures: `FigureQuestion`."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, cast

from gem.core import ContentPart
from gem.data.images import image_part
from gem.errors import ConfigError
from gem_envs_math.questions import MathQuestion, MathRow

_MARKER = "<image>"
"""The mark of the next image in a question of Geometry3K."""


class FigureQuestion(MathQuestion):
    """A `MathQuestion` with images: the observation is a list of content parts, with data URLs as in chat APIs.

    A row has `images` besides `question` and `answer`: a list, a single one or None, of what
    `gem.data.images.image_part` reads. Each `<image>` in a question is replaced by the next image; images without a
    mark come before the text.
    """

    columns: ClassVar[Mapping[str, str | tuple[str, ...]]] = {**MathQuestion.columns, "images": "images"}

    def _question(self, row: MathRow) -> list[ContentPart]:
        given = row.values["images"]
        listed = cast("Sequence[Any]", given) if isinstance(given, list) else [] if given is None else [given]
        images = [image_part(image) for image in listed]
        first, *after = row.question.split(_MARKER)
        if len(after) > len(images):
            raise ConfigError(
                f"row {self.index}: the question has {len(after)} marks {_MARKER}, and {len(images)} images"
            )
        unmarked = len(images) - len(after)
        parts = images[:unmarked] + _text(first)
        for image, text in zip(images[unmarked:], after, strict=True):
            parts += [image, *_text(text)]
        return parts


def _text(text: str) -> list[ContentPart]:
    return [{"type": "text", "text": text.strip()}] if text.strip() else []
