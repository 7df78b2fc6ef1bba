"""Gears: which axle is driven, engine speed over wheel speed in each gear, and when the box shifts."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from msgspec.structs import replace

from trailbrake.arrays import Array
from trailbrake.cars.params import CarParams
from trailbrake.learning.identification.drive_table import DriveTable
from trailbrake.learning.identification.geometry import Geometry
from trailbrake.learning.identification.learned_value import LearnedValue, identified
from trailbrake.units import RPM

SETTLED_S = 0.35  # after a change of gear, until clutch and engine have settled
MIN_ROWS = 25
LEAST_SPIN = 2.0  # rad/s of the driven wheels: slower ones stand, or are locked
DRIVEN_SIGMAS = 3.0  # slip under power over its deviation from which an axle counts as driven, ...
DRIVEN_SHARE = 0.12  # ... if it is this share of the other axle's
LONGEST_SHIFT = 0.6  # s before the wire supplies the new gear
SHIFT_ERROR = 0.045  # s, of the method: the clutch closes gradually, and drive shafts swing after a shift
FULL_THROTTLE = 0.9
IDLE_MARGIN = 1.3
REVVED_OUT = 1.02  # engine speed over that of the up-shifts beyond which a gear is the last
TOP_SPEED_SHARE = 1.1  # of the speed at which drag takes all power, that the last gear reaches at least
LEAST_DRAG_AREA = 0.1  # m^2, that limits it
USUAL_GEARS, MOST_GEARS = 6, 8
MATCHED = 0.5  # of the way of the engine's speed from gear to gear
LEAST_SHIFTS = 2
MOST_STEP = 1.45  # from a gear to the next, of those that are guessed


@dataclass(frozen=True)
class Gearing:
    """What was found.

    Attributes:
        layout: fwd, rwd or awd.
        front_drive: share of the drive force on the front axle.
        ratios: engine speed over the speed of the driven wheels, by gear from 1; None for a gear that was not driven.
        upshift, downshift: rad/s, engine speeds at which the automatic box shifts; None where it never did.
        limiter: rad/s.
        idle: rad/s; None where the engine never idled.
        shift_time: s without drive; None where no shift was seen.
        blip: whether down-shifts match the engine to the lower gear; None where too few were seen.
        revs: rad/s, the highest settled engine speed of each gear.
    """

    layout: str
    front_drive: float
    ratios: tuple[LearnedValue | None, ...]
    upshift: LearnedValue | None
    downshift: LearnedValue | None
    limiter: LearnedValue
    idle: LearnedValue | None
    shift_time: LearnedValue | None
    blip: bool | None
    revs: dict[int, float]


def find_gearing(table: DriveTable, geometry: Geometry) -> Gearing | None:
    """Return the gearing of the car of a drive; None where the wire tells neither gear nor engine speed."""
    if not (np.isfinite(table.engine).any() and (table.gear > 0).any()):
        return None
    layout, front = _find_layout(geometry)
    driven = front * table.spin[:, :2].mean(axis=1) + (1.0 - front) * table.spin[:, 2:].mean(axis=1)
    settled = (table.gear_age > SETTLED_S) & (driven > LEAST_SPIN)
    ratios: list[LearnedValue | None] = []
    revs: dict[int, float] = {}
    slow = np.nanpercentile(table.engine[table.engine > 0.0], 1.0)
    for gear in range(1, int(table.gear.max()) + 1):
        rows = settled & (table.gear == gear) & (table.engine > IDLE_MARGIN * slow)
        if rows.sum() < MIN_ROWS:
            ratios.append(None)
            continue
        revs[gear] = float(np.percentile(table.engine[rows], 99.5))
        quotient = table.engine[rows] / driven[rows]
        middle = float(np.median(quotient))
        spread = 1.4826 * float(np.median(np.abs(quotient - middle)))
        ratios.append(identified(middle, spread / np.sqrt(rows.sum() / 10.0), f"gear {gear}", floor=0.002))
    up, down = _shift_speeds(table, driven, ratios)
    applied = table.limiter[np.isfinite(table.limiter)]
    most = float(np.nanpercentile(table.engine, 99.9))
    if len(applied):
        limiter = identified(float(np.median(applied)), 0.0, "the wire", floor=0.002)
    else:
        limiter = identified(most, 0.03 * most, "highest engine speed seen")
    shift_time = _shift_time(table)
    blip = _find_blip(table, driven, ratios, shift_time.value if shift_time else 0.0)
    return Gearing(layout, front, tuple(ratios), up, down, limiter, _idle(table), shift_time, blip, revs)


def append_gears(car: CarParams, found: Gearing) -> CarParams:
    """Return a car with gears beyond the highest that was driven, if it was not the last: a box reaches the top speed.

    Args:
        car: with its engine, its drag, and the gears that were driven.
        found: those gears, and how the box shifts.
    """
    box, top = car.gearbox, car.gearbox.top_gear
    # In the last gear the engine revs beyond its up-shifts; in others too, where the driver, not the box, holds them.
    shifts = found.upshift is not None or len(found.ratios) == 1
    if shifts and len(found.ratios) == top and found.revs.get(top, 0.0) > REVVED_OUT * box.upshift_rpm * RPM:
        return car
    half = 0.5 * car.aero.air_density * max(car.aero.drag_area, LEAST_DRAG_AREA)
    fastest = TOP_SPEED_SHARE * math.cbrt(car.engine.peak_power * box.efficiency / half)  # where drag takes all power
    ratios, reach = list(box.ratios), box.upshift_rpm * RPM * car.driven_radius / box.final_drive
    # Of one gear alone: equal steps to the top speed. A first gear that reaches 50 m/s is one of a close box.
    step = ratios[-1] / ratios[-2] if top > 1 else (reach / ratios[0] / fastest) ** (1.0 / (USUAL_GEARS - 1))
    while len(ratios) < MOST_GEARS and reach / ratios[-1] <= fastest:
        step = max(step**0.9, 1.0 / MOST_STEP)  # the steps of a gearbox get smaller
        ratios.append(ratios[-1] * step)
    return replace(car, gearbox=replace(box, ratios=tuple(ratios)))


def _find_layout(geometry: Geometry) -> tuple[str, float]:
    """Return the layout, and the front axle's share of the drive by the slips under power."""
    if geometry.slip_front is None or geometry.slip_rear is None:
        return "rwd", 0.0
    front, rear = geometry.slip_front, geometry.slip_rear
    pulls = [max(slip.value, 0.0) if slip.value > DRIVEN_SIGMAS * slip.sigma else 0.0 for slip in (front, rear)]
    if pulls[0] <= DRIVEN_SHARE * pulls[1]:
        return "rwd", 0.0
    if pulls[1] <= DRIVEN_SHARE * pulls[0]:
        return "fwd", 1.0
    return "awd", pulls[0] / (pulls[0] + pulls[1])


def _shift_speeds(
    table: DriveTable, driven: Array, ratios: Sequence[LearnedValue | None]
) -> tuple[LearnedValue | None, LearnedValue | None]:
    """Return the engine speeds of up-shifts, in the old gear, and of down-shifts, in the new one.

    While the gear changes, the engine is already on its way: of an up-shift the highest speed before counts. A
    down-shift is seldom at full engine speed before the car is slower: its wheels count, over the ratio of the gear.

    Args:
        table: the drive.
        driven: (n,) rad/s, of the driven wheels.
        ratios: of the gears; None where one is not known.
    """
    gear, change = table.gear, _find_changes(table)
    up = [_highest(table, k) for k in change if gear[k + 1] > gear[k] and table.throttle[k] > FULL_THROTTLE]
    slowed = [k for k in change if gear[k + 1] < gear[k] and driven[k] > LEAST_SPIN]
    down = [driven[k] * ratio.value for k in slowed if (ratio := ratios[int(gear[k + 1]) - 1]) is not None]
    found = [identified(float(np.median(speeds)), float(np.std(speeds)) / np.sqrt(len(speeds)), note, floor=0.01)
             if len(speeds) >= 2 else None
             for speeds, note in ((up, "up-shifts at full throttle"), (down, "down-shifts"))]  # fmt: skip
    return found[0], found[1]


def _find_blip(
    table: DriveTable, driven: Array, ratios: Sequence[LearnedValue | None], shift_time: float
) -> bool | None:
    """Return whether the engine reaches the speed of a lower gear before that engages; None where too few were seen.

    Wheels that must speed the engine up brake the car, in a slow bend for most of a second. Every up-shift is matched:
    by them the wire supplies a gear that has engaged, or one that is about to.

    Args:
        table: the drive.
        driven: (n,) rad/s, of the driven wheels.
        ratios: of the gears; None where one is not known.
        shift_time: s without drive.
    """
    turns = table.engine / np.maximum(driven, LEAST_SPIN)
    up, down = list[tuple[float, float]](), list[tuple[float, float]]()  # before the change, and a shift later
    for k in _find_changes(table):
        old, new = (ratios[int(table.gear[row]) - 1] for row in (k, k + 1))
        if old is not None and new is not None and driven[k] > LEAST_SPIN:
            later = min(int(np.searchsorted(table.time, table.time[k] + shift_time)), len(turns) - 1)
            way = (turns[[k, later]] - old.value) / (new.value - old.value)
            (up if new.value < old.value else down).append((float(way[0]), float(way[1])))
    if min(len(up), len(down)) < LEAST_SHIFTS:
        return None
    is_late = bool(np.median(up, axis=0)[0] < MATCHED)
    return bool(np.median(down, axis=0)[int(is_late)] >= MATCHED)


def _find_changes(table: DriveTable) -> list[int]:
    """Return the last row before each change between forward gears."""
    gear = table.gear
    changed = (np.diff(gear) != 0.0) & (gear[1:] > 0) & (gear[:-1] > 0) & (np.diff(table.time) < 0.1)
    rows: list[int] = np.flatnonzero(changed).tolist()
    return rows


def _highest(table: DriveTable, row: int) -> float:
    """Return the highest engine speed (rad/s) from half a second before a row on."""
    away = table.time - table.time[row]
    return float(np.max(table.engine[(away >= -0.5) & (away <= 0.02)]))


def _idle(table: DriveTable) -> LearnedValue | None:
    rows = (table.vx < 0.5) & (table.throttle < 0.05) & (table.engine > 10.0)
    if rows.sum() < 5:
        return None
    return identified(float(np.median(table.engine[rows])), 0.0, "engine at rest", floor=0.05)


def _shift_time(table: DriveTable) -> LearnedValue | None:
    """Return how long an up-shift at full throttle is without drive: the speed that it costs over the pull.

    Wires supply the new gear when the gearbox leaves the old one, or when it has engaged.
    """
    gear, times = table.gear, []
    for k in np.flatnonzero((np.diff(gear) == 1.0) & (gear[:-1] > 0) & (table.throttle[:-1] > FULL_THROTTLE)):
        t0 = table.time[k]
        near = np.flatnonzero(np.abs(table.time - t0) < 1.2)
        if table.throttle[near].min() < FULL_THROTTLE or np.abs(table.fy[near]).max() > 4.0 or len(near) < 20:
            continue
        before = near[(table.time[near] < t0 - LONGEST_SHIFT)]
        after = near[(table.time[near] > t0 + 0.7)]
        if len(before) < 5 or len(after) < 5:
            continue
        pull = 0.5 * (np.median(table.fx[before]) + np.median(table.fx[after]))
        step = float(np.median(np.diff(table.time[near])))
        inside = near[(table.time[near] >= t0 - LONGEST_SHIFT) & (table.time[near] <= t0 + 0.7)]
        if pull < 0.5:
            continue
        lost = float(np.sum(np.clip(pull - table.fx[inside], -pull, 1.5 * pull))) * step / pull
        times.append(lost)
    if len(times) < 2:
        return None
    return identified(max(float(np.median(times)), 0.01), max(float(np.std(times)) / np.sqrt(len(times)), SHIFT_ERROR),
                      "up-shifts at full throttle")  # fmt: skip
