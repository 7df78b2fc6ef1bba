"""A road from a slow drive along it: positions, and the place across the road where the simulator tells it.

With the offset y = h e of the car, e its place across (1 at the left edge) and h half the road's width, the path bends
by y'' more than the road does. A car that weaves shows both sides of that at the weave's wavelength, where a road has
little of its own; their ratio is h. The centreline is the path less h e, smoothed by local cubics, which leave
clothoids as they are (Savitzky and Golay, Smoothing and differentiation of data, Analytical Chemistry 36, 1964).
"""

import math
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from trailbrake.errors import DataError
from trailbrake.planning.spline import resample
from trailbrake.tracks.road import Road

Array = NDArray[np.float64]
Path = NDArray[np.complex128]
Numbers = TypeVar("Numbers", Array, Path)

STEP = 0.5  # m between the points that the path is resampled to
KNOTS = 6  # points from one knot of the centreline's spline to the next
SPACING = 1.5  # m between the road's rows
SMOOTHING = 12.0  # m, half the window of the local cubics for the centreline ...
HEIGHT_SMOOTHING = 20.0  # m, ... and for its height
WINDOW = 4.0  # waves in a window in which the width is found
LIVE = 0.02  # half roads: a place across that weaves less tells no width
WIDTHS = (1.5, 15.0)  # m, half widths that a road may have
LEAST = 100.0  # m of road that are worth a map
CLOSE = 15.0  # m between the end of a drive and its start that make a circuit of it


@dataclass(frozen=True)
class Survey:
    """What a drive told.

    Attributes:
        road: the road.
        live: share of its length over which the place across was live.
        half_width: m, median of what was found, or the stated one.
    """

    road: Road
    live: float
    half_width: float


def survey(x: Array, y: Array, z: Array, place: Array, *, width: float, wave: float, runoff: float = 2.5) -> Survey:
    """Return the road along a drive.

    Args:
        x: (n,) m, world, in driving order.
        y: (n,) m, world.
        z: (n,) m, world, height of the car above or below the road, always the same.
        place: (n,) place across the road, 1 at the left edge, -1 at the right; NaN or constant where not known.
        width: m, edge to edge, to take where `place` is not live.
        wave: m, the length of one weave of the drive.
        runoff: m beyond the edges to where a wall may stand: nothing tells, so little is assumed.

    Raises:
        DataError: too short a drive, or one that stands or jumps.
    """
    path, height, across = _along(x, y, z, place)
    closed = bool(abs(path[-1] - path[0]) < CLOSE and len(path) * STEP > LEAST)
    if closed:  # once round: what was driven twice is cut
        path, height, across = path[: -int(CLOSE / STEP)], height[: -int(CLOSE / STEP)], across[: -int(CLOSE / STEP)]
    known = np.where(np.isfinite(across), across, 0.0)
    half, live = half_widths(path, known, wave)
    usual = float(np.median(half[live])) if live.any() else 0.5 * width
    half = np.where(live, half, usual)
    half = _smooth(half, WINDOW * wave, 1)
    centre = path
    for _ in range(3):  # the direction across is the centreline's own
        normal = 1j * _direction(_smooth(centre, SMOOTHING, 3))
        centre = path - np.where(live, known * half, 0.0) * normal
    centre, height = _smooth(_smooth(centre, SMOOTHING, 3), SMOOTHING, 3), _smooth(height, HEIGHT_SMOOTHING, 2)
    knots = centre[::KNOTS]
    px, py, yaw, curvature, spacing = resample(knots.real.copy(), knots.imag.copy(), closed, SPACING)
    s = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(centre)))])
    rows = np.arange(len(px)) * spacing
    rise = np.interp(rows, s, height)
    edge = np.interp(rows, s, half)
    grade = np.gradient(rise, spacing)
    road = Road.from_columns(
        spacing, closed, px, py, yaw, curvature, z=rise, grade=grade, width_left=edge, width_right=edge,
        runoff_left=runoff, runoff_right=runoff,
    )  # fmt: skip
    return Survey(road, float(live.mean()), usual)


def _along(x: Array, y: Array, z: Array, place: Array) -> tuple[Path, Array, Array]:
    """Return position (complex), height and place at points STEP apart along the path."""
    good = np.isfinite(x) & np.isfinite(y) & np.isfinite(z)
    points = (x + 1j * y)[good]
    moved = np.abs(np.diff(points, prepend=points[:1]))
    if len(points) and moved.max() > CLOSE:
        raise DataError(
            "the drive jumps", where="survey", expected="one drive along a road", got=f"{moved.max():.0f} m"
        )
    keep = moved > 0.01
    if len(keep):
        keep[0] = True
    points, height, across = points[keep], z[good][keep], place[good][keep]
    s = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(points)))]) if len(points) else np.zeros(1)
    if s[-1] < LEAST:
        raise DataError("too short a drive for a map", where="survey", expected=f"{LEAST:g} m", got=f"{s[-1]:.0f} m")
    at = np.arange(0.0, s[-1], STEP)
    path: Path = np.interp(at, s, points.real) + 1j * np.interp(at, s, points.imag)
    return path, np.interp(at, s, height), np.interp(at, s, across)


def half_widths(path: Path, place: Array, wave: float) -> tuple[Array, NDArray[np.bool_]]:
    """Return half the road's width (m) along a weaving path, (n,), and where it is known.

    Args:
        path: (n,) x + iy, points STEP apart.
        place: (n,) place across the road.
        wave: m, length of one weave.
    """
    direction = _direction(_smooth(path, 0.15 * wave, 3))
    bend = np.gradient(np.unwrap(np.angle(direction)), STEP)
    q = 2.0 * math.pi / wave
    carrier = np.exp(-1j * q * STEP * np.arange(len(path)))
    window = np.hanning(int(WINDOW * wave / STEP) | 1)
    window /= window.sum()

    def tone(values: Array) -> Path:
        # The smoothing above takes the same share of both.
        flat = _smooth(values, 0.15 * wave, 3) - _smooth(values, wave, 1)
        return np.convolve(flat * carrier, window, mode="same")

    bends, places = tone(bend), tone(_smooth(place, 0.15 * wave, 3))
    sized = np.abs(places) > 0.5 * LIVE
    ratio = np.zeros(len(path))
    ratio[sized] = -(bends[sized] / places[sized]).real / q**2
    live = sized & (ratio > WIDTHS[0]) & (ratio < WIDTHS[1])
    return ratio, live


def _direction(path: Path) -> Path:
    slope = np.gradient(path)
    unit: Path = slope / np.maximum(np.abs(slope), 1e-9)
    return unit


def _smooth(values: Numbers, half: float, order: int) -> Numbers:
    """Return `values` by local polynomials of `order` over windows of 2 `half` (m); at the ends by those of the end."""
    reach = int(half / STEP)
    if reach < order or len(values) <= 2 * reach + 1:
        return values
    t = np.arange(-reach, reach + 1) / reach
    basis = np.vander(t, order + 1, increasing=True)
    projector = basis @ np.linalg.pinv(basis)  # row k: the fitted value at the window's point k
    inner = np.convolve(values, projector[reach][::-1], mode="valid")
    first, last = projector[:reach] @ values[: 2 * reach + 1], projector[reach + 1 :] @ values[-2 * reach - 1 :]
    return np.concatenate([first, inner, last])
