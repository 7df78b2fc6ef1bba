"""The limit lap: what the learned car could do on the road, and between which times it is all but certainly."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from trailbrake.analysis.lap_location import CommonLine, LocatedLap
from trailbrake.analysis.lap_table import format_lap_time
from trailbrake.cars.learned import Uncertainty
from trailbrake.coaching.ghost_laps import DEFAULT_LINE, drive_at_limit, plan_limit_course
from trailbrake.coaching.learned_place import LearnedPlace
from trailbrake.coaching.pace_model import plan_lap, weaken_engine
from trailbrake.errors import DataError, TrailbrakeError
from trailbrake.learning.identification.figure_uncertainty import UNLEARNED_GRIP
from trailbrake.planning.course import GRIP_MARGIN, Course
from trailbrake.units import NORMAL_95

MASTERED = 1.01  # of the planned lap: line_track drove ten true cars within 0.970 to 1.004 of it
FAR_SLOWER = 1.05  # of the person's best sections together: a limit lap that takes longer is another car's


@dataclass(frozen=True)
class LimitLap:
    """What the car could do.

    Attributes:
        lap: of the learned car.
        time_s: s; no more than the person's best sections together.
        least_s, most_s: s, between which the limit is with a chance of 95 %.
        made_by: how it was made, for people.
        is_driven: it has the controls of a driver; a planned one has the places at which it brakes.
    """

    lap: LocatedLap
    time_s: float
    least_s: float
    most_s: float
    made_by: str
    is_driven: bool

    def describe_interval(self) -> str:
        """Return between which times the limit is, for people."""
        if self.least_s == self.most_s:
            return "for the car that you named, as its file has it"
        return f"{format_lap_time(self.least_s)} to {format_lap_time(self.most_s)} with a chance of 95 %"


def find_limit_lap(
    learned: LearnedPlace, common: CommonLine, ideal_s: float, show_message: Callable[[str], None], *, drive: bool
) -> LimitLap:
    """Return the limit lap.

    Args:
        learned: road and car.
        common: the line of the person's laps.
        ideal_s: s, the person's best sections together: the car can do that.
        show_message: takes lines about what is under way.
        drive: plan the line by optimal control and drive it; else the default line is planned only. What the driver
            does not master is planned only.

    Raises:
        DataError: it is surely slower than the person, or far slower, so that it is no limit.
    """
    lap, made_by, is_driven = _make_lap(learned, common, show_message, drive)
    course, doubt = learned.place.course, learned.doubt
    deviation = measure_deviation(course, doubt, learned.shown) if doubt is not None else 0.0
    least, most = (lap.time_s + sign * NORMAL_95 * deviation for sign in (-1.0, 1.0))
    if least > ideal_s or lap.time_s > FAR_SLOWER * ideal_s:
        raise DataError("the limit is not known", where="the learned car", expected="a lap as quick as yours",
                        got=f"{format_lap_time(lap.time_s)}, {made_by}")  # fmt: skip
    return LimitLap(lap, min(lap.time_s, ideal_s), least, min(most, ideal_s), made_by, is_driven)


def _make_lap(
    learned: LearnedPlace, common: CommonLine, show_message: Callable[[str], None], drive: bool
) -> tuple[LocatedLap, str, bool]:
    """Return a lap at the limit, how it was made, and whether it was driven."""
    course, line = plan_limit_course(learned.place, show_message) if drive else (learned.place.course, DEFAULT_LINE)
    lap = plan_lap(course, common)
    unknown = np.full(len(lap.s), math.nan)
    lap = replace(lap, channels=lap.channels | {"throttle": unknown, "steer": unknown})
    if not drive:
        return lap, f"planned on {line}, not driven", False
    car = "car learned from your laps" if learned.doubt is not None else "car that you named"
    try:
        driven = drive_at_limit(learned.place, common)
    except TrailbrakeError as error:
        return lap, f"planned on {line}; {error}", False
    if driven.time_s > MASTERED * lap.time_s:
        return lap, f"planned on {line}; line_track does not master the {car}", False
    return driven, f"driven by line_track on {line} in the {car}", True


def measure_deviation(course: Course, doubt: Uncertainty, shown: float) -> float:
    """Return the standard deviation of the limit's lap time by the doubt of the car's figures, s.

    Args:
        course: with the learned car.
        doubt: its.
        shown: slip over that of the peak to which the tyres were driven; what is above was never seen, and is doubted
            as much as in the class of cars.
    """
    plan = partial(course.plan_speeds, course.line, start=-1.0 if course.line.closed else 0.0)
    usual = plan().lap_time
    unseen = UNLEARNED_GRIP * (1.0 - min(shown, 1.0)) if math.isfinite(shown) else UNLEARNED_GRIP
    grip = math.hypot(doubt.lateral_grip, unseen)
    parts = (
        plan(margin=GRIP_MARGIN * (1.0 - grip)).lap_time - usual,
        plan(limits=weaken_engine(course.envelope, doubt.drive_force)).lap_time - usual,
    )
    return math.hypot(*parts)
