"""`MapFrames`: cars on a road as pictures: the road around the first, heading up, and the whole road with its path."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from trailbrake.arrays import Array

WIDTH, HEIGHT = 720, 480  # pixels
VIEW = 480  # pixels of the square around the car
SHOWN = 90.0  # m that this square shows
AHEAD = 0.68  # place of the car in it, share of its height from the top
CAR = ((2.3, 0.95), (2.3, -0.95), (-2.3, -0.95), (-2.3, 0.95))  # m, corners from the car's middle
_SCALE = 2  # pictures are drawn larger and reduced: smooth edges
_GROUND, _ASPHALT, _EDGE, _TEXT, _QUIET = (38, 50, 42), (84, 86, 92), (232, 232, 226), (240, 240, 236), (150, 156, 150)
_CAR, _OTHER, _SLOW, _FAST = (255, 196, 0), (120, 170, 255), (222, 73, 60), (70, 190, 120)
_FASTEST = 70.0  # m/s that the colour of speed ends at
TRAIL_S, MOST_TRAIL = 3.0, 1000  # s, and pictures, of the path behind the car
_MARGIN, _TOP = 16, 118  # pixels around the map of the whole road, and of the text above it


class CarPlace(NamedTuple):
    """Where a car is.

    Attributes:
        x, y: m, world.
        yaw: rad, world.
        speed: m/s.
    """

    x: float
    y: float
    yaw: float
    speed: float


class MapFrames:
    """Draws cars on a road, one picture after the other.

    Args:
        left, right: (n, 2 or more) x, y of the road's edges, m, world.
        closed: whether the last row is followed by the first.
        title: shown in every picture.
    """

    def __init__(self, left: Array, right: Array, closed: bool, title: str) -> None:
        rows = np.arange(len(left) + closed) % len(left)
        self._left, self._right = left[rows, :2], right[rows, :2]
        self._title = title
        self._path: list[tuple[float, CarPlace]] = []
        self._large, self._small = ImageFont.load_default(26 * _SCALE), ImageFont.load_default(15 * _SCALE)
        points = np.concatenate([self._left, self._right])
        self._low, extent = points.min(axis=0), np.ptp(points, axis=0)
        room = np.array([WIDTH - VIEW - 2 * _MARGIN, HEIGHT - _TOP - _MARGIN], np.float64)
        self._per_metre = float((room / np.maximum(extent, 1.0)).min())
        self._corner = np.array([VIEW + _MARGIN, _TOP]) + 0.5 * (room - extent * self._per_metre)
        self._height = float(extent[1])
        self._overview = self._draw_overview()

    def draw_frame(self, time: float, cars: Sequence[CarPlace]) -> NDArray[np.uint8]:
        """Return the picture (HEIGHT, WIDTH, 3) uint8 of a moment.

        Args:
            time: s; it does not decrease from one picture to the next.
            cars: the first is the one that is followed, and leaves its path.
        """
        car = cars[0]
        if self._path:
            before = self._path[-1][1]
            ends = self._place_on_overview(np.array([before[:2], car[:2]]))
            ImageDraw.Draw(self._overview).line(ends, _mix_colour(car.speed / _FASTEST), 3 * _SCALE)
        self._path.append((time, car))
        picture = self._overview.copy()
        draw = ImageDraw.Draw(picture)
        radius = 5 * _SCALE
        for other, colour in ((each, _CAR if each is car else _OTHER) for each in reversed(cars)):
            ((x, y),) = self._place_on_overview(np.array([other[:2]]))
            draw.ellipse((x - radius, y - radius, x + radius, y + radius), colour)
        left = (VIEW + _MARGIN) * _SCALE
        draw.text((left, 12 * _SCALE), self._title, _QUIET, self._small)
        draw.text((left, 36 * _SCALE), f"{3.6 * car.speed:.0f} km/h", _TEXT, self._large)
        draw.text((left, 74 * _SCALE), f"{time:.2f} s", _TEXT, self._large)
        picture.paste(self._draw_surroundings(cars), (0, 0))
        return np.asarray(picture.reduce(_SCALE))

    def _draw_overview(self) -> Image.Image:
        picture = Image.new("RGB", (WIDTH * _SCALE, HEIGHT * _SCALE), _GROUND)
        draw = ImageDraw.Draw(picture)
        for edge in (self._left, self._right):
            draw.line(self._place_on_overview(edge), _QUIET, _SCALE)
        return picture

    def _place_on_overview(self, points: Array) -> list[tuple[float, float]]:
        x, y = ((points - self._low) * self._per_metre).T
        pixels = np.stack([self._corner[0] + x, self._corner[1] + self._height * self._per_metre - y], axis=1) * _SCALE
        return [(float(x), float(y)) for x, y in pixels]

    def _draw_surroundings(self, cars: Sequence[CarPlace]) -> Image.Image:
        car, size = cars[0], VIEW * _SCALE
        centre, yaw = np.array(car[:2]), car.yaw
        ahead, side = np.array([math.cos(yaw), math.sin(yaw)]), np.array([-math.sin(yaw), math.cos(yaw)])
        per_metre = size / SHOWN

        def place(points: Array) -> Array:
            offset = points - centre
            return np.stack([0.5 * size - offset @ side * per_metre, AHEAD * size - offset @ ahead * per_metre], axis=1)

        picture = Image.new("RGB", (size, size), _GROUND)
        draw = ImageDraw.Draw(picture)
        near = np.hypot(*(self._left - centre).T) < 1.5 * SHOWN
        for first, stop in _find_stretches(near):
            left, right = place(self._left[first:stop]), place(self._right[first:stop])
            draw.polygon(_list_points(np.concatenate([left, right[::-1]])), _ASPHALT)
            for edge in (left, right):
                draw.line(_list_points(edge), _EDGE, 2 * _SCALE)
        now = self._path[-1][0]
        trail = place(np.array([each[:2] for time, each in self._path[-MOST_TRAIL:] if time > now - TRAIL_S]))
        if len(trail) > 1:
            draw.line(_list_points(trail), _mix_colour(car.speed / _FASTEST), 2 * _SCALE)
        for other in reversed(cars):
            turn = np.array([[math.cos(other.yaw), math.sin(other.yaw)], [-math.sin(other.yaw), math.cos(other.yaw)]])
            corners = np.array(other[:2]) + np.array(CAR) @ turn
            draw.polygon(_list_points(place(corners)), _CAR if other is car else _OTHER)
        return picture


def _find_stretches(chosen: NDArray[np.bool_]) -> list[tuple[int, int]]:
    # First and stop of each run of True with two rows or more.
    edges = np.flatnonzero(np.diff(chosen.astype(np.int8), prepend=0, append=0)).reshape(-1, 2)
    return [(int(first), int(stop)) for first, stop in edges if stop - first > 1]


def _list_points(points: Array) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in points]


def _mix_colour(share: float) -> tuple[int, int, int]:
    share = min(max(share, 0.0), 1.0)
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(_SLOW, _FAST, strict=True))
    return red, green, blue
