"""Looks: the colours of a track, as a file describes them, and the lane colours averaged over a pixel's footprint."""

import tomllib
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Array, Bytes
from trailbrake.errors import UsageError, suggest_names
from trailbrake.world.miniature.layout import HALF_WIDTH, LANE

Colour = tuple[int, int, int]

FINEST_FOOTPRINT = 0.0005  # m, the narrowest footprint of `lane_colours`; each level doubles it
FOOTPRINT_LEVELS = 11  # up to half a metre
PAINT_STEP = 0.00025  # m between columns of `lane_colours`
PAINT_REACH = 0.85  # m from the road's centre to the first and the last column
BLOCK_PIXELS = 32  # pixels, the most that are filled at once
_LOOKS = Path(__file__).with_name("looks")
_STREAK_GRAIN = 0.004  # m
_MIN_RUN = 40  # columns, a centimetre, of one colour that are worth a run


class Sky(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Colours of the sky by row of the reference camera (320 x 240 pixels)."""

    rows: list[float]
    colours: list[Colour]


class RoadPaint(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The lanes from left to right, and their borders and streaks; lengths in m."""

    lanes: tuple[Colour, Colour, Colour, Colour, Colour, Colour]
    soft: float
    streak: float
    centre_line: float
    centre_colour: Colour
    outside: Colour


class WallPaint(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Height (m) and colours of the walls."""

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
    """Where signs and blank boxes hang, in m to the left of the road's centre, and the colour of their backs."""

    signs: list[float]
    blanks: list[float]
    back: Colour


class TrackLook(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A look, as its file describes it."""

    sky: Sky
    road: RoadPaint
    walls: WallPaint
    gantry: GantryPaint
    chevron: Chevron | None = None


def look_names() -> list[str]:
    """Return the names of the looks, sorted."""
    return sorted(path.stem for path in _LOOKS.glob("*.toml"))


def load_look(name: str) -> TrackLook:
    """Return the look `name`; UsageError where there is none."""
    if name not in look_names():
        raise UsageError("no such look", where=repr(name), hint=suggest_names(name, look_names()))
    return msgspec.convert(tomllib.loads((_LOOKS / f"{name}.toml").read_text("utf-8")), TrackLook)


class LanePaint(NamedTuple):
    """The road's colours as kernels take them, with the runs of one colour, so that many pixels can be filled at once.

    Attributes:
        lanes: (FOOTPRINT_LEVELS, n, 3) from `lane_colours`.
        run_ends: (FOOTPRINT_LEVELS, n) the last column up to which the colour is the same.
        solid_index: (FOOTPRINT_LEVELS, n) the row of `solid_rows` with the colour; valid in runs only.
        solid_rows: (k, 3 * BLOCK_PIXELS) BLOCK_PIXELS pixels of each colour that has a run.
    """

    lanes: Bytes
    run_ends: NDArray[np.int16]
    solid_index: Bytes
    solid_rows: Bytes

    @classmethod
    def from_look(cls, look: TrackLook) -> "LanePaint":
        """Return the paint of a look."""
        lanes = lane_colours(look)
        count = lanes.shape[1]
        changes = np.ones((FOOTPRINT_LEVELS, count), np.bool_)  # whether the next column differs
        changes[:, :-1] = (lanes[:, 1:] != lanes[:, :-1]).any(axis=2)
        ends = np.where(changes, np.arange(count), count)
        same = np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]
        wide = same - np.arange(count) >= _MIN_RUN
        packed = lanes.astype(np.int64) @ np.array([1 << 16, 1 << 8, 1])
        colours = np.unique(packed[wide])[:256]
        number = np.minimum(np.searchsorted(colours, packed), len(colours) - 1)
        same = np.where(colours[number] == packed, same, -1)  # not among the solid colours: pixel by pixel
        rgb = np.column_stack([colours >> 16, colours >> 8, colours]) & 255
        return cls(
            lanes, same.astype(np.int16), number.astype(np.uint8), np.tile(rgb.astype(np.uint8), (1, BLOCK_PIXELS))
        )


def lane_colours(look: TrackLook) -> Bytes:
    """Return the road's colours (FOOTPRINT_LEVELS, n, 3), averaged over a pixel's footprint across the road.

    Column k is the colour `PAINT_REACH - k * PAINT_STEP` m to the left of the road's centre; level j is averaged over
    `FINEST_FOOTPRINT * 2**j` m.
    """
    paint = look.road
    count = round(2.0 * PAINT_REACH / PAINT_STEP) + 1
    q = PAINT_REACH - np.arange(count) * PAINT_STEP  # left to right
    lanes = np.array(paint.lanes, np.float64)
    lane = np.clip(((2.0 * HALF_WIDTH - q) / LANE).astype(np.int64), 0, len(lanes) - 1)
    base = lanes[lane]
    # Streaks run along the lanes. They are finer than the soft borders, which must not wash them out.
    grains = np.random.default_rng(1).uniform(-1.0, 1.0, round(2.0 * PAINT_REACH / _STREAK_GRAIN) + 2)
    streaks = paint.streak * np.interp(PAINT_REACH - q, np.arange(len(grains)) * _STREAK_GRAIN, grains)[:, None]
    if paint.centre_line:
        base[np.abs(q) < 0.5 * paint.centre_line] = paint.centre_colour
    inside = np.abs(q) <= 2.0 * HALF_WIDTH
    levels = []
    for level in range(FOOTPRINT_LEVELS):
        width = FINEST_FOOTPRINT * 2.0**level
        blurred = _box_average(base, max(width, paint.soft)) + _box_average(streaks, width)
        # The ground outside does not blend into the lanes: a wall stands between them.
        levels.append(np.where(inside[:, None], blurred, np.array(paint.outside, np.float64)))
    return np.ascontiguousarray(np.clip(np.rint(np.array(levels)), 0, 255).astype(np.uint8))


def _box_average(rows: Array, width: float) -> Array:
    # Averages of rows (n, k) over `width` (m), with the ends repeated.
    half = round(0.5 * width / PAINT_STEP)
    padded = np.pad(rows, ((half + 1, half), (0, 0)), mode="edge")
    total = np.cumsum(padded, axis=0)
    span = 2 * half + 1
    averages: Array = (total[span:] - total[:-span]) / span
    return averages
