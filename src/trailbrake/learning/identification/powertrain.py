"""Drive force over engine speed and gear, engine braking, air drag and rolling resistance, all over the car's mass.

Along a straight the force of the tyres and the air over mass is linear in the unknowns: torque at the knots of the
engine's curve, drag torque, air, rolling, inertia of the engine. Rows in many gears, speeds and pedals separate them.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trailbrake.arrays import Array
from trailbrake.cars.params import CarParams, Tyre
from trailbrake.learning.identification.drive_table import DriveTable
from trailbrake.learning.identification.robust_fit import Fit, fit_linear
from trailbrake.units import RPM, G

KNOTS = 12  # of the torque curve
STRAIGHT_SIDE = 1.5  # m/s^2: beyond it side forces of the steered wheels slow the car, ...
BEND_SIDE = 5.0  # ... by a few percent of its pull up to here: less than the engine of the class is wrong by
MAX_SLIP = 0.06  # of the driven wheels
MAX_DRIVE_SLIP = 0.045  # of them at full throttle: beyond it traction control or the tyres may hold the engine back
MAX_COMBINED_SLIP = 0.7  # over that of the peak, in place of it where the wire supplies it
IDLE_MARGIN = 1.3  # engine speed over idle from which the pedal alone commands it ...
LIMITER_MARGIN = 0.99  # ... up to this share of the limiter's
LEAST_INERTIA = 0.3  # of the engine, over that of the class
USUAL_BRAKES = 12.0  # m/s^2 at full pedal
MIN_BRAKE, BRAKE_STEADY_S, MAX_BRAKE_SLIP = 0.05, 0.08, 0.05
FORCE_ERROR, FORCE_SHARE = 0.05, 0.01  # m/s^2, and of the force: what the model itself is wrong by
BRAKE_SHARE = 0.03  # the same under braking: brakes get hot
MOST_DOUBT = 0.3  # standard deviation of a knot's torque over itself, beyond which it was not learned
STEADY_S = 0.5  # of the pedal: turbochargers lag
PART_STEADY_S = 0.15  # of it, below the engine speeds at which full throttle was held
SMOOTHNESS = 0.15  # of the typical torque: second difference of neighbouring knots (a prior)
MIN_ROWS = 150
FULL_THROTTLE, SHUT_THROTTLE = 0.95, 0.03
BOOSTED = 75.0  # percentile of the torques by part throttle, where nothing is known of a turbocharger: they lag
LEAST_PART_ROWS = 8  # near a knot, from which part throttle tells its torque
PART_ERROR = 0.15  # relative, of torque by part throttle alone: throttle maps, and boost that does not come
LOWEST = 2.0  # percentile of the engine speeds that counts as the lowest
NEAR = 10.0  # rad/s beyond the ends of a torque curve in which it counts
MIN_PULL = 0.2  # throttle that counts as having driven at an engine speed
DRIVING_THROTTLE = 0.12  # above it the engine drives the car in most of its range
DRIVE_FLOOR, DRAG_FLOOR = 0.01, 0.03  # relative, of the method


@dataclass(frozen=True, eq=False)
class Powertrain:
    """What was found, over the mass of the car.

    Attributes:
        speeds: (KNOTS,) rad/s, of the engine.
        torque, torque_sigma: (KNOTS,) N m/kg at full throttle, before the gearbox's efficiency.
        covered: (KNOTS,) whether full throttle was driven near the knot.
        drag_idle, drag_limiter: N m/kg, engine braking at the first and the last knot.
        drag_sigma: N m/kg, of them.
        air: 1/m, air drag over mass and speed squared.
        rolling: 1.
        engine_inertia: m^2, over mass.
        fit: of (KNOTS + 5) unknowns in the order of these attributes.
        rows: how many rows there were, at full throttle and coasting.
    """

    speeds: Array
    torque: Array
    torque_sigma: Array
    covered: NDArray[np.bool_]
    drag_idle: float
    drag_limiter: float
    drag_sigma: float
    air: tuple[float, float]
    rolling: tuple[float, float]
    engine_inertia: tuple[float, float]
    fit: Fit
    rows: tuple[int, int]


class TorqueCurve(NamedTuple):
    """What the power of the engine tells, over the mass of the car (`engine_power.py`).

    Attributes:
        speeds: (k,) rad/s, rising.
        torque: (k,) N m/kg at full throttle at these speeds, before the gearbox's loss as the class has it.
        sigma: (k,) relative standard deviations.
        inertia: m^2, of the engine over the mass, and its standard deviation.
    """

    speeds: Array
    torque: Array
    sigma: Array
    inertia: tuple[float, float]


def pedal_rows(table: DriveTable, car: CarParams, side: float = STRAIGHT_SIDE) -> NDArray[np.bool_]:
    """Return the rows in which the car rolls in gear, its clutch closed and its tyres far from their limit.

    Args:
        table: the drive.
        car: what is known of it.
        side: m/s^2 across, below which it rolls straight.
    """
    gears = car.gearbox.top_gear
    driven = driven_speed(table, car)
    slip = np.abs(driven / table.speed - 1.0)
    ratio = overall_ratios(table, car)
    closed = np.abs(table.engine / np.maximum(ratio * driven / car.driven_radius, 1.0) - 1.0) < 0.03
    return (
        (table.gear >= 1) & (table.gear <= gears) & (table.gear_age > 0.4) & (np.abs(table.fy) < side)
        & (table.vx > 3.0) & (slip < MAX_SLIP) & closed & (table.assisted < 0.5)
    )  # fmt: skip


def driven_speed(table: DriveTable, car: CarParams) -> Array:
    """Return the speed of the driven tyres over their axles, m/s (n,)."""
    front = car.drive.front_share
    speed: Array = front * table.spin[:, :2].mean(axis=1) * car.tyre_front.radius
    speed = speed + (1.0 - front) * table.spin[:, 2:].mean(axis=1) * car.tyre_rear.radius
    return speed


def overall_ratios(table: DriveTable, car: CarParams) -> Array:
    """Return the ratio from the engine to the driven wheels in each row (n,); 0 without a gear."""
    ratios = np.array([0.0] + [car.gearbox.overall_ratio(g) for g in range(1, car.gearbox.top_gear + 1)])
    return np.asarray(ratios[np.clip(table.gear, 0, car.gearbox.top_gear).astype(int)])


def drive_matrix(table: DriveTable, car: CarParams, speeds: Array) -> Array:
    """Return the (n, KNOTS + 5) matrix that gives the force over mass (m/s^2) of the unknowns of `Powertrain`.

    Args:
        table: of rows as `pedal_rows`.
        car: gears, radii, efficiency, the wheels' inertia over mass, and the share of the torque that is boost's.
        speeds: (KNOTS,) rad/s.
    """
    lever = overall_ratios(table, car) / car.driven_radius
    place = np.clip((table.engine - speeds[0]) / (speeds[1] - speeds[0]), 0.0, len(speeds) - 1.0)
    low = np.minimum(place.astype(int), len(speeds) - 2)
    share = place - low
    matrix = np.zeros((len(table), len(speeds) + 5))
    boosted = 1.0 - car.engine.turbo_share * (1.0 - table.boost)
    pull = table.throttle * boosted * lever * car.gearbox.efficiency
    rows = np.arange(len(table))
    matrix[rows, low] = pull * (1.0 - share)
    matrix[rows, low + 1] = pull * share
    # The gearbox loses a share of what goes through it, whichever way: at part throttle the engine still drives.
    loss = np.where(table.throttle > DRIVING_THROTTLE, car.gearbox.efficiency, 1.0 / car.gearbox.efficiency)
    hold = (1.0 - table.throttle) * lever * loss
    along = place / (len(speeds) - 1.0)
    matrix[:, -5], matrix[:, -4] = -hold * (1.0 - along), -hold * along
    matrix[:, -3] = -(table.vx**2)
    lift = 0.5 * car.aero.air_density * (car.aero.lift_area_front + car.aero.lift_area_rear) / car.body.mass
    matrix[:, -2] = -(G + lift * table.vx**2)
    matrix[:, -1] = -(lever**2) * table.ax
    return matrix


def make_prior(car: CarParams) -> tuple[Array, Array]:
    """Return mean and standard deviation (KNOTS + 5,) of the unknowns of the drive matrix for a car of the class."""
    mass, engine = car.body.mass, car.engine
    usual, drag_area = max(engine.torque) / mass, 0.5 * car.aero.air_density * car.aero.drag_area
    mean = np.concatenate([
        np.full(KNOTS, usual),
        [engine.braking_torque_idle / mass, engine.braking_torque_limiter / mass, drag_area / mass,
         car.tyre_front.rolling_resistance, engine.inertia / mass],
    ])  # fmt: skip
    return mean, np.concatenate([np.full(KNOTS, 2.0 * usual), mean[KNOTS : KNOTS + 3], [0.007, 0.7 * mean[-1]]])


def make_smoothness(car: CarParams, repeats: float) -> Array:
    """Return (KNOTS - 2, KNOTS + 5) rows of the drive matrix that smooth the torque curve.

    Args:
        car: of the class.
        repeats: root of the number of rows in a block of time, of which each row here counts as one.
    """
    usual = max(car.engine.torque) / car.body.mass
    smooth = np.zeros((KNOTS - 2, KNOTS + 5))
    for k in range(KNOTS - 2):
        smooth[k, k : k + 3] = repeats * np.array([1.0, -2.0, 1.0]) / (SMOOTHNESS * usual)
    return smooth


def estimate_force_error(table: DriveTable, force: Array) -> Array:
    """Return what the model of a force over mass (n,) is itself wrong by, m/s^2 (n,)."""
    return np.asarray(FORCE_ERROR + np.where(table.brake > MIN_BRAKE, BRAKE_SHARE, FORCE_SHARE) * np.abs(force))


def wheel_inertia_share(car: CarParams) -> float:
    """Return the inertia of the wheels as a share of the car's mass."""
    return axle_inertia_share(car, car.tyre_front) + axle_inertia_share(car, car.tyre_rear)


def axle_inertia_share(car: CarParams, tyre: Tyre) -> float:
    """Return the inertia of two wheels with a tyre as a share of the car's mass."""
    return 2.0 * tyre.inertia / tyre.radius**2 / car.body.mass


def _choose_rows(table: DriveTable, car: CarParams, side: float) -> NDArray[np.bool_]:
    """Return the rows that tell the powertrain: at full throttle and coasting, if the tyres carry the whole of it.

    Part throttle is left out: turbochargers and throttle maps make it something else than a share of the whole. But
    where traction control or the tyres hold the engine back at full throttle, it is all that there is.
    """
    pedal = find_pedal_rows(table, car, side)
    steady = pedal & table.steady(table.throttle, STEADY_S, 0.04)
    if steady.sum() < MIN_ROWS:  # a road on which no pedal is held for long
        steady = pedal & table.steady(table.throttle, PART_STEADY_S, 0.04)
    free = steady & (find_free_rows(table, car) | (table.throttle < MIN_PULL))
    full, shut = table.throttle > FULL_THROTTLE, table.throttle < SHUT_THROTTLE
    enough = MIN_ROWS // 3
    if (free & full).sum() > enough:
        return free & (full | shut)
    if (free & (table.throttle > MIN_PULL)).sum() > enough:
        return free
    return steady


def find_pedal_rows(table: DriveTable, car: CarParams, side: float = STRAIGHT_SIDE) -> NDArray[np.bool_]:
    """Return the rows without brakes in which the pedal alone commands the engine, of those of `pedal_rows`.

    Near idle the engine's own control drives, and automatic clutches begin to slip; at the limiter it is cut.
    """
    low, high = IDLE_MARGIN * car.engine.idle_rpm, LIMITER_MARGIN * car.engine.limiter_rpm
    rpm = table.engine / RPM
    return np.asarray(pedal_rows(table, car, side) & (table.brake < 0.01) & (rpm > low) & (rpm < high))


def _find_part_torque(table: DriveTable, car: CarParams, speeds: Array, unknowns: Array) -> tuple[Array, Array]:
    """Return the engine speeds (rad/s) below those that full throttle held at, and the torque there by part throttle.

    It is in N m/kg, at full throttle as far as a throttle is proportional.

    Args:
        table: the drive.
        car: what is known of it.
        speeds: (KNOTS,) rad/s.
        unknowns: (KNOTS + 5,) of the drive matrix, found without part throttle.
    """
    held = find_pedal_rows(table, car) & find_free_rows(table, car)
    full = held & (table.throttle > FULL_THROTTLE) & table.steady(table.throttle, STEADY_S, 0.04)
    part = held & (table.throttle > MIN_PULL) & table.steady(table.throttle, PART_STEADY_S, 0.04)
    if full.sum() <= MIN_ROWS // 3:
        return np.zeros(0), np.zeros(0)
    t = table.take(part & (table.engine < np.percentile(table.engine[full], LOWEST)))
    matrix = drive_matrix(t, car, speeds)
    pulled = t.fx + wheel_inertia_share(car) * t.ax - matrix[:, KNOTS:] @ unknowns[KNOTS:]
    return t.engine, pulled / np.maximum(matrix[:, :KNOTS].sum(axis=1), 1e-9)


def find_free_rows(table: DriveTable, car: CarParams) -> NDArray[np.bool_]:
    """Return where neither traction control nor the tyres can hold the engine back (n,)."""
    combined = table.combined_slip
    if not np.isfinite(combined).all():
        return np.asarray(np.abs(driven_speed(table, car) / table.speed - 1.0) < MAX_DRIVE_SLIP)
    driven = np.array([car.drive.front_share > 0.0] * 2 + [car.drive.front_share < 1.0] * 2)
    return np.asarray(combined[:, driven].max(axis=1) < MAX_COMBINED_SLIP)


def _choose_braking_rows(table: DriveTable, car: CarParams) -> NDArray[np.bool_]:
    """Return the rows of steady braking far from the tyres' limit: over many speeds they tell the air drag."""
    slow = np.full(len(table), np.inf)
    for axle, radius in ((slice(0, 2), car.tyre_front.radius), (slice(2, 4), car.tyre_rear.radius)):
        slow = np.minimum(slow, table.spin[:, axle].min(axis=1) * radius / table.speed - 1.0)
    return np.asarray(
        pedal_rows(table, car) & (table.brake > MIN_BRAKE) & table.steady(table.brake, BRAKE_STEADY_S, 0.06)
        & (table.throttle < SHUT_THROTTLE) & (slow > -MAX_BRAKE_SLIP)
    )  # fmt: skip


def find_powertrain(table: DriveTable, car: CarParams, curve: TorqueCurve | None = None) -> Powertrain | None:
    """Return the powertrain of the car of a drive; None where too little was driven in straights and gentle bends.

    Args:
        table: the drive.
        car: what is known of it: gears and radii found before, the rest of its class.
        curve: the torque by the engine's power; None: the wire supplies none.
    """
    rows = _choose_rows(table, car, STRAIGHT_SIDE)
    if rows.sum() < MIN_ROWS:
        rows = _choose_rows(table, car, BEND_SIDE)
    if rows.sum() < MIN_ROWS:
        return None
    rows |= _choose_braking_rows(table, car)
    t = table.take(rows)
    low, high = np.percentile(t.engine, [0.5, 99.5])
    known = np.zeros(0, np.int64)
    if curve is not None:
        low, high = min(low, curve.speeds[0]), max(high, curve.speeds[-1])
    speeds = np.linspace(max(low, 1.0), max(high, low + 10.0), KNOTS)
    matrix = drive_matrix(t, car, speeds)
    target = t.fx + wheel_inertia_share(car) * t.ax
    mean, deviation = make_prior(car)
    if curve is not None:
        known = np.flatnonzero((speeds > curve.speeds[0] - NEAR) & (speeds < curve.speeds[-1] + NEAR))
        mean[known] = np.interp(speeds[known], curve.speeds, curve.torque)
        deviation[known] = np.interp(speeds[known], curve.speeds, curve.sigma) * mean[known]
        mean[-1], deviation[-1] = curve.inertia
    smooth = make_smoothness(car, np.sqrt(len(t) / len(np.unique(t.blocks))))
    blocks = np.concatenate([t.blocks, -1 - np.arange(KNOTS - 2)])
    error = estimate_force_error(t, target)
    # An engine without inertia, or a negative one, would explain coasting and pulls in few gears as well.
    least = np.append(np.zeros(KNOTS + 4), [LEAST_INERTIA * mean[-1], 0.0])
    # The last unknown is the force of the brakes at full pedal.
    braked = np.vstack([np.column_stack([matrix, -t.brake]) / error[:, None], np.pad(smooth, ((0, 0), (0, 1)))])
    fit = fit_linear(
        braked, np.concatenate([target / error, np.zeros(KNOTS - 2)]),
        (np.append(mean, USUAL_BRAKES), np.append(deviation, 5.0 * USUAL_BRAKES)), blocks, least_scale=1.0,
        limits=(least, np.full(KNOTS + 6, np.inf)),
    )  # fmt: skip
    fit = replace(fit, value=fit.value[:-1], sigma=fit.sigma[:-1], covariance=fit.covariance[:-1, :-1])
    driven = t.engine[t.throttle > MIN_PULL]
    gap = speeds[1] - speeds[0]
    v, s = fit.value.copy(), fit.sigma.copy()
    if curve is None:
        at, torque = _find_part_torque(table, car, speeds, v)
        for knot in np.flatnonzero(speeds < at.max(initial=0.0)):
            near = torque[np.abs(at - speeds[knot]) < 0.5 * gap]
            if len(near) >= LEAST_PART_ROWS:
                v[knot] = max(float(np.percentile(near, 50.0 if car.engine.turbo_share > 0.0 else BOOSTED)), 0.0)
                s[knot] = PART_ERROR * v[knot]
                known = np.append(known, knot)
    covered = np.array([np.sum(np.abs(driven - at) < 0.75 * gap) > 5 for at in speeds])
    covered[known] = True
    covered &= s[:KNOTS] < MOST_DOUBT * v[:KNOTS]
    return Powertrain(
        speeds, v[:KNOTS], np.hypot(s[:KNOTS], DRIVE_FLOOR * v[:KNOTS]), covered, max(v[KNOTS], 0.0),
        max(v[KNOTS + 1], 0.0), float(np.hypot(s[KNOTS], s[KNOTS + 1])),
        (v[-3], float(np.hypot(s[-3], DRAG_FLOOR * v[-3]))),
        (max(v[-2], 0.0), s[-2]), (v[-1], s[-1]), fit, (int((t.throttle > 0.9).sum()), int((t.throttle < 0.05).sum())),
    )  # fmt: skip
