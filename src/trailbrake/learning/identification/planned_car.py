"""The car that a plan believes in: a learned car with the grip that is all but certain, less what laps disproved.

A lap that leaves the road says in which phase the tyres had too little grip; the number behind that phase is lowered
besides the grip as a whole.

In which phase of a bend a lap went wrong, by what the wire supplies of the seconds before the car left the road.
"""

import math
from typing import Literal, NamedTuple

import numpy as np
from msgspec.structs import replace

from trailbrake.cars.params import CarParams, Tyre
from trailbrake.cars.tyre_fit import magic_formula_curve
from trailbrake.learning.identification.figure_uncertainty import plan_share
from trailbrake.learning.identification.learned_car import LearnedCar
from trailbrake.learning.identification.shown_limits import UNSHOWN_GROWTH
from trailbrake.units import NORMAL_95, G

SATURATED = 0.9  # slip over that of the peak from which the peak counts as shown
LEAST_GRIP = 0.6  # share of the learned grip that is planned with at least
GRIP_STEPS = (0.95, 0.93, 0.90, 0.85, 0.80)  # of the grip, from drive to drive: small first, then what must help
PHASE_STEP = 0.9  # of the number behind the phase in which a lap went wrong
DOWNFORCE_STEP = 0.8
FAST_DOWNFORCE = 0.15  # over the weight, from which downforce may have been the fault

Phase = Literal["braking", "cornering", "power", "standstill"]

HISTORY_S = 4.0  # s before the end of a drive in which its fault began
SLIDING = 0.14  # rad, sideslip at the rear axle that counts as a slide
BEFORE_S = 0.5  # s before the slide whose pedals tell the phase
LEAVING_S = 1.5  # s before leaving the road at which a car that never slid was too fast
MIN_BRAKE, MIN_THROTTLE = 0.12, 0.35  # means of the pedals

_DOING: dict[Phase, str] = {"braking": "braking", "cornering": "cornering", "power": "accelerating"}


class LapFault(NamedTuple):
    """How a lap went wrong.

    Attributes:
        phase: in which the car slid or ran wide; standstill: it got stuck.
        speed: m/s there.
    """

    phase: Phase
    speed: float


class FaultSample(NamedTuple):
    """What is kept of a sample.

    Attributes:
        time: s.
        speed: m/s, forward.
        sideslip: rad, of the rear axle.
        acceleration: m/s^2, forward; NaN: not supplied.
        throttle, brake: 0..1, as commanded.
    """

    time: float
    speed: float
    sideslip: float
    acceleration: float
    throttle: float
    brake: float


def classify_fault(samples: list[FaultSample]) -> LapFault:
    """Return the fault of a drive that left the road with the last of `samples`, oldest first.

    The phase is that of the half second before the first slide of the last HISTORY_S, or before LEAVING_S ago where the
    rear axle never slid. No samples count as a standstill.
    """
    if not samples:
        return LapFault("standstill", 0.0)
    rows = np.array(samples)
    rows = rows[rows[:, 0] > rows[-1, 0] - HISTORY_S]
    time, sideslip = rows[:, 0], np.abs(rows[:, 2])
    slides = np.flatnonzero((sideslip > SLIDING) & (rows[:, 1] > 3.0))
    onset = float(time[slides[0]]) if len(slides) else float(time[-1]) - LEAVING_S
    near = rows[(time >= onset - BEFORE_S) & (time <= onset)]
    if not len(near):
        near = rows[:1]
    speed, _, acceleration, throttle, brake = (float(v) for v in near[:, 1:].mean(axis=0))
    if brake > MIN_BRAKE:
        return LapFault("braking", speed)
    if throttle > MIN_THROTTLE and not acceleration <= 0.0:
        return LapFault("power", speed)
    return LapFault("cornering", speed)


def describe_fault(fault: LapFault) -> str:
    """Return a fault in words."""
    if fault.phase == "standstill":
        return "the car got stuck"
    return f"left the road while {_DOING[fault.phase]}, at {fault.speed:.0f} m/s"


def measure_sideslip(velocity_x: float, velocity_y: float, yaw_rate: float, to_rear: float) -> float:
    """Return the sideslip (rad) of the rear axle, `to_rear` m behind the centre of mass; 0 at a crawl."""
    if not velocity_x * velocity_x + velocity_y * velocity_y > 4.0:
        return 0.0
    return math.atan2(velocity_y - to_rear * yaw_rate, velocity_x)


class PlanReduction(NamedTuple):
    """Shares of what was learned that a plan uses.

    Attributes:
        grip: of the tyres, in all directions.
        along: of their grip along, besides.
        downforce: of the downforce.
    """

    grip: float = 1.0
    along: float = 1.0
    downforce: float = 1.0


def lower_plan(reduction: PlanReduction, fault: LapFault, car: CarParams, attempt: int) -> PlanReduction:
    """Return the reduction for the drive after one that failed.

    Args:
        reduction: of the drive that failed.
        fault: how it failed.
        car: as it was believed.
        attempt: number of that drive, 0 the first.
    """
    grip = reduction.grip * GRIP_STEPS[min(attempt, len(GRIP_STEPS) - 1)]
    along = reduction.along * (PHASE_STEP if fault.phase in ("braking", "power") else 1.0)
    half = 0.5 * car.aero.air_density * fault.speed**2
    pressed = half * (car.aero.lift_area_front + car.aero.lift_area_rear) / (car.body.mass * G)
    downforce = reduction.downforce * (DOWNFORCE_STEP if pressed > FAST_DOWNFORCE else 1.0)
    return PlanReduction(grip, along, downforce)


def plan_car(learned: LearnedCar, reduction: PlanReduction) -> CarParams:
    """Return the learned car with the grip that a plan may use: what is all but certain, and what it has shown.

    Args:
        learned: the car.
        reduction: what its drives have left of it.
    """
    car, share = learned.car, reduction.grip
    shown_front, shown_rear = _shown_shares(car, learned.used)
    if car.uncertainty is not None:
        share *= plan_share(car.uncertainty)
        car = replace(car, uncertainty=replace(
            car.uncertainty, planned_share=share, planned_along=reduction.along, planned_front=shown_front,
            planned_rear=shown_rear, planned_downforce=reduction.downforce,
        ))  # fmt: skip
    tyres = [
        _reduce_grip(car.tyre_front, share * shown_front, reduction.along),
        _reduce_grip(car.tyre_rear, share * shown_rear, reduction.along),
    ]
    aero = replace(car.aero, lift_area_front=reduction.downforce * car.aero.lift_area_front,
                   lift_area_rear=reduction.downforce * car.aero.lift_area_rear)  # fmt: skip
    return replace(car, tyre_front=tyres[0], tyre_rear=tyres[1], aero=aero)


def _shown_shares(car: CarParams, used: tuple[float, float]) -> tuple[float, float]:
    """Return the shares of the axles' grip, front and rear, that a plan may use by what the drives have shown.

    Many cars never show one axle's peak, since the other slides first. Tyres of a car are alike: where one axle's peak
    was shown, the other's is known as well as the fit says, and not only as far as it was driven. A plan without it
    would take the axle that holds for the one that slides.

    Args:
        car: as it was learned.
        used: the most combined slips, over those of the peaks, that the front and the rear tyres were driven at.
    """
    deviation = car.uncertainty.deviation if car.uncertainty is not None else {}
    shares = []
    for name, tyre, slip, other in (
        ("tyre_front", car.tyre_front, used[0], used[1]),
        ("tyre_rear", car.tyre_rear, used[1], used[0]),
    ):
        shown = 1.0
        if slip < SATURATED:
            curve = magic_formula_curve(np.array([slip]), tyre.stiffness_factor, tyre.shape, tyre.curvature)
            shown = max(min(UNSHOWN_GROWTH * float(curve[0]), 1.0), LEAST_GRIP)
            sigma = deviation.get(f"{name}.mu_y")
            if other >= SATURATED and sigma is not None:
                shown = max(shown, 1.0 - NORMAL_95 * sigma / tyre.mu_y)
        shares.append(shown)
    return shares[0], shares[1]


def _reduce_grip(tyre: Tyre, share: float, along: float) -> Tyre:
    """Return a tyre with a share of its grip, and with a share `along` of that along it besides."""
    return replace(tyre, mu_x=share * along * tyre.mu_x, mu_y=share * tyre.mu_y)
