"""In which phase of a bend a lap went wrong, by what the wire supplies of the seconds before the car left the road."""

import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

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
