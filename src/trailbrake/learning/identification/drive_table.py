"""`DriveTable`: what a wire has applied of a drive, in SI columns at an even rate, and forces instead of accelerations.

Accelerations become forces over mass (specific forces): along the road by the climb of the path, across it by the bank
of the road. The bank is applied from the body's own roll by driving the same place at different speeds.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Array, Ints
from trailbrake.errors import DataError
from trailbrake.units import G

MAX_RATE = 110.0  # Hz of the table: faster wires are averaged
GAP, GAP_STEPS = 0.1, 1.5  # s between samples, and usual steps, beyond both of which there is a gap
CLIMB_WINDOW = 0.6  # s over which the climb of the path is averaged
FILTER_S = 0.05  # s, window of the local parabolas for derivatives
PLACE = 4.0  # m, cells by which equal places of the road are found
BLOCK_S = 1.0  # s, of the blocks whose residuals count as independent
MIN_ROWS = 200
BETWEEN_DRIVES = 10.0  # s
DIRT_S = 0.5  # s after the return to the road that are not used
IMPACT_WINDOW, IMPACT_S = 0.1, 0.5  # s over which a wall's impact takes speed off, and beside it that are not used
PEAK_FORCE = 98.0  # percentile of the forces that are hard
IMPACT_SHARE, LEAST_FORCE = 1.3, 10.0  # of that, m/s^2 at least, which only a wall exceeds

WHEELS = ("fl", "fr", "rl", "rr")

HALF_CAR = 0.9  # m, from the centre of a car to its outer wheels
BLOCK = 2000  # places that are compared at a time: bounds the memory


class RoadBounds(NamedTuple):
    """A road by its centre and edges: (n, 2) each, x and y (m), row by row across the road."""

    centre: Array
    left: Array
    right: Array


def find_rows_on_road(x: Array, y: Array, bounds: RoadBounds) -> NDArray[np.bool_]:
    """Return (n,) whether a car with its centre of mass at x and y (n,), m, has all wheels on the road.

    The place across the road counts at the nearest row of `bounds`; places that are not known (NaN) count as on it.
    """
    across = bounds.left - bounds.right
    width = np.maximum(np.hypot(across[:, 0], across[:, 1]), 1e-6)
    normal = across / width[:, None]
    to_left = np.einsum("ij,ij->i", bounds.left - bounds.centre, normal)
    to_right = np.einsum("ij,ij->i", bounds.centre - bounds.right, normal)
    places = np.column_stack([x, y])
    inside = np.ones(len(places), bool)
    for start in range(0, len(places), BLOCK):
        part = places[start : start + BLOCK]
        away = part[:, None, :] - bounds.centre[None, :, :]
        row = np.argmin(np.nan_to_num(np.einsum("ijk,ijk->ij", away, away)), axis=1)
        offset = np.einsum("ij,ij->i", part - bounds.centre[row], normal[row])
        off = (offset > to_left[row] - HALF_CAR) | (offset < HALF_CAR - to_right[row])
        inside[start : start + BLOCK] = ~off
    return inside


@dataclass(frozen=True, eq=False)
class DriveTable:
    """A drive, or several behind each other. All (n,), those of wheels (n, 4) in the order FL, FR, RL, RR.

    Attributes:
        time: s.
        drive: number of the drive, and ...
        block: ... of the block of time.
        x, y: m, world.
        vx, vy: m/s, velocity forward and left; without the slip of the body the speed, and NaN.
        yaw_rate, yaw_acceleration: rad/s, rad/s^2.
        fx, fy: m/s^2, force of tyres and air over mass, forward and left.
        ax, az: m/s^2, acceleration forward (the road's climb is not in it) and away from the road, of its height.
        throttle, brake: 0..1, as the wire says that they are applied, else as they were commanded.
        boost: 0..1, of a turbocharger that has built up; the throttle, until a lag of it is known (`engine_power.py`).
        throttle_command, brake_command: 0..1, as they were commanded: mean of those in force until the next row.
        steer: -1..1, as it was commanded.
        steer_applied: -1..1, as the wire says that it is applied; NaN where it does not.
        wheel_angle: rad, of the steering wheel; NaN where the wire does not tell it.
        gear: forward gear; 0 where there is none or it is changing.
        gear_age: s since the gear last changed.
        engine: rad/s.
        engine_power: W, negative while it brakes; NaN where the wire does not tell it.
        limiter: rad/s, the game's own limit of the engine; NaN where the wire does not tell it.
        assisted: 1 while an assistant is known to hold the pedals back.
        spin: rad/s.
        load: N; NaN where the wire does not tell it.
        slip_ratio, slip_angle: 1, rad; NaN where the wire does not tell them.
        combined_slip: 1, slip over that of the peak; NaN likewise.
        place_x, place_y: m, of the contact points from the centre of mass, forward and left; NaN likewise.
    """

    time: Array
    drive: Array
    block: Array
    x: Array
    y: Array
    vx: Array
    vy: Array
    yaw_rate: Array
    yaw_acceleration: Array
    fx: Array
    fy: Array
    ax: Array
    az: Array
    throttle: Array
    brake: Array
    boost: Array
    throttle_command: Array
    brake_command: Array
    steer: Array
    steer_applied: Array
    wheel_angle: Array
    gear: Array
    gear_age: Array
    engine: Array
    engine_power: Array
    limiter: Array
    assisted: Array
    spin: Array
    load: Array
    slip_ratio: Array
    slip_angle: Array
    combined_slip: Array
    place_x: Array
    place_y: Array

    def __len__(self) -> int:
        """Return how many rows there are."""
        return len(self.time)

    def take(self, rows: NDArray[np.bool_] | Ints) -> "DriveTable":
        """Return the table of some rows."""
        return DriveTable(**{f.name: getattr(self, f.name)[rows] for f in fields(self)})

    @property
    def speed(self) -> Array:
        """Forward speed, at least 1 m/s: for quotients."""
        return np.maximum(self.vx, 1.0)

    @property
    def blocks(self) -> Ints:
        """Blocks of time, for covariances."""
        return self.block.astype(np.int64)

    def seconds(self) -> float:
        """Return how long the drives were, s."""
        return float(sum(np.ptp(self.time[self.drive == k]) for k in np.unique(self.drive)))

    def steady(self, values: Array, seconds: float, tolerance: float) -> NDArray[np.bool_]:
        """Return where `values` (n,) have stayed within `tolerance` for the last `seconds`."""
        step = float(np.median(np.diff(self.time))) if len(self) > 1 else 1.0
        reach = max(round(seconds / max(step, 1e-3)), 1)
        padded = np.concatenate([np.full(reach, np.nan), values])
        windows = np.lib.stride_tricks.sliding_window_view(padded, reach + 1)
        return np.asarray(np.ptp(windows, axis=1) <= tolerance)


class WireFacts(NamedTuple):
    """What a wire has beside states and controls.

    Attributes:
        delay: s from a sample until its answer is in force at the simulator's end, by the wire's protocol.
        engine_power: (n,) W, negative while it brakes; None: the wire does not tell it.
        surface: (n, 4) a value of its own for each surface under a wheel, NaN where it is a kerb or unknown; None: the
            wire does not tell it.
    """

    delay: float = 0.0
    engine_power: Array | None = None
    surface: Array | None = None


def make_table(
    state: Mapping[str, Array],
    controls: Mapping[str, Array],
    number: int = 0,
    bounds: RoadBounds | None = None,
    wire: WireFacts | None = None,
) -> DriveTable:
    """Return the table of one recorded drive, without the rows beside the road.

    Args:
        state: columns of `state.tables.STATE_COLUMNS`; NaN where not supplied.
        controls: columns of `state.tables.CONTROL_COLUMNS`.
        number: of the drive.
        bounds: of its road; None: not known. Wires that supply the ground under the wheels need none.
        wire: what the wire has besides; None: nothing.

    Raises:
        DataError: the drive does not tell what no car can be identified without, or is too short.
    """
    wire = wire or WireFacts()
    slips = np.isfinite(state["velocity_y"]).any()
    forward = "velocity_x" if slips else "speed"
    for name in ("time", forward, *(("yaw_rate",) if slips else ()), "acceleration_x", "acceleration_y"):
        if not np.isfinite(state[name]).any():
            raise DataError("nothing can be learned of a car", where="recording", expected=name, got="a wire without")
    known = np.flatnonzero(np.isfinite(state["time"]))
    known = known[np.unique(state["time"][known], return_index=True)[1]]
    if len(known) < MIN_ROWS:
        raise DataError("too short a drive", where="recording", expected=f"{MIN_ROWS} samples", got=str(len(known)))
    whole = len(known) == len(state["time"]) and np.all(np.diff(known) == 1)
    order = slice(None) if whole else known  # views, of a drive without a repeated row: a long one is large
    raw = {name: np.asarray(state[name], np.float64)[order] for name in _STATE}
    commanded = {name: np.asarray(controls[name], np.float64)[order] for name in _COMMANDS}
    time = raw["time"]
    step = float(np.median(np.diff(time)))
    every = max(round(1.0 / (step * MAX_RATE)), 1)
    pedals = {name: _mean_command(time, commanded[name], every, wire.delay) for name in ("throttle", "brake")}
    slope = _slope_filter(time, step)
    wheels = {name: _stack(state, name, order) for name in _WHEEL}
    climb = _climb(raw, time, step)
    fx = raw["acceleration_x"] + G * np.sin(np.arctan(climb))
    bank = road_bank(raw, wheels)
    fy = raw["acceleration_y"] + G * np.sin(bank)
    place_x, place_y = _contact_places(raw, wheels)
    gear, age = _gears(raw["gear"], time)
    throttle = np.where(np.isfinite(raw["throttle"]), raw["throttle"], commanded["throttle"])
    table = DriveTable(
        time=time, drive=np.full(len(time), float(number)),
        block=1e5 * number + np.floor((time - time[0]) / BLOCK_S),
        x=raw["x"], y=raw["y"], vx=raw[forward], vy=raw["velocity_y"], yaw_rate=raw["yaw_rate"],
        yaw_acceleration=slope(raw["yaw_rate"]), fx=fx, fy=fy, ax=raw["acceleration_x"],
        az=slope(slope(raw["z"])) - raw["acceleration_x"] * climb - raw["acceleration_y"] * np.sin(bank),
        throttle=throttle, brake=np.where(np.isfinite(raw["brake"]), raw["brake"], commanded["brake"]), boost=throttle,
        throttle_command=pedals["throttle"], brake_command=pedals["brake"], steer=commanded["steer"],
        steer_applied=raw["steer"], wheel_angle=raw["steering_wheel_angle"], gear=gear, gear_age=age,
        engine=raw["engine_speed"],
        engine_power=np.full(len(time), math.nan) if wire.engine_power is None else wire.engine_power[order],
        limiter=raw["max_engine_speed"],
        assisted=np.nan_to_num(np.fmax(raw["abs_active"], raw["tc_active"])), spin=wheels["angular_velocity"],
        load=wheels["load"], slip_ratio=wheels["slip_ratio"], slip_angle=wheels["slip_angle"],
        combined_slip=wheels["combined_slip"], place_x=place_x,
        place_y=place_y,
    )  # fmt: skip
    usual = np.diff(time, prepend=time[0] - step) < longest_step(time)
    good = (
        usual
        & np.isfinite(table.vx)
        & np.isfinite(table.fx)
        & np.isfinite(table.fy)
        & (np.nan_to_num(raw["contact_depth"]) <= 0.0)
        & ~find_impacts(time, raw[forward], raw["acceleration_y"])
        & _find_road_rows(raw, wheels, bounds, None if wire.surface is None else wire.surface[order])
    )
    return table.take(np.flatnonzero(good)[::every])


def longest_step(time: Array) -> float:
    """Return the time (s) between the samples at `time` (n,) beyond which there is a gap."""
    return max(GAP, GAP_STEPS * float(np.median(np.diff(time)))) if len(time) > 1 else GAP


def find_impacts(time: Array, speed: Array, across: Array) -> NDArray[np.bool_]:
    """Return (n,) whether a row is beside an impact on a wall, which slows and turns a car harder than tyres do.

    Args:
        time: (n,) s, rising.
        speed: (n,) m/s.
        across: (n,) m/s^2, acceleration to the left.
    """
    rows = max(round(IMPACT_WINDOW / float(np.median(np.diff(time)))), 1)
    slowed = np.maximum(speed[:-rows] - speed[rows:], 0.0) / (time[rows:] - time[:-rows])
    force = np.hypot(slowed, 0.5 * (across[:-rows] + across[rows:]))
    hard = force[force > 0.5 * LEAST_FORCE]
    if not len(hard):
        return np.zeros(len(time), np.bool_)
    hit = force > IMPACT_SHARE * max(float(np.percentile(hard, PEAK_FORCE)), LEAST_FORCE)
    at = 0.5 * (time[rows:] + time[:-rows])[hit]
    after = np.searchsorted(at, time)
    nearest = np.stack([np.append(at, np.inf)[after], np.append(-np.inf, at)[after]])
    return np.asarray(np.abs(nearest - time).min(axis=0) <= IMPACT_S)


def _mean_command(time: Array, command: Array, every: int, delay: float) -> Array:
    """Return the mean of the commands (n,) that are in force from each row until `every` rows later.

    Args:
        time: (n,) s.
        command: (n,), in force `delay` s after its row, until `delay` s after the next.
        every: rows.
        delay: s.
    """
    if every == 1 and delay == 0.0:
        return command
    step = float(np.median(np.diff(time)))
    edges = np.append(time, time[-1] + step * np.arange(1, every + 1))
    total = np.concatenate([[0.0], np.cumsum(np.nan_to_num(command) * np.diff(edges[: len(time) + 1]))])
    integral = np.interp(edges - delay, edges[: len(time) + 1], total)
    return np.asarray((integral[every:] - integral[:-every]) / (edges[every:] - edges[:-every]))


def _find_road_rows(
    raw: Mapping[str, Array], wheels: Mapping[str, Array], bounds: RoadBounds | None, surface: Array | None
) -> NDArray[np.bool_]:
    """Return whether all wheels are on the road, and were for the last DIRT_S; what is not known counts as on it.

    The road's surface is that under the wheels for most of the drive.
    """
    on_road = ~(wheels["on_track"] < 0.5).any(axis=1)
    if surface is not None and np.isfinite(surface).any():
        values, counts = np.unique(surface[np.isfinite(surface)], return_counts=True)
        on_road &= ~(np.isfinite(surface) & (surface != values[np.argmax(counts)])).any(axis=1)
    if bounds is not None:
        on_road &= find_rows_on_road(raw["x"], raw["y"], bounds)
    time = raw["time"]
    left_at = np.maximum.accumulate(np.where(on_road, -np.inf, time))
    return np.asarray(time - left_at > DIRT_S)


def join_tables(tables: list[DriveTable]) -> DriveTable:
    """Return several drives as one table; each one's time begins some seconds after the end of the one before."""
    shifted, end = [], 0.0
    for table in tables:
        time = table.time - table.time[0] + end
        end = float(time[-1]) + BETWEEN_DRIVES
        shifted.append(replace(table, time=time))
    return DriveTable(**{f.name: np.concatenate([getattr(t, f.name) for t in shifted]) for f in fields(DriveTable)})


_STATE = ("time", "x", "y", "z", "yaw", "roll", "pitch", "speed", "velocity_x", "velocity_y", "acceleration_x",
          "acceleration_y", "yaw_rate", "steer", "steering_wheel_angle", "throttle", "brake", "gear", "engine_speed",
          "max_engine_speed", "abs_active", "tc_active", "contact_depth")  # fmt: skip
_WHEEL = ("angular_velocity", "load", "slip_ratio", "slip_angle", "combined_slip", "on_track", "x", "y", "z")
_COMMANDS = ("steer", "throttle", "brake")
LEARNING_COLUMNS = frozenset((*_STATE, *_COMMANDS, *(f"{wheel}_{name}" for wheel in WHEELS for name in _WHEEL)))


def _stack(state: Mapping[str, Array], name: str, order: Ints | slice) -> Array:
    return np.stack([np.asarray(state[f"{w}_{name}"], np.float64)[order] for w in WHEELS], axis=1)


def _slope_filter(time: Array, step: float) -> Callable[[Array], Array]:
    """Return a function that differentiates columns by local parabolas (Savitzky and Golay, 1964)."""
    reach = max(round(0.5 * FILTER_S / step), 1)
    offsets = np.arange(-reach, reach + 1)
    kernel = offsets / float(np.sum(offsets**2)) / step

    def differentiate(values: Array) -> Array:
        padded = np.concatenate([np.full(reach, values[0]), np.nan_to_num(values), np.full(reach, values[-1])])
        result: Array = np.convolve(padded, kernel[::-1], mode="valid")
        return result

    return differentiate


def _climb(raw: dict[str, Array], time: Array, step: float) -> Array:
    """Return the climb of the path (m/m), 0 where the wire does not tell the height."""
    if not np.isfinite(raw["z"]).all() or not np.isfinite(raw["x"]).all():
        return np.zeros(len(time))
    reach = max(round(0.5 * CLIMB_WINDOW / step), 1)
    after = np.minimum(np.arange(len(time)) + reach, len(time) - 1)
    before = np.maximum(np.arange(len(time)) - reach, 0)
    along = np.hypot(raw["x"][after] - raw["x"][before], raw["y"][after] - raw["y"][before])
    rise = raw["z"][after] - raw["z"][before]
    return np.where(along > 0.5, rise / np.maximum(along, 0.5), 0.0)


def road_bank(raw: Mapping[str, Array], wheels: Mapping[str, Array]) -> Array:
    """Return the bank of the road under the car (rad, right side down), (n,).

    Of the contact points' heights where the wire tells them; else of the body's roll less its own lean, which is found
    from places that were driven at different lateral accelerations; else 0.
    """
    height = wheels["z"]
    if np.isfinite(height).all():
        across = np.hypot(wheels["x"][:, 0] - wheels["x"][:, 1], wheels["y"][:, 0] - wheels["y"][:, 1])
        return np.asarray(np.arctan2(0.5 * (height[:, 0] + height[:, 2] - height[:, 1] - height[:, 3]), across))
    roll, ay = raw["roll"], raw["acceleration_y"]
    if not (np.isfinite(roll).all() and np.isfinite(raw["x"]).all()):
        return np.zeros(len(roll))
    lean = _body_lean(raw)
    return (roll - lean * ay) / (1.0 + lean * G)


def _body_lean(raw: Mapping[str, Array]) -> float:
    """Return the body's roll (rad, right side down) per m/s^2 of force to the left, of places driven more than once."""
    cell = np.floor(raw["x"] / PLACE) * 65536.0 + np.floor(raw["y"] / PLACE)
    _, which = np.unique(cell, return_inverse=True)
    count = np.bincount(which).astype(float)
    ay, roll = raw["acceleration_y"], raw["roll"]
    apart = ay - (np.bincount(which, ay) / count)[which]
    tilt = roll - (np.bincount(which, roll) / count)[which]
    spread = float(apart @ apart)
    if spread / max(len(ay), 1) > 0.25:  # (m/s^2)^2: the same place at clearly different speeds
        lean = float(apart @ tilt) / spread
    else:  # a level road, as far as one can tell
        lean = float(ay @ roll) / max(float(ay @ ay), 1e-9)
    return float(np.clip(lean, 0.0, 0.02))


def _contact_places(raw: dict[str, Array], wheels: dict[str, Array]) -> tuple[Array, Array]:
    dx, dy = wheels["x"] - raw["x"][:, None], wheels["y"] - raw["y"][:, None]
    cos, sin = np.cos(raw["yaw"])[:, None], np.sin(raw["yaw"])[:, None]
    return cos * dx + sin * dy, cos * dy - sin * dx


def _gears(gear: Array, time: Array) -> tuple[Array, Array]:
    known = np.where(np.isfinite(gear), gear, 0.0)
    changed = np.flatnonzero(np.diff(known, prepend=known[:1] - 1.0) != 0.0)
    since = time[changed][np.searchsorted(changed, np.arange(len(time)), side="right") - 1]
    return known, time - since
