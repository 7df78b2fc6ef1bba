"""The tyres of both axles, the steering's gain and the downforce, fitted together in the package's own tyre law.

The motion tells the force of each axle over the car's mass (force and yaw moment of a rigid body) and the flow at each
wheel; the law (`cars/tyre.py`) gives the forces that a set of parameters would make of the same flow. The difference
is fitted. Loads are the wire's where it tells them, else those of a two-track model (Milliken and Milliken, Race Car
Vehicle Dynamics, 1995, chapter 18). What the drive did not excite stays where the class of cars has it.
"""

import math
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from trailbrake.arrays import Array
from trailbrake.cars.axle_forces import load_parameters
from trailbrake.cars.params import CarParams
from trailbrake.cars.tyre import MIN_LOAD_FACTOR
from trailbrake.cars.tyre_fit import magic_formula_curve
from trailbrake.learning.identification.actuator_response import run_actuator
from trailbrake.learning.identification.drive_table import GAP, DriveTable
from trailbrake.learning.identification.robust_fit import Fit, fit_residuals
from trailbrake.units import G

MIN_SPEED, SLOWEST = 5.0, 3.0  # m/s; and where hardly driven or braked: slow wheels' slip is not known well
GENTLE_ALONG = 1.5  # m/s^2
MIN_ROWS = 150
LEAST_ROWS = 1800  # that are spread
SLOW_BAND, SLOW_ROWS = 2.0, 8.0  # m/s: bands in which rows are spread, and the speed from which there is one
FORCE_ERROR, FORCE_SHARE = 0.15, 0.02  # m/s^2, and of the force: what the residuals are measured by
LEAST_SCALE = 0.3  # of these: what the model is wrong by (camber, compliance, roll), however quiet the drive is
LONGITUDINAL_WEIGHT = 0.5
GENTLE_SIDE = 3.0  # m/s^2
MIN_GAIN_ROWS = 15
GAIN_SPREAD = 0.5  # of the logarithm of a gain, about that of gentle driving
USUAL_LOCK = 0.2  # deviation of a lock from that of the class, over it
SLIP_ERROR, SLIP_SHARE = 0.05, 0.1  # of the slip over that of its peak, as the wire supplies it: what it is known to
SLIP_WEIGHT = 0.5  # of a wheel's: four of them are no more than a force
PEAK_SHARE = 98.0  # percentile of what counts as demonstrated


LATEST_DELAY = 0.12  # s, of a steering behind its command
# Full locks per second that steerings reach, any at least the first, and how far they may be off the steer. A slow one
# in a weave does not go as far to the other side as a faster one, and may be back before it.
STEER_RATES, FOLLOWED = (0.85, 1.1, 1.5, 2.5), 0.02
STEER_LAGS = tuple(0.01 * k for k in range(13))  # s, of which the lag of the steering is interpolated
USUAL_STEER_LAG = 0.02  # s, mean and deviation where a wire supplies the command of the steering
STEER_SPEEDS = (5.0, 10.0, 15.0, 22.0, 32.0, 47.0, 70.0)  # m/s, of the gains where a game limits the steer
LIMITED_BELOW = 0.3  # gain of gentle driving at speed, over that of slow driving: no car understeers so much
SLOW = (6.5, 9.0)  # m/s: the first with enough driving below it
FAST = (14.0, 25.0)  # m/s: any beyond which the gain is that low


class P(IntEnum):
    """Parameters of the fit. Those of the rear axle and along are quotients: the axles of a car are alike."""

    STEER = 0  # rad at the road wheels per unit of steer
    STEER_OFFSET = 1  # rad
    MU = 2  # across, front
    MU_REAR = 3  # rear over front
    MU_ALONG = 4  # along over across, front
    MU_ALONG_REAR = 5  # the same of the rear over the front's
    ANGLE = 6  # rad, of the front's peak
    ANGLE_REAR = 7  # rear over front
    RATIO = 8  # slip ratio of the front's peak
    RATIO_REAR = 9  # rear over front
    MU_LOAD = 10
    SHAPE = 11
    CURVATURE = 12
    LIFT = 13  # 1/m, downforce of both axles over mass and speed squared
    LIFT_FRONT = 14  # share of it
    INERTIA = 15  # yaw inertia over that of the class
    RADIUS_FRONT = 16  # over what was found
    RADIUS_REAR = 17
    TOE_FRONT = 18  # rad, by which each wheel is turned inwards; what camber does counts as such
    TOE_REAR = 19
    ROLL_FRONT = 20  # rad per m/s^2 across, by which roll lowers the slip angle: camber thrust and roll steer
    ROLL_REAR = 21
    STEER_1 = 22  # logarithm of the steering's gain at STEER_SPEEDS[1] over that at STEER_SPEEDS[0], and so on
    STEER_2 = 23
    STEER_3 = 24
    STEER_4 = 25
    STEER_5 = 26
    STEER_6 = 27
    STEER_LAG = 28  # s, of the road wheels behind the steer that the wire supplies
    SLIP_LOAD = 29  # relative growth of the peaks' slips per nominal load
    SEEN_LOAD = 30  # share of it that is in the slips over their peaks which the wire supplies
    SEEN_SCALE = 31  # these slips over those of the law


class TyreNumbers(NamedTuple):
    """The numbers of both axles (front, rear) that follow from the parameters of the fit."""

    mu_y: tuple[float, float]
    mu_x: tuple[float, float]
    peak_slip_angle: tuple[float, float]
    peak_slip_ratio: tuple[float, float]
    lift: tuple[float, float]  # 1/m, over mass


def tyre_numbers(p: Array) -> TyreNumbers:
    """Return the numbers of the axles."""
    rear, lift = p[P.MU] * p[P.MU_REAR], p[P.LIFT]
    return TyreNumbers(
        (p[P.MU], rear), (p[P.MU] * p[P.MU_ALONG], rear * p[P.MU_ALONG] * p[P.MU_ALONG_REAR]),
        (p[P.ANGLE], p[P.ANGLE] * p[P.ANGLE_REAR]), (p[P.RATIO], p[P.RATIO] * p[P.RATIO_REAR]),
        (lift * p[P.LIFT_FRONT], lift * (1.0 - p[P.LIFT_FRONT])),
    )  # fmt: skip


def steer_shares(p: Array) -> Array:
    """Return the steering's gain at STEER_SPEEDS over that at the lowest of them."""
    return np.asarray(np.exp(np.concatenate([[0.0], p[P.STEER_1 : P.STEER_6 + 1]])))


@dataclass(frozen=True, eq=False)
class TyreFit:
    """What was found.

    Attributes:
        fit: its values by `P`.
        deviation: (len(P),) of the priors.
        signal: what STEER counts: `wheel_angle` (rad), `steer_applied` or `steer`.
        used_front, used_rear: the most combined slip over its peak that was driven (a high percentile).
        friction: (2,) most lateral force over load that the axles gave.
        limited_steer: whether the steering's gain falls with speed, as games with a pad have it.
        rows: (n, 6) of the plots: slip angle front and rear (rad), lateral force over load front and rear, speed, and
            the force along over weight.
    """

    fit: Fit
    deviation: Array
    signal: str
    used_front: float
    used_rear: float
    friction: tuple[float, float]
    limited_steer: bool
    rows: Array


def steer_signal(table: DriveTable) -> str:
    """Return the column that tells best where the road wheels point."""
    for name in ("wheel_angle", "steer_applied"):
        if np.isfinite(getattr(table, name)).all() and np.ptp(getattr(table, name)) > 0.0:
            return name
    return "steer"


@dataclass(frozen=True, eq=False)
class _Flow:
    """Rows as the fit needs them: n rows of four wheels."""

    table: DriveTable
    u: Array  # (n, 4) m/s, forward at the wheels
    across: Array  # (n, 4) flow angle's tangent, lagged
    steer: Array  # (n,) lagged by the tyres
    delayed: Array  # (n, len(STEER_LAGS)) the same, later by STEER_LAGS

    def take(self, rows: NDArray[np.int64]) -> "_Flow":
        return _Flow(self.table.take(rows), self.u[rows], self.across[rows], self.steer[rows], self.delayed[rows])


def _lag(table: DriveTable, values: Array, length: float) -> Array:
    """Return columns (n, k), lagged by a relaxation length (m)."""
    step = np.diff(table.time, prepend=table.time[0])
    gain = np.where((step > 0.0) & (step < 0.1), 1.0 - np.exp(-step * table.speed / length), 1.0)
    out = values.copy()
    for k in range(1, len(values)):
        out[k] = out[k - 1] + gain[k] * (values[k] - out[k - 1])
    return out


def _make_flow(table: DriveTable, car: CarParams, signal: str) -> _Flow:
    body = car.body
    xs = np.array([body.cg_to_front, body.cg_to_front, -body.cg_to_rear, -body.cg_to_rear])
    ys = 0.5 * np.array([body.track_front, -body.track_front, body.track_rear, -body.track_rear])
    u = table.speed[:, None] - table.yaw_rate[:, None] * ys
    tangent = (table.vy[:, None] + table.yaw_rate[:, None] * xs) / np.maximum(u, 1.0)
    steer = getattr(table, signal)
    delayed = [np.interp(table.time - lag, table.time, steer) for lag in STEER_LAGS]
    lagged = _lag(table, np.column_stack([tangent, *delayed]), car.tyre_front.relaxation_y)
    return _Flow(table, u, lagged[:, :4], lagged[:, 4], lagged[:, 4:])


def _choose_rows(table: DriveTable, signal: str) -> NDArray[np.int64]:
    """Return rows, spread over the forces across and along so that the limit counts as much as the straights.

    Where the wire does not supply the steering wheel's angle, so are the slow ones: they alone tell the lock from the
    slip of the front tyres.
    """
    known = signal == "wheel_angle"
    slowest = np.where(known | (np.abs(table.fx) > GENTLE_ALONG), MIN_SPEED, SLOWEST)
    good = np.flatnonzero(
        (table.vx > slowest) & np.isfinite(table.spin).all(axis=1) & (np.abs(table.vy) < 0.3 * table.vx)
        & _find_followed(table, signal)
    )  # fmt: skip
    if not len(good):
        return good
    key = np.floor(np.abs(table.fy[good]) * 1.5) + 1000.0 * np.floor(table.fx[good] / 1.5)
    if not known:
        key += 1e6 * np.floor(np.minimum(table.vx[good], SLOW_ROWS) / SLOW_BAND)
    order = np.argsort(key, kind="stable")
    _, starts, counts = np.unique(key[order], return_index=True, return_counts=True)
    most = 30
    while most < len(good) and np.minimum(counts, most).sum() < LEAST_ROWS:
        most = int(most * 1.3) + 1
    chosen = [
        order[a : a + c][np.linspace(0, c - 1, min(c, most)).astype(int)] for a, c in zip(starts, counts, strict=True)
    ]
    return np.sort(good[np.concatenate(chosen)])


def _find_followed(table: DriveTable, signal: str) -> NDArray[np.bool_]:
    """Return where the road wheels have surely followed the steer that the wire supplies: (n,).

    A thumb is faster than any steering, by an unknown amount; a steering wheel's angle is where it is.
    """
    if signal == "wheel_angle":
        return np.ones(len(table), np.bool_)
    steer = getattr(table, signal)
    # What is supplied with a row was in force before it.
    drive = np.stack([table.time, np.append(steer[1:], steer[-1]), steer, np.zeros(len(steer))])
    followed, wheels = np.ones(len(steer), np.bool_), np.empty(len(steer))
    for rate in STEER_RATES:
        run_actuator(drive, np.array([0.0, 0.0, rate, 1.0, 0.0]), False, wheels)
        followed &= np.abs(steer - wheels) < FOLLOWED
    lost_at = np.maximum.accumulate(np.where(followed, -np.inf, table.time))
    # Behind a gap it is not known where they are, until they could have turned from one lock to the other.
    gap_at = np.maximum.accumulate(np.where(np.diff(table.time, prepend=-np.inf) > GAP, table.time, -np.inf))
    return np.asarray((table.time - lost_at > LATEST_DELAY) & (table.time - gap_at > 2.0 / STEER_RATES[0]))


def _slip_curve(slip: Array, shape: float, curvature: float, tyre_b: float) -> Array:
    return magic_formula_curve(slip, tyre_b, shape, curvature)


class AxleModel:
    """The forces of both axles over mass, as functions of the parameters of the fit."""

    def __init__(self, flow: _Flow, car: CarParams) -> None:
        self._flow, self._car = flow, car
        self._loads = load_parameters(car)
        self._measured = bool(np.isfinite(flow.table.load).all())
        base, mass = car.body.wheelbase, car.body.mass
        t = flow.table
        self._front_force = (car.body.cg_to_rear * t.fy) / base
        self._rear_force = (car.body.cg_to_front * t.fy) / base
        tracks = 0.5 * np.repeat([car.body.track_front, car.body.track_rear], 2)
        self._sides = tracks * np.array([1.0, -1.0, 1.0, -1.0])  # m, to the left
        self._moment = car.body.yaw_inertia / mass * t.yaw_acceleration / base
        self._ackermann = car.steering.ackermann * 0.5 * car.body.track_front / base
        self._slip = t.combined_slip if np.isfinite(t.combined_slip).all() else None

    def steer_angle(self, p: Array) -> Array:
        """Return (n,) angle of the road wheels, rad."""
        gain = np.interp(self._flow.table.vx, STEER_SPEEDS, np.concatenate([[0.0], p[P.STEER_1 : P.STEER_6 + 1]]))
        place = min(max(float(p[P.STEER_LAG]) / STEER_LAGS[1], 0.0), len(STEER_LAGS) - 1.0)
        low = min(int(place), len(STEER_LAGS) - 2)
        delayed = self._flow.delayed
        steer = delayed[:, low] + (place - low) * (delayed[:, low + 1] - delayed[:, low])
        return np.asarray(p[P.STEER] * np.exp(gain) * steer + p[P.STEER_OFFSET])

    def loads(self, p: Array) -> Array:
        """Return (n, 4) loads over mass, m/s^2."""
        t, n = self._flow.table, self._loads
        if self._measured:
            return np.asarray(t.load / self._car.body.mass)
        to_rear = n.wheelbase - n.cg_to_front
        pitch = t.fx * n.cg_height / n.wheelbase
        lift = tyre_numbers(p).lift
        front = G * to_rear / n.wheelbase + lift[0] * t.vx**2 - pitch
        rear = G * n.cg_to_front / n.wheelbase + lift[1] * t.vx**2 + pitch
        arm = n.cg_height - (n.roll_centre_front * to_rear + n.roll_centre_rear * n.cg_to_front) / n.wheelbase
        share = n.roll_stiffness_front_share
        side_f = t.fy * (to_rear / n.wheelbase * n.roll_centre_front + share * arm) / n.track_front
        side_r = t.fy * (n.cg_to_front / n.wheelbase * n.roll_centre_rear + (1.0 - share) * arm) / n.track_rear
        loads = np.column_stack([0.5 * front - side_f, 0.5 * front + side_f, 0.5 * rear - side_r, 0.5 * rear + side_r])
        return np.maximum(loads, 0.0)

    def forces(self, p: Array) -> tuple[Array, Array, Array, Array]:
        """Return forces over mass of the body: across at the front and rear, along in all; and (n, 4) combined slip.

        Those across are as the motion tells them: the yaw moment of the forces along counts as a pair of them.
        """
        t, car = self._flow.table, self._car
        loads = self.loads(p)
        delta = self.steer_angle(p)
        apart = self._ackermann * delta**2  # the inner wheel is turned further
        roll_front, roll_rear = -p[P.ROLL_FRONT] * t.fy, -p[P.ROLL_REAR] * t.fy
        toe = np.array([-p[P.TOE_FRONT], p[P.TOE_FRONT], -p[P.TOE_REAR], p[P.TOE_REAR]])
        angles = toe + np.column_stack([delta + apart + roll_front, delta - apart + roll_front, roll_rear, roll_rear])
        flow = np.arctan(self._flow.across) - angles
        tangent = np.tan(np.clip(flow, -1.2, 1.2))
        # Speed along the wheel's own plane.
        along = self._flow.u * (np.cos(angles) + self._flow.across * np.sin(angles))
        radius = np.array(
            [car.tyre_front.radius * p[P.RADIUS_FRONT]] * 2 + [car.tyre_rear.radius * p[P.RADIUS_REAR]] * 2
        )
        ratio = t.spin * radius / np.maximum(along, 1.0) - 1.0
        numbers = tyre_numbers(p)
        tyre = replace(car.tyre_front, shape=float(p[P.SHAPE]), curvature=float(p[P.CURVATURE]))
        nominal = np.array([car.tyre_front.nominal_load] * 2 + [car.tyre_rear.nominal_load] * 2) / car.body.mass
        more = loads / nominal - 1.0
        least, most = MIN_LOAD_FACTOR, 2.0 - MIN_LOAD_FACTOR
        per_peak = self._per_peak(p, loads)
        sx = ratio / np.repeat(numbers.peak_slip_ratio, 2) * per_peak
        sy = tangent / np.tan(np.repeat(numbers.peak_slip_angle, 2)) * per_peak
        slip = np.sqrt(sx**2 + sy**2 + 1e-18)
        share = _slip_curve(slip, tyre.shape, tyre.curvature, tyre.stiffness_factor) * loads / slip
        falling = np.clip(1.0 - p[P.MU_LOAD] * more, least, most)
        fx = np.repeat(numbers.mu_x, 2) * falling * share * sx
        fy = -np.repeat(numbers.mu_y, 2) * falling * share * sy
        body_x = fx * np.cos(angles) - fy * np.sin(angles)
        body_y = fx * np.sin(angles) + fy * np.cos(angles)
        # The steered outer wheel, which carries most, drags most: that turns the car out of the bend.
        twist = -(body_x * self._sides).sum(axis=1) / car.body.wheelbase
        return body_y[:, 0] + body_y[:, 1] + twist, body_y[:, 2] + body_y[:, 3] - twist, body_x.sum(axis=1), slip

    def measured(self, p: Array) -> tuple[Array, Array, Array]:
        """Return the same forces as the motion tells them."""
        t, car = self._flow.table, self._car
        moment = self._moment * p[P.INERTIA]
        air = 0.5 * car.aero.air_density * car.aero.drag_area / car.body.mass * t.vx**2
        return self._front_force + moment, self._rear_force - moment, t.fx + air

    def _seen_slips(self, p: Array, slip: Array) -> Array:
        """Return the combined slips (n, 4) as the wire supplies them, of those of the law.

        Some games measure them by peaks that know the load on the tyre, others by peaks that are fixed.
        """
        return np.asarray(p[P.SEEN_SCALE] * slip * self._per_peak(p, self.loads(p)) ** (p[P.SEEN_LOAD] - 1.0))

    def _per_peak(self, p: Array, loads: Array) -> Array:
        """Return (n, 4) one over the growth of the peaks' slips by the loads over mass (n, 4)."""
        car = self._car
        nominal = np.array([car.tyre_front.nominal_load] * 2 + [car.tyre_rear.nominal_load] * 2) / car.body.mass
        more = loads / nominal - 1.0
        return np.asarray(np.clip(1.0 - p[P.SLIP_LOAD] * more, MIN_LOAD_FACTOR, 2.0 - MIN_LOAD_FACTOR))

    def residuals(self, p: Array) -> Array:
        """Return (3 n,) differences over the error that a force has; (7 n,) where the wire supplies combined slips."""
        model, applied = self.forces(p), self.measured(p)
        weights = (1.0, 1.0, LONGITUDINAL_WEIGHT)
        parts = [
            w * (m - f) / (FORCE_ERROR + FORCE_SHARE * np.abs(f))
            for m, f, w in zip(model[:3], applied, weights, strict=True)
        ]
        if self._slip is not None:
            seen = self._seen_slips(p, model[3])
            apart = SLIP_WEIGHT * (seen - self._slip) / (SLIP_ERROR + SLIP_SHARE * self._slip)
            parts += list(apart.T)
        return np.concatenate(parts)


def find_tyres(table: DriveTable, car: CarParams, *, known_lift: bool) -> TyreFit | None:
    """Return the tyres of the car of a drive; None where too little was driven.

    Args:
        table: the drive.
        car: what is known of the car: geometry, radii and loads found before, the rest of its class.
        known_lift: whether the car's downforce was found already.
    """
    signal = steer_signal(table)
    if len(table) < MIN_ROWS:
        return None
    flow = _make_flow(table, car, signal)
    falling = _falling_gain(flow, car) if signal != "wheel_angle" else None
    slow_gain = _slow_gain(flow, car)
    rows = _choose_rows(table, signal)
    if len(rows) < MIN_ROWS:
        return None
    flow = flow.take(rows)
    model = AxleModel(flow, car)
    mean, deviation, limits = _priors(car, signal, known_lift=known_lift)
    if falling is not None:
        mean[P.STEER_1 : P.STEER_6 + 1], deviation[P.STEER_1 : P.STEER_6 + 1] = falling, GAIN_SPREAD
    if falling is not None and math.isnan(slow_gain):  # what is driven fast shows no lock
        slow_gain, deviation[P.STEER] = mean[P.STEER], USUAL_LOCK * mean[P.STEER]
    start = mean.copy()
    start[P.STEER] = slow_gain if falling is not None else _kinematic_gain(flow, car, mean[P.STEER], math.inf)
    blocks = np.tile(flow.table.blocks, len(model.residuals(start)) // len(flow.table))
    fit = fit_residuals(model.residuals, start, (mean, deviation), blocks, limits=limits, least_scale=LEAST_SCALE)
    _, _, _, slip = model.forces(fit.value)
    loads = model.loads(fit.value)
    front, rear, _ = model.measured(fit.value)
    use = np.column_stack([front / loads[:, :2].sum(axis=1).clip(0.5), rear / loads[:, 2:].sum(axis=1).clip(0.5)])
    used = [float(np.percentile(slip[:, k : k + 2].max(axis=1), PEAK_SHARE)) for k in (0, 2)]
    friction = tuple(float(np.percentile(np.abs(use[:, k]), PEAK_SHARE)) for k in (0, 1))
    delta = model.steer_angle(fit.value)
    plot = np.column_stack([
        np.arctan(flow.across[:, :2].mean(axis=1)) - delta, np.arctan(flow.across[:, 2:].mean(axis=1)), use,
        flow.table.vx, flow.table.fx / G,
    ])  # fmt: skip
    return TyreFit(fit, deviation, signal, used[0], used[1], (friction[0], friction[1]), falling is not None, plot)


def _falling_gain(flow: _Flow, car: CarParams) -> Array | None:
    """Return the logarithms of the gain at STEER_SPEEDS[1:] over the lowest, where it falls more than a car's can.

    They are those of the curvature of gentle driving, held level where nothing was driven. None: it does not fall so.
    """
    t = flow.table
    slow = _slow_gain(flow, car)
    if math.isnan(slow):
        slow = car.steering.max_angle
    gentle = (np.abs(t.fy) < GENTLE_SIDE) & (np.abs(flow.steer) > 0.01)
    ratio = car.body.wheelbase * t.yaw_rate / t.speed / np.where(np.abs(flow.steer) > 0.01, flow.steer, np.nan) / slow
    fast = [gentle & (t.vx > speed) for speed in FAST]
    if not any(rows.sum() >= MIN_GAIN_ROWS and np.median(ratio[rows]) < LIMITED_BELOW for rows in fast):
        return None
    gentle &= ratio > 0.0
    edges = np.sqrt(np.array(STEER_SPEEDS[:-1]) * np.array(STEER_SPEEDS[1:]))
    place = np.searchsorted(edges, t.vx)
    gains, last = [], 0.0
    for k in range(1, len(STEER_SPEEDS)):
        rows = gentle & (place == k)
        last = min(float(np.log(np.median(ratio[rows]))), 0.0) if rows.sum() >= MIN_GAIN_ROWS else last
        gains.append(last)
    return np.array(gains)


def _slow_gain(flow: _Flow, car: CarParams) -> float:
    """Return the gain of the steering by the curvature of slow, gentle driving; NaN where there was too little."""
    gains = [_kinematic_gain(flow, car, math.nan, fastest) for fastest in SLOW]
    return next((gain for gain in gains if math.isfinite(gain)), math.nan)


def _kinematic_gain(flow: _Flow, car: CarParams, usual: float, fastest: float) -> float:
    """Return the gain of the steering by the curvature of gentle driving up to `fastest` (m/s), to begin with."""
    t = flow.table
    gentle = (np.abs(t.fy) < GENTLE_SIDE) & (np.abs(flow.steer) > 1e-3) & (t.vx < fastest)
    if gentle.sum() < 20:
        return usual
    wanted = car.body.wheelbase * t.yaw_rate[gentle] / t.speed[gentle]
    steer = flow.steer[gentle]
    gain = float(steer @ wanted) / max(float(steer @ steer), 1e-12)
    return usual if gain < 0.1 * usual or gain <= 0.0 else gain


def _priors(car: CarParams, signal: str, *, known_lift: bool) -> tuple[Array, Array, tuple[Array, Array]]:
    front, mass = car.tyre_front, car.body.mass
    half = 0.5 * car.aero.air_density / mass
    gain = 1.0 / car.steering.ratio if signal == "wheel_angle" else car.steering.max_angle
    lift = (half * car.aero.lift_area_front, half * car.aero.lift_area_rear)
    spread = 1e-9 if known_lift else max(0.6 * sum(lift), 2e-4)
    # Where it is not known, the air presses on the axles about as the weight does.
    share = lift[0] / sum(lift) if known_lift and sum(lift) > 0.0 else car.body.front_share - 0.02
    # By parameter: mean, deviation, least, most.
    table: dict[P, tuple[float, float, float, float]] = {
        P.STEER: (gain, math.inf, 0.02 * gain, 50.0 * gain),
        P.STEER_OFFSET: (0.0, 0.003, -0.03, 0.03),
        P.MU: (front.mu_y, 0.5, 0.2, 4.0),
        P.MU_REAR: (1.02, 0.06, 0.5, 2.0),
        P.MU_ALONG: (1.03, 0.06, 0.5, 2.0),
        P.MU_ALONG_REAR: (1.0, 0.03, 0.7, 1.4),
        P.ANGLE: (front.peak_slip_angle, 0.04, 0.03, 0.4),
        P.ANGLE_REAR: (0.97, 0.1, 0.5, 2.0),
        P.RATIO: (front.peak_slip_ratio, 0.03, 0.03, 0.3),
        P.RATIO_REAR: (1.0, 0.1, 0.5, 2.0),
        P.MU_LOAD: (front.mu_y_load, 0.03, 0.0, 0.4),
        P.SHAPE: (front.shape, 0.08, 1.05, 1.95),
        P.CURVATURE: (front.curvature, 0.3, -3.0, 0.9),
        P.LIFT: (sum(lift), spread, sum(lift) - 1.0 if known_lift else -2e-4, 0.1),
        P.LIFT_FRONT: (share, 1e-6 if known_lift else 0.05, 0.0, 1.0),
        P.INERTIA: (1.0, 0.5, 0.1, 2.0),
        P.RADIUS_FRONT: (1.0, 0.002, 0.97, 1.03),
        P.RADIUS_REAR: (1.0, 0.002, 0.97, 1.03),
        P.TOE_FRONT: (0.0, 0.004, -0.03, 0.03),
        P.TOE_REAR: (0.002, 0.004, -0.03, 0.03),
        # A wider prior takes the bend of the tyres' curve: its peak was found at a third too large a slip angle.
        P.ROLL_FRONT: (0.0, 0.0001, -0.004, 0.004),
        P.ROLL_REAR: (0.0, 0.0001, -0.004, 0.004),
        **{p: (0.0, 1e-9, -6.0, 1.0) for p in P if P.STEER_1 <= p <= P.STEER_6},
        # What a wire supplies of the steering wheel is where it is; what it supplies of a pad is where the thumb is.
        P.SLIP_LOAD: (front.slip_load, 0.08, -0.3, 0.4),
        P.SEEN_LOAD: (0.5, 2.0, 0.0, 1.0),
        P.SEEN_SCALE: (1.0, 0.05, 0.7, 1.4),
        P.STEER_LAG: (0.0, 0.003, 0.0, STEER_LAGS[-1])
        if signal == "wheel_angle"
        else (USUAL_STEER_LAG, USUAL_STEER_LAG, 0.0, STEER_LAGS[-1]),
    }
    columns = np.array([table[p] for p in P])
    return columns[:, 0], columns[:, 1], (columns[:, 2], columns[:, 3])
