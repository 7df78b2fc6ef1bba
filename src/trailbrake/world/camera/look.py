"""Looks: what a track is painted with, as a file tells it, and the lane colours ready for any footprint of a pixel."""

import tomllib
from dataclasses import dataclass
from importlib import resources

import msgspec
import numpy as np
from numpy.typing import NDArray

from trailbrake.errors import UsageError, near
from trailbrake.tracks.miniature.layout import HALF_WIDTH, LANE

Colour = tuple[int, int, int]
Array = NDArray[np.float64]
Bytes = NDArray[np.uint8]

FINEST = 0.0005  # m, the narrowest footprint of `lane_colours`; each level doubles it
LEVELS = 11  # up to half a metre
STEP = 0.00025  # m between its columns
REACH = 0.85  # m from the road's centre at which they end
BLOCK = 32  # pixels that are filled at once, at the most
_STREAK_GRAIN = 0.004  # m
_PLAIN = 40  # columns, a centimetre, of one colour that are worth it


class Sky(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Colours by row of the reference camera."""

    rows: list[float]
    colours: list[Colour]


class RoadPaint(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The lanes from left to right; lengths in m."""

    lanes: tuple[Colour, Colour, Colour, Colour, Colour, Colour]
    soft: float
    streak: float
    centre_line: float
    centre_colour: Colour
    outside: Colour


class WallPaint(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Height in m and colours."""

    height: float
    outer: Colour
    inner: Colour


class Chevron(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The arrow heads on the middle lane of each half; lengths in m."""

    every: float
    width: float
    length: float
    sweep: float
    colour: Colour


class GantryPaint(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where signs and blank boxes hang, in m to the left of the road's centre."""

    signs: list[float]
    blanks: list[float]
    back: Colour


class Look(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All that a look says."""

    sky: Sky
    road: RoadPaint
    walls: WallPaint
    gantry: GantryPaint
    chevron: Chevron | None = None


def names() -> list[str]:
    """Return the names of the looks."""
    folder = resources.files("trailbrake.world.camera") / "looks"
    return sorted(f.name.removesuffix(".toml") for f in folder.iterdir() if f.name.endswith(".toml"))


def load(name: str) -> Look:
    """Return the look of that name; UsageError where there is none."""
    if name not in names():
        raise UsageError("no such look", where=repr(name), hint=near(name, names()))
    text = (resources.files("trailbrake.world.camera") / "looks" / f"{name}.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), Look)


@dataclass(frozen=True, eq=False)
class Paint:
    """The road's colours, and where they do not change, so that many pixels can be filled at once.

    Attributes:
        lanes: `lane_colours`, (LEVELS, n, 3).
        same: (LEVELS, n) the last column up to which the colour stays what it is.
        plain: (LEVELS, n) the number in `solid` of the colour there; only where more than one column has it.
        solid: (k, 3 * BLOCK) a row of BLOCK pixels in each such colour.
    """

    lanes: Bytes
    same: NDArray[np.int16]
    plain: Bytes
    solid: Bytes

    @classmethod
    def of(cls, look: Look) -> "Paint":
        """Return a look's paint."""
        lanes = lane_colours(look)
        count = lanes.shape[1]
        changes = np.ones((LEVELS, count), np.bool_)  # whether the next column differs
        changes[:, :-1] = (lanes[:, 1:] != lanes[:, :-1]).any(axis=2)
        ends = np.where(changes, np.arange(count), count)
        same = np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]
        wide = same - np.arange(count) >= _PLAIN
        packed = lanes.astype(np.int64) @ np.array([1 << 16, 1 << 8, 1])
        colours = np.unique(packed[wide])[:256]
        number = np.minimum(np.searchsorted(colours, packed), len(colours) - 1)
        same = np.where(colours[number] == packed, same, -1)  # not among the plain colours: pixel by pixel
        rgb = np.column_stack([colours >> 16, colours >> 8, colours]) & 255
        return cls(lanes, same.astype(np.int16), number.astype(np.uint8), np.tile(rgb.astype(np.uint8), (1, BLOCK)))


def lane_colours(look: Look) -> Bytes:
    """Return the road's colours (LEVELS, n, 3), averaged over a pixel's footprint.

    Column k is the colour `REACH - k * STEP` m to the left of the road's centre; level j is averaged over
    `FINEST * 2**j` m.
    """
    paint = look.road
    count = round(2.0 * REACH / STEP) + 1
    q = REACH - np.arange(count) * STEP  # left to right
    lanes = np.array(paint.lanes, np.float64)
    lane = np.clip(((2.0 * HALF_WIDTH - q) / LANE).astype(np.int64), 0, len(lanes) - 1)
    base = lanes[lane]
    # Streaks run along the lanes. They are finer than the soft borders, which must not wash them out.
    grains = np.random.default_rng(1).uniform(-1.0, 1.0, round(2.0 * REACH / _STREAK_GRAIN) + 2)
    streaks = paint.streak * np.interp(REACH - q, np.arange(len(grains)) * _STREAK_GRAIN, grains)[:, None]
    if paint.centre_line:
        base[np.abs(q) < 0.5 * paint.centre_line] = paint.centre_colour
    inside = np.abs(q) <= 2.0 * HALF_WIDTH
    levels = []
    for level in range(LEVELS):
        width = FINEST * 2.0**level
        blurred = _box(base, max(width, paint.soft)) + _box(streaks, width)
        # The ground outside stays out of the lanes: the wall that stands between is not part of the paint.
        levels.append(np.where(inside[:, None], blurred, np.array(paint.outside, np.float64)))
    return np.ascontiguousarray(np.clip(np.rint(np.array(levels)), 0, 255).astype(np.uint8))


def _box(rows: Array, width: float) -> Array:
    # Averages of rows (n, k) over `width` m, the ends repeated.
    half = round(0.5 * width / STEP)
    padded = np.pad(rows, ((half + 1, half), (0, 0)), mode="edge")
    total = np.cumsum(padded, axis=0)
    span = 2 * half + 1
    averages: Array = (total[span:] - total[:-span]) / span
    return averages
