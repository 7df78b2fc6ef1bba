"""How sure a learned car's figures are, and how much of its grip a plan may use.

The deviations of the tyres' fit are carried through the planner's limits along the axes of its covariance; what the
method itself may be wrong by is added. A plan that believes in a little too much grip stays on the road, one that
believes in a tenth too much leaves it (docs/decisions/0029): the grip of a car file is lowered until the first is as
good as certain.
"""

import math
from collections.abc import Callable, Mapping

import numpy as np

from trailbrake.arrays import Array
from trailbrake.cars.ggv_envelope import compute_figures
from trailbrake.cars.learned import Uncertainty
from trailbrake.cars.params import CarParams
from trailbrake.learning.identification.braking import split_brakes
from trailbrake.learning.identification.learned_value import LearnedValue
from trailbrake.learning.identification.powertrain import Powertrain
from trailbrake.learning.identification.robust_fit import Fit
from trailbrake.learning.identification.tyre_forces import PEAK_SHARE
from trailbrake.units import NORMAL_95, G

LATERAL_FLOOR, BRAKING_FLOOR = 0.03, 0.035  # relative: camber, heat and the suspension of the class
DRIVE_FLOOR, UNSEEN_DRIVE = 0.015, 0.15  # relative: of what was driven, and of engine speeds and gears that were not
UNKNOWN_DRIVE = 0.4  # of the class of cars: what is fitted is no more doubtful
LEAST_PULLS = 50  # rows at full throttle, below which ...
PART_THROTTLE_DRIVE = 0.15  # ... part throttle stands for it: traction control and throttle maps bend that, relative
DOWNFORCE_FLOOR = 0.03  # of the weight
UNLEARNED_GRIP = 0.12  # relative, of the limits of tyres that are all of the class of cars
TOLERATED = 0.05  # of the grip that a plan may believe in too much
BRAKING_GRIP = 0.6  # share of the doubt of braking that counts for all grip: laps brake in a straight line for short
DOWNFORCE_GRIP = 0.4  # relative grip at 50 m/s per downforce over the weight, of a car that lives on it
HARD_SHARE, HARD_SPEEDS = 0.6, (10.0, 90.0)  # of the most side force, in bends driven hard; percentiles of their speeds
GRIP_ERROR = 0.04  # relative, of the grip in fast bends over that in slow ones
BRAKES_KEY = "brakes.force_over_mass"
UNLEARNED_SPLIT = 0.15  # of the brakes, of the class of cars
LIFT_KEYS = ("aero.lift_area_front", "aero.lift_area_rear")
LEAST_SHARE = 0.6  # of the grip that was found, that is planned with at least


def find_uncertainty(
    car: CarParams,
    fit: Fit | None,
    tyres_of: Callable[[CarParams, Array], CarParams],
    powertrain: Powertrain | None,
    values: Mapping[str, LearnedValue],
) -> Uncertainty:
    """Return the uncertainty of a learned car.

    Args:
        car: the car.
        fit: of its tyres; None: they are those of the class.
        tyres_of: returns a car with the tyres of other parameters of the fit.
        powertrain: its powertrain; None: of the class.
        values: what was learned, by the keys of the car file.
    """
    lateral, braking, downforce = _limit_deviations(car, fit, tyres_of)
    brakes = values.get(BRAKES_KEY)
    if brakes is not None:
        braking = math.hypot(braking, 0.3 * brakes.sigma / max(brakes.value, 1e-9))
    split = values.get("brakes.front_share")
    if split is not None or brakes is None:
        braking = math.hypot(braking, _split_deviation(car, split.sigma if split is not None else UNLEARNED_SPLIT))
    lock, delay = values.get("steering.max_angle"), values.get("actuation.delay")
    half = 0.5 * car.aero.air_density * 50.0**2 / (car.body.mass * G)
    lifts = [values[key].sigma for key in LIFT_KEYS if key in values]
    return Uncertainty(
        source="standard deviations, of the fits and of the method",
        lateral_grip=lateral,
        braking=braking,
        drive_force=_drive_deviation(powertrain),
        downforce=math.hypot(downforce, half * math.hypot(*lifts) if lifts else 0.0),
        steer_angle=lock.sigma / lock.value if lock is not None else 0.3,
        delay=delay.sigma if delay is not None else 0.03,
        deviation={key: value.sigma for key, value in values.items() if value.source == "identified"},
    )


def plan_share(uncertainty: Uncertainty) -> float:
    """Return the share of the learned grip at which 97.5 % of cars have no less than TOLERATED under the plan."""
    worst = uncertainty.lateral_grip
    if BRAKES_KEY in uncertainty.deviation:  # the class's brakes are left to the laps that verify the plan
        worst = max(worst, BRAKING_GRIP * uncertainty.braking)
    if any(key in uncertainty.deviation for key in LIFT_KEYS):  # a road that was too slow to show it needs little of it
        worst = max(worst, DOWNFORCE_GRIP * uncertainty.downforce)
    return min(max((1.0 + TOLERATED) * (1.0 - NORMAL_95 * worst), LEAST_SHARE), 1.0)


def find_lift_error(rows: Array) -> float:
    """Return by how much grip over speed may miss the downforce (1/m, over mass and speed squared) of a car.

    Grip that grows by loads, heat or camber between slow and fast bends looks like the air's.

    Args:
        rows: (n, 6) of a tyres' fit, as `TyreFit.rows` has them.
    """
    force = np.abs(rows[:, 2:4]).min(axis=1)
    speeds = rows[force > HARD_SHARE * np.percentile(force, PEAK_SHARE), 4]
    slow, fast = np.percentile(speeds, HARD_SPEEDS)
    return float(GRIP_ERROR * G / max(fast * fast - slow * slow, 1.0))


def _limit_deviations(
    car: CarParams, fit: Fit | None, tyres_of: Callable[[CarParams, Array], CarParams]
) -> tuple[float, float, float]:
    """Return relative deviations of lateral grip and braking, and that of the downforce over the weight."""
    if fit is None:
        return UNLEARNED_GRIP, UNLEARNED_GRIP, 0.3
    middle = compute_figures(car)
    sizes, axes = np.linalg.eigh(fit.covariance)
    lateral = braking = downforce = 0.0
    for size, axis in zip(sizes, axes.T, strict=True):
        if size <= 0.0:
            continue
        beside = compute_figures(tyres_of(car, fit.value + math.sqrt(size) * axis))
        lateral += (beside.lateral_grip / middle.lateral_grip - 1.0) ** 2
        braking += (beside.braking / max(middle.braking, 1e-9) - 1.0) ** 2
        downforce += (beside.downforce - middle.downforce) ** 2
    return (math.sqrt(lateral + LATERAL_FLOOR**2), math.sqrt(braking + BRAKING_FLOOR**2),
            math.sqrt(downforce + DOWNFORCE_FLOOR**2))  # fmt: skip


def _split_deviation(car: CarParams, sigma: float) -> float:
    """Return the relative deviation of braking by that of the brakes' front share: the weaker axle sets the limit."""
    middle = compute_figures(car).braking
    force, share = car.full_brake_force, car.front_brake_force_share
    beside = [
        compute_figures(split_brakes(car, force / car.body.mass, min(max(share + step, 0.0), 1.0))).braking
        for step in (-sigma, sigma)
    ]
    return max(abs(braking - middle) for braking in beside) / max(middle, 1e-9)


def _drive_deviation(powertrain: Powertrain | None) -> float:
    """Return the relative deviation of the drive force over all speeds."""
    if powertrain is None or not powertrain.covered.any():
        return UNKNOWN_DRIVE
    k = powertrain.covered & (powertrain.torque > 0.0)
    known = float(np.mean(powertrain.torque_sigma[k] / powertrain.torque[k])) if k.any() else UNKNOWN_DRIVE
    unseen = 1.0 - float(np.mean(powertrain.covered))
    bent = PART_THROTTLE_DRIVE if powertrain.rows[0] < LEAST_PULLS else 0.0
    return min(math.sqrt(known**2 + DRIVE_FLOOR**2 + (unseen * UNSEEN_DRIVE) ** 2 + bent**2), UNKNOWN_DRIVE)
