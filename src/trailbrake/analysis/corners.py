"""Corners of a road, found in the curvature of a line, the part of the lap that belongs to each, and their names."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from trailbrake.analysis.lap_location import CommonLine
from trailbrake.analysis.reference_line import ReferenceLine
from trailbrake.arrays import Array
from trailbrake.tracks.track import Track
from trailbrake.tracks.track_library import load_track, track_names

BEND_SHARE = 0.15  # of the road's sharp curvature (its 95th percentile) from which a stretch is a bend
LEAST_TURN = math.radians(12.0)  # of a corner; less is a kink
CURVATURE_STEP = 1.0  # m between the places at which the curvature is taken
CURVATURE_WIDTH = 12.0  # m over which it is smoothed; a short road takes less
NEAR_ROAD = 20.0  # m off the road beyond which a place is on another one
NEAR_BEND = 30.0  # m before and behind a named bend that an apex may lie: transitions move it
JOINED_SHARE = 0.35  # of a bend's length: two bends of one sign with less between them are one corner


@dataclass(frozen=True)
class Corner:
    """A corner, and its zone: from where the laps slow down for it to where they slow down for the next one.

    Attributes:
        number: 1, 2, ... in driving order; 0 is the stretch from the start line to the zone of corner 1.
        sign: 1.0 for a bend to the left, -1.0 to the right; 0.0 for the stretch.
        entry: m, where the bend begins.
        apex: m, where it is sharpest.
        exit: m, where it ends.
        start: m, where its zone begins.
        end: m, where its zone ends.
        title: what people call it, "" for nothing.
    """

    number: int
    sign: float
    entry: float
    apex: float
    exit: float
    start: float = 0.0
    end: float = 0.0
    title: str = ""

    @property
    def label(self) -> str:
        """T1, T2, ..., short enough for maps and charts; "start" for the stretch before T1."""
        return f"T{self.number}" if self.number else "start"

    @property
    def name(self) -> str:
        """The label, with the title where there is one."""
        return f"{self.label} {self.title}".rstrip()


def find_corners(s: Array, curvature: Array) -> list[Corner]:
    """Return the corners of a line, without zones.

    Args:
        s: m, evenly spaced.
        curvature: 1/m at these places, positive to the left.
    """
    step = float(s[1] - s[0])
    size = np.abs(curvature)
    threshold = BEND_SHARE * float(np.quantile(size, 0.95))
    if not threshold > 1e-6:
        return []
    bends: list[list[int]] = []  # first and last index
    sides = np.where(size >= threshold, np.sign(curvature), 0.0)
    changes = np.flatnonzero(np.diff(sides) != 0.0) + 1
    for first, stop in zip([0, *changes.tolist()], [*changes.tolist(), len(sides)], strict=True):
        if sides[first] == 0.0:
            continue
        before = bends[-1] if bends else None
        if before is not None and sides[before[0]] == sides[first]:
            gap, length = first - before[1], min(before[1] - before[0], stop - first)
            if gap <= JOINED_SHARE * length:
                before[1] = stop - 1
                continue
        bends.append([first, stop - 1])
    corners: list[Corner] = []
    for first, last in bends:
        turn = abs(float(curvature[first : last + 1].sum())) * step
        if turn >= LEAST_TURN:
            apex = first + int(np.argmax(size[first : last + 1]))
            corners.append(
                Corner(len(corners) + 1, float(sides[first]), float(s[first]), float(s[apex]), float(s[last]))
            )
    return corners


def space_evenly(length: float) -> Array:
    """Return the places (m) of a road at which its curvature is taken."""
    places: Array = np.arange(0.0, length, min(CURVATURE_STEP, length / 400.0))
    return places


def find_line_corners(line: ReferenceLine) -> list[Corner]:
    """Return the corners of a line, without zones."""
    s = space_evenly(line.length)
    x, y = (np.interp(s, line.s, values) for values in (line.x, line.y))
    return find_corners(s, measure_curvature(s, x, y, line.closed, min(CURVATURE_WIDTH, line.length / 60.0)))


def measure_curvature(s: Array, x: Array, y: Array, closed: bool, width: float) -> Array:
    """Return the curvature (1/m, positive to the left) of a line at evenly spaced places, smoothed over `width` m."""
    step = float(s[1] - s[0])
    heading = np.unwrap(np.arctan2(np.gradient(y), np.gradient(x)))
    half = max(1, round(0.5 * width / step))
    if closed:
        ends = np.arange(-half, len(s) + half) % len(s)
        turns = np.floor_divide(np.arange(-half, len(s) + half), len(s))
        lap_turn = 2.0 * math.pi * round(float(heading[-1] - heading[0]) / (2.0 * math.pi))
        padded = heading[ends] + turns * lap_turn
    else:
        padded = np.pad(heading, half, mode="edge")
    slope = np.gradient(padded, step)
    kernel = np.full(2 * half + 1, 1.0 / (2 * half + 1))
    smoothed: Array = np.convolve(slope, kernel, "valid")
    return smoothed


def set_zones(corners: Sequence[Corner], borders: Sequence[float], length: float) -> list[Corner]:
    """Return the corners with their zones, and before them the stretch from the start line, where there is one.

    Args:
        corners: in driving order.
        borders: m, where the zone of each corner begins; rising.
        length: m of the lap.
    """
    ends = [*borders[1:], length] if borders else []
    zones = [replace(corner, start=a, end=b) for corner, a, b in zip(corners, borders, ends, strict=True)]
    first = borders[0] if zones else length
    if first > 0.0:
        zones.insert(0, Corner(0, 0.0, 0.0, 0.5 * first, first, 0.0, first))
    return zones


def find_recorded_track(name: object) -> Track | None:
    """Return the track of the library that a recording names; None where it is none: files may have changed since."""
    plain = str(name).partition("@")[0]
    return load_track(plain) if plain in track_names() else None


def title_corners(corners: Sequence[Corner], line: CommonLine, track: Track | None) -> list[Corner]:
    """Return corners with the names of the track's bends; each name is given once, to the nearest corner.

    Args:
        corners: in driving order.
        line: what their places are along.
        track: None where it is not known.
    """
    if track is None or line.line is None or not track.bends:
        return list(corners)
    places = line.line
    offers: list[tuple[float, int, str]] = []  # m from the middle of the bend, index of the corner, name
    for index, corner in enumerate(corners):
        if not corner.number:
            continue
        x, y = (float(np.interp(corner.apex, places.s, values)) for values in (places.x, places.y))
        s, offset, _ = track.road.locate(x, y, -1)
        if abs(offset) > NEAR_ROAD:
            continue
        offers.extend(
            (abs(s - 0.5 * (bend.start + bend.end)), index, bend.name)
            for bend in track.bends
            if bend.start - NEAR_BEND <= s <= bend.end + NEAR_BEND
        )
    titles: dict[int, str] = {}
    for _, index, name in sorted(offers):
        if index not in titles and name not in titles.values():
            titles[index] = name
    return [replace(corner, title=titles.get(index, "")) for index, corner in enumerate(corners)]
