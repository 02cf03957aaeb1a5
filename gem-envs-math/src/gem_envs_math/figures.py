"""Drawing figures of plane geometry as PNG images."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from itertools import pairwise
from math import atan2, cos, degrees, dist, hypot, pi, sin
from typing import Any

Point = tuple[float, float]

_SIZE = 420
"""Pixels of the longer side."""
_MARGIN = 46
_FINER = 2
"""The factor by which a figure is drawn larger, and then made smaller, for smooth lines."""
_FONT = 20
_RIGHT = 90.0


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing to scale, with y upwards. Labels are put beside what they name."""

    polygons: tuple[tuple[Point, ...], ...] = ()
    lines: tuple[tuple[Point, Point], ...] = ()
    circles: tuple[tuple[Point, float], ...] = ()
    """Centre and radius."""
    shaded: bool = False
    """Grey polygons, without the circles."""
    points: tuple[tuple[Point, str], ...] = ()
    """Points with a name, such as corners."""
    lengths: tuple[tuple[Point, Point, str], ...] = ()
    """Two ends and the length between them; it is written only."""
    angles: tuple[tuple[Point, Point, Point, str], ...] = ()
    """A vertex, a point on each arm, and the degrees or a name; a right angle without a label is a small square."""
    grid: bool = False
    """Axes and a grid of unit squares."""

    def corners(self) -> list[Point]:
        """Points between which everything lies."""
        found = [point for polygon in self.polygons for point in polygon]
        found += [point for line in self.lines for point in line]
        found += [point for point, _ in self.points]
        for (x, y), radius in self.circles:
            found += [(x - radius, y - radius), (x + radius, y + radius)]
        return found


@cache
def _font() -> Any:
    from PIL import ImageFont

    return ImageFont.load_default(_FONT * _FINER)


class _Canvas:
    """Draws in the coordinates of the figure."""

    def __init__(self, figure: Figure) -> None:
        from PIL import Image, ImageDraw

        corners = figure.corners()
        self.left, self.top = min(x for x, _ in corners), max(y for _, y in corners)
        width, height = max(x for x, _ in corners) - self.left, self.top - min(y for _, y in corners)
        self.scale = _FINER * (_SIZE - 2 * _MARGIN) / max(width, height)
        size = [round(side * self.scale + 2 * _MARGIN * _FINER) // _FINER * _FINER for side in (width, height)]
        self.image = Image.new("L", (size[0], size[1]), 255)
        self.draw = ImageDraw.Draw(self.image)
        self.font = _font()
        self.taken: list[Point] = []
        """Pixels that a label should not cover."""
        self.middle = (sum(x for x, _ in corners) / len(corners), sum(y for _, y in corners) / len(corners))

    def pixel(self, point: Point) -> Point:
        margin = _MARGIN * _FINER
        return (point[0] - self.left) * self.scale + margin, (self.top - point[1]) * self.scale + margin

    def line(self, points: Sequence[Point], width: float = 2, shade: int = 0) -> None:
        self.draw.line([self.pixel(point) for point in points], fill=shade, width=round(width * _FINER), joint="curve")

    def mark(self, points: Sequence[Point]) -> None:
        """Keep labels away from the line through these points."""
        pixels = [self.pixel(point) for point in points]
        for (x, y), (u, v) in pairwise(pixels):
            steps = int(hypot(u - x, v - y) / (8 * _FINER)) + 1
            self.taken += [(x + (u - x) * step / steps, y + (v - y) * step / steps) for step in range(steps + 1)]

    def label(self, text: str, centres: Sequence[Point]) -> None:
        """Text at the first of these centres, in pixels, that is free; or else where there is most room."""
        width, height = self.font.getlength(text) / 2, _FONT * _FINER / 2
        best, most, enough = centres[0], -1.0, (5.0 * _FINER) ** 2
        for x, y in centres:
            room = enough
            for u, v in self.taken:
                gap, rise = max(abs(u - x) - width, 0.0), max(abs(v - y) - height, 0.0)
                if (near := gap * gap + rise * rise) < room:
                    room = near
                    if room <= most:
                        break
            if room > most:
                best, most = (x, y), room
                if room == enough:
                    break
        x, y = best
        self.draw.text((x, y), text, fill=0, font=self.font, anchor="mm", stroke_width=2 * _FINER, stroke_fill=255)
        self.taken += [(x + width * side, y + height * up) for side in (-1, 0, 1) for up in (-1, 0, 1)]

    def beside(self, at: Point, towards: Point, pixels: Sequence[float]) -> list[Point]:
        """Places so many pixels from a point in a direction."""
        x, y = self.pixel(at)
        length = hypot(*towards) or 1.0
        return [(x + towards[0] / length * far * _FINER, y - towards[1] / length * far * _FINER) for far in pixels]

    def away(self, point: Point) -> Point:
        """The direction from the middle of the figure."""
        return point[0] - self.middle[0], point[1] - self.middle[1]


def png(figure: Figure) -> bytes:
    """The figure as a PNG image in shades of grey, of at most 420 by 420 pixels.

    The same bytes for the same figure, with one version of pillow.
    """
    canvas = _Canvas(figure)
    if figure.grid:
        _draw_grid(canvas, figure)
    for polygon in figure.polygons:
        if figure.shaded:
            canvas.draw.polygon([canvas.pixel(point) for point in polygon], fill=200)
    for (x, y), radius in figure.circles:
        box = [canvas.pixel((x - radius, y + radius)), canvas.pixel((x + radius, y - radius))]
        canvas.draw.ellipse(box, outline=0, width=2 * _FINER, fill=255 if figure.shaded else None)
        canvas.mark([(x + radius * cos(turn / 8), y + radius * sin(turn / 8)) for turn in range(52)])
    for line in (*((*polygon, *polygon[:2]) for polygon in figure.polygons), *figure.lines):
        canvas.line(line)
        canvas.mark(line)
    for point, name in figure.points:
        x, y = canvas.pixel(point)
        radius = 3.5 * _FINER
        canvas.draw.ellipse([(x - radius, y - radius), (x + radius, y + radius)], fill=0)
        out = atan2(*canvas.away(point)[::-1])
        turns = [out + side * step * pi / 8 for step in range(9) for side in (1, -1)]
        canvas.label(name, [place for turn in turns for place in canvas.beside(point, (cos(turn), sin(turn)), [19])])
    for vertex, first, second, text in figure.angles:
        _draw_angle(canvas, vertex, first, second, text)
    for start, end, text in figure.lengths:
        _write_length(canvas, start, end, text)
    image = canvas.image.resize((canvas.image.width // _FINER, canvas.image.height // _FINER), 1)
    saved = BytesIO()
    image.save(saved, "PNG")
    return saved.getvalue()


def _draw_angle(canvas: _Canvas, vertex: Point, first: Point, second: Point, text: str) -> None:
    arms = [atan2(point[1] - vertex[1], point[0] - vertex[0]) for point in (first, second)]
    start, end = arms if (arms[1] - arms[0]) % (2 * pi) <= pi else arms[::-1]
    opening = (end - start) % (2 * pi)
    reach = min(26 * _FINER / canvas.scale, dist(vertex, first) / 2, dist(vertex, second) / 2)
    if not text and round(degrees(opening), 6) == _RIGHT:
        reach *= 0.6
        along = [(vertex[0] + reach * cos(arm), vertex[1] + reach * sin(arm)) for arm in (start, end)]
        corner = (along[0][0] + along[1][0] - vertex[0], along[0][1] + along[1][1] - vertex[1])
        canvas.line([along[0], corner, along[1]], 1.5)
        return
    steps = [start + opening * step / 24 for step in range(25)]
    canvas.line([(vertex[0] + reach * cos(turn), vertex[1] + reach * sin(turn)) for turn in steps], 1.5)
    half = start + opening / 2
    # Between the arms of a small angle there is room only farther away.
    nearest = reach * canvas.scale / _FINER + 14
    canvas.label(text, canvas.beside(vertex, (cos(half), sin(half)), [nearest + 6 * step for step in range(10)]))


def _write_length(canvas: _Canvas, start: Point, end: Point, text: str) -> None:
    normal = (end[1] - start[1], start[0] - end[0])
    outwards = canvas.away(((start[0] + end[0]) / 2, (start[1] + end[1]) / 2))
    side = 1 if normal[0] * outwards[0] + normal[1] * outwards[1] >= 0 else -1
    places: list[Point] = []
    for far in range(14, 50, 6):
        for share in (0.5, 0.4, 0.6, 0.3, 0.7):
            at = start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])
            for towards in (side, -side):
                places += canvas.beside(at, (towards * normal[0], towards * normal[1]), [far])
    canvas.label(text, places)


def _draw_grid(canvas: _Canvas, figure: Figure) -> None:
    corners = figure.corners()
    columns = range(int(min(x for x, _ in corners)), int(max(x for x, _ in corners)) + 1)
    rows = range(int(min(y for _, y in corners)), int(max(y for _, y in corners)) + 1)
    for x in columns:
        canvas.line([(x, rows[0]), (x, rows[-1])], 2 if x == 0 else 1, 110 if x == 0 else 210)
        canvas.label(str(x), canvas.beside((x, rows[0]), (0, -1), [16]))
    for y in rows:
        canvas.line([(columns[0], y), (columns[-1], y)], 2 if y == 0 else 1, 110 if y == 0 else 210)
        canvas.label(str(y), canvas.beside((columns[0], y), (-1, 0), [18]))
