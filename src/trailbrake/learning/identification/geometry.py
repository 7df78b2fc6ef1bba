"""Where a car's wheels are and how large: from contact points where the wire tells them, else from wheel speeds.

A wheel that rolls freely turns at the speed of its centre along its own plane. In a bend the outer wheels are faster
(track), the front wheels are faster than the rear ones by the wheelbase's part of the yaw rate, and the rear axle moves
across by no more than its slip angle, which tells where the centre of mass is.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Array
from trailbrake.learning.identification.drive_table import DriveTable
from trailbrake.learning.identification.learned_value import LearnedValue, identified, prior
from trailbrake.learning.identification.robust_fit import fit_linear, fit_residuals

MIN_SPEED = 4.0  # m/s from which wheel speeds over speeds are used
MAX_SIDE = 3.0  # m/s^2 within which tyres across are taken as linear
MAX_PULL = 4.0  # m/s^2, the same along
STRAIGHT_SIDE = 2.0  # m/s^2 across, within which wheels roll as on a straight
# On a road without straights: m/s^2, or share of the hard forces, within which tyres slip in proportion to the pull.
BEND_FORCE, LINEAR_SHARE, HARD = 5.0, 0.4, 98.0
MAX_ARM_PULL = 0.5  # m/s^2, along, within which driven front wheels slip for the drag of the bend alone, nearly
MIN_YAW_RATE = 0.15  # rad/s
MIN_ROWS = 60
DRIVEN_SLIP = 5e-4  # slip per m/s^2 of pull
USUAL_ARM = 1.4  # m, from the centre of mass to the rear axle, where it was not found
_FREE = np.inf


@dataclass(frozen=True)
class Geometry:
    """What was found; None where nothing could be.

    Attributes:
        radius_front, radius_rear: m, rolling.
        wheelbase: m.
        to_front: m, from the centre of mass to the front axle.
        track_front, track_rear: m.
        slip_front, slip_rear: slip ratio per m/s^2 of the car's drive force: which axle is driven.
    """

    radius_front: LearnedValue | None
    radius_rear: LearnedValue | None
    wheelbase: LearnedValue | None
    to_front: LearnedValue | None
    track_front: LearnedValue | None
    track_rear: LearnedValue | None
    slip_front: LearnedValue | None
    slip_rear: LearnedValue | None


def find_geometry(table: DriveTable) -> Geometry:
    """Return the geometry of the car of a drive."""
    radii, slips = zip(*(_rolling_radius(table, axle) for axle in (0, 1)), strict=True)
    if np.isfinite(table.place_x).all() and len(table) > MIN_ROWS:
        return Geometry(radii[0], radii[1], *_places(table), slips[0], slips[1])
    tracks = _tracks(table, radii, slips)
    to_rear = _rear_arm(table)
    to_front = _front_arm(table, radii[0], slips[0], to_rear)
    base = None
    if to_rear is not None and to_front is not None:
        sigma = float(np.hypot(to_rear.sigma, to_front.sigma))
        base = identified(to_rear.value + to_front.value, sigma, "wheel speeds and sideslip in slow bends")
    return Geometry(radii[0], radii[1], base, to_front, tracks[0], tracks[1], slips[0], slips[1])


def _rolling_radius(table: DriveTable, axle: int) -> tuple[LearnedValue | None, LearnedValue | None]:
    """Return an axle's radius, and its slip per m/s^2 of drive; those of its bends on a road without straights."""
    radius, slip = _fit_rolling(table, axle, STRAIGHT_SIDE, MAX_PULL)
    if radius is not None:
        return radius, slip
    linear = max(BEND_FORCE, LINEAR_SHARE * float(np.percentile(np.hypot(table.fx, table.fy), HARD)))
    return _fit_rolling(table, axle, linear, linear)


def _fit_rolling(
    table: DriveTable, axle: int, side: float, most: float
) -> tuple[LearnedValue | None, LearnedValue | None]:
    """Return an axle's radius, and its slip per m/s^2 of drive, of the rows within `side` across and `most` along."""
    spin = table.spin[:, 2 * axle : 2 * axle + 2].mean(axis=1)
    rows = (
        (table.vx > 2.0 * MIN_SPEED) & (np.abs(table.fy) < side) & (np.abs(table.fx) < most) & (table.brake < 0.01)
        & np.isfinite(spin) & (spin > 1.0)
    )  # fmt: skip
    if rows.sum() < MIN_ROWS:
        return None, None
    t = table.take(rows)
    pull = t.fx + 3e-4 * t.vx**2
    inverse = spin[rows] / t.vx
    fit = fit_linear(np.column_stack([np.ones(len(t)), pull]), inverse, (np.zeros(2), np.full(2, _FREE)), t.blocks)
    radius = identified(1.0 / fit.value[0], fit.sigma[0] / fit.value[0] ** 2, "wheel speeds", floor=0.003)
    slip = identified(fit.value[1] / fit.value[0], fit.sigma[1] / fit.value[0], "wheel speeds under power")
    return radius, slip


def _places(table: DriveTable) -> tuple[LearnedValue, LearnedValue, LearnedValue, LearnedValue]:
    """Return wheelbase, centre of mass to front axle, and the tracks: means of the contact points' places."""
    x, y = np.median(table.place_x, axis=0), np.median(table.place_y, axis=0)
    front, rear = 0.5 * (x[0] + x[1]), 0.5 * (x[2] + x[3])
    note = "contact points"
    return (
        identified(front - rear, 0.002, note), identified(front, 0.005, note), identified(y[0] - y[1], 0.002, note),
        identified(y[2] - y[3], 0.002, note),
    )  # fmt: skip


def _tracks(
    table: DriveTable, radii: tuple[LearnedValue | None, ...], slips: tuple[LearnedValue | None, ...]
) -> list[LearnedValue | None]:
    """Return the tracks: the right wheel is faster than the left one by the yaw rate times it.

    A differential makes the wheels of a driven axle slip, so such an axle counts as wide as the other.
    """
    rows = _wide_bends(table)
    if rows.sum() < MIN_ROWS:
        return [None, None]
    t = table.take(rows)
    pulls = [slip.value if slip else 0.0 for slip in slips]
    found: list[LearnedValue | None] = [None, None]
    for axle, radius in enumerate(radii):
        if radius is None or pulls[axle] > DRIVEN_SLIP:
            continue
        more = (t.spin[:, 2 * axle + 1] - t.spin[:, 2 * axle]) * radius.value
        fit = fit_linear(t.yaw_rate[:, None], more, (np.zeros(1), np.full(1, _FREE)), t.blocks)
        found[axle] = identified(fit.value[0], fit.sigma[0], "wheel speeds in bends", floor=0.015)
    for axle in (0, 1):
        other = found[1 - axle]
        if found[axle] is None and other is not None and other.source == "identified":
            found[axle] = prior(other.value, 0.03, "as the other axle's")
    return found


def _wide_bends(table: DriveTable) -> NDArray[np.bool_]:
    """Return rows in which the front wheels point nearly forward and no axle is driven hard."""
    return (
        (table.vx > 2.0) & (np.abs(table.fy) < 6.0) & (np.abs(table.yaw_rate) > 0.08) & (table.brake < 0.02)
        & (np.abs(table.fx) < 2.0) & (np.abs(table.yaw_rate) < 0.05 * table.vx) & np.isfinite(table.spin).all(axis=1)
    )  # fmt: skip


def _slow_bends(table: DriveTable) -> NDArray[np.bool_]:
    return (
        (table.vx > 2.0) & (np.abs(table.fy) < MAX_SIDE) & (np.abs(table.yaw_rate) > MIN_YAW_RATE)
        & (np.abs(table.fx) < 0.5 * MAX_PULL) & (table.brake < 0.05) & np.isfinite(table.spin).all(axis=1)
    )  # fmt: skip


def _rear_arm(table: DriveTable) -> LearnedValue | None:
    """Return the distance from the centre of mass to the rear axle: vy = l_r r - slip vx, the slip as the force."""
    rows = _slow_bends(table)
    if rows.sum() < MIN_ROWS:
        return None
    t = table.take(rows)
    matrix = np.column_stack([t.yaw_rate, -t.fy * t.vx])
    fit = fit_linear(matrix, t.vy, (np.array([1.4, 0.005]), np.array([0.5, 0.01])), t.blocks)
    return identified(fit.value[0], fit.sigma[0], "sideslip in slow bends", floor=0.01, prior_sigma=0.5)


def _front_arm(
    table: DriveTable, radius: LearnedValue | None, slip: LearnedValue | None, to_rear: LearnedValue | None
) -> LearnedValue | None:
    """Return the distance to the front axle: its wheels' speed is that of (vx, vy + l_f r), but for their slip.

    In a tight bend part of the front tyres' side force points backwards. Driven front wheels pull against that, and
    slip for it as they do for as much on a straight.

    Args:
        table: the drive.
        radius: m, of the front wheels.
        slip: ratio of the front wheels per m/s^2 of drive.
        to_rear: m, from the centre of mass to the rear axle.
    """
    if radius is None:
        return None
    tight = np.abs(table.yaw_rate) > 0.06 * np.maximum(table.vx, 1.0)
    rows = _slow_bends(table) & tight & (np.abs(table.fx) < MAX_ARM_PULL)
    if rows.sum() < MIN_ROWS:
        return None
    t = table.take(rows)
    rolled = t.spin[:, :2].mean(axis=1) * radius.value
    per_pull = slip.value if slip is not None and slip.value > DRIVEN_SLIP else 0.0
    rear = to_rear.value if to_rear is not None else USUAL_ARM

    def residuals(p: Array) -> Array:
        across = t.vy + p[0] * t.yaw_rate
        base = p[0] + rear
        dragged = t.fy * rear / base * np.sin(base * t.yaw_rate / t.vx)
        speed = np.sqrt(t.vx**2 + across**2) * (1.0 + per_pull * (t.fx + dragged))
        return np.asarray((rolled * (1.0 + p[1]) - speed) / 0.01)

    fit = fit_residuals(residuals, np.array([1.2, 0.0]), (np.array([1.25, 0.0]), np.array([0.4, 0.004])), t.blocks)
    return identified(fit.value[0], fit.sigma[0], "front wheels' speed in tight bends", floor=0.02, prior_sigma=0.4)
