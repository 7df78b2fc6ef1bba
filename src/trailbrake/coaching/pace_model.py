"""What a person's pace would be in each corner if it were everywhere the usual one: a share of the car's grip.

A person at 93 % of the grip loses time in every corner, which is no habit. The quickest lap within a share of the
learned car's envelope takes a time in each zone; the share at which that is the person's own time says how much of the
grip the person uses there. What a corner costs beyond the usual share is worth a word.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from trailbrake.analysis.comparison import measure_zones
from trailbrake.analysis.corners import Corner
from trailbrake.analysis.lap_location import CommonLine, LocatedLap
from trailbrake.analysis.reference_line import locate_points
from trailbrake.arrays import Array
from trailbrake.cars.ggv_envelope import Envelope
from trailbrake.cars.learned import Uncertainty
from trailbrake.planning.course import GRIP_MARGIN, Course
from trailbrake.tracks.road import RoadColumn

SHARES = np.arange(0.5, 1.13, 0.03)  # of the envelope, in which a person's share is looked for
FULL_THROTTLE = 0.3  # m/s^2 from which a planned lap is on the throttle


@dataclass(frozen=True)
class PaceModel:
    """Planned laps at every share of the grip.

    Attributes:
        course: the road, and the learned car.
        common: the line of the person's laps.
        corners: with their zones.
        times: (shares, zones) s.
        share: the person's usual one of the grip: the median of the corners'.
        lap: the lap at that share.
        driven_share: of the grip, at which the lap was driven; NaN: it is planned only.
    """

    course: Course
    common: CommonLine
    corners: tuple[Corner, ...]
    times: Array
    share: float
    lap: LocatedLap
    driven_share: float = math.nan

    def find_shares(self, zone_times: Array) -> Array:
        """Return the share of the grip in each zone (zones,) that takes these times (zones,) s."""
        return np.array([
            np.interp(-wanted, -column, SHARES) for wanted, column in zip(zone_times, self.times.T, strict=True)
        ])  # fmt: skip

    def expect_times(self, share: float) -> Array:
        """Return the times (zones,) s at a share of the grip."""
        return np.array([np.interp(share, SHARES, column) for column in self.times.T])

    def find_usual_share(self, zone_times: Array) -> float:
        """Return the share of the grip that the person uses in the median corner."""
        bends = np.array([corner.number > 0 for corner in self.corners])
        return float(np.median(self.find_shares(zone_times)[bends]))


def build_pace_model(course: Course, common: CommonLine, corners: Sequence[Corner], zone_times: Array) -> PaceModel:
    """Return the model of a person.

    Args:
        course: the road, and the learned car.
        common: the line of the laps.
        corners: with their zones.
        zone_times: (zones,) s of the person.
    """
    place = locate_line(course, common)
    times = np.array([measure_zones([plan_lap(course, common, share, place)], corners)[0] for share in SHARES])
    model = PaceModel(course, common, tuple(corners), times, GRIP_MARGIN, plan_lap(course, common, place=place))
    share = model.find_usual_share(zone_times)
    return replace(model, share=share, lap=plan_lap(course, common, share, place))


def follow_driven_lap(model: PaceModel, lap: LocatedLap, share: float, zone_times: Array) -> PaceModel:
    """Return the model with the times of a lap that was driven, and not only planned.

    Args:
        model: of plans.
        lap: that the learned car has driven.
        share: of the grip, in that lap.
        zone_times: (zones,) s of the person.
    """
    times = model.times + measure_zones([lap], model.corners)[0] - model.expect_times(share)
    driven = replace(model, times=times, lap=lap, driven_share=share)
    return replace(driven, share=driven.find_usual_share(zone_times))


def time_zones(model: PaceModel, limits: Envelope) -> Array:
    """Return the planned times (zones,) s at the usual share of other limits of the car."""
    times: Array = measure_zones([plan_lap(model.course, model.common, model.share, limits=limits)], model.corners)[0]
    return times


def find_car_errors(model: PaceModel, doubt: Uncertainty) -> Array:
    """Return by how much (zones,) s planned times are off by the doubt of the car's brakes and engine.

    That of its grip is in the person's share of it.
    """
    limits = model.course.envelope
    usual = time_zones(model, limits)
    weak = (limits._replace(brake=(1.0 - doubt.braking) * limits.brake), weaken_engine(limits, doubt.drive_force))
    errors: Array = np.hypot(*(time_zones(model, each) - usual for each in weak))
    return errors


def weaken_engine(limits: Envelope, share: float) -> Envelope:
    """Return limits with less pull of the engine by a share of it."""
    return limits._replace(pull=np.where(limits.pull > 0.0, (1.0 - share) * limits.pull, limits.pull))


def locate_line(course: Course, common: CommonLine) -> tuple[Array, Array]:
    """Return the distances (n,) m along the laps' line, and the offsets (n,) m left of it, of the planned line."""
    x, y = course.line.column(RoadColumn.X), course.line.column(RoadColumn.Y)
    return (x, y) if common.line is None else locate_points(common.line, x, y)


def plan_lap(
    course: Course,
    common: CommonLine,
    share: float = GRIP_MARGIN,
    place: tuple[Array, Array] | None = None,
    limits: Envelope | None = None,
) -> LocatedLap:
    """Return the planned flying lap at a share of the envelope, with the channels that a recorded one has.

    `place` is what `locate_line` returns; `limits` take the place of the car's envelope. Steer is the curvature of the
    path, as far as anything compares it; throttle and brake say which of the two is used.
    """
    line = course.line
    profile = course.plan_speeds(line, start=-1.0 if line.closed else 0.0, margin=share, limits=limits)
    x, y = line.column(RoadColumn.X), line.column(RoadColumn.Y)
    s, offset = place or locate_line(course, common)
    following = np.roll(profile.speed, -1) if line.closed else profile.speed
    steps = line.spacing / np.maximum(0.5 * (profile.speed + following), 0.1)
    time = np.concatenate([[0.0], np.cumsum(steps)[:-1]])
    pull = profile.acceleration
    channels = {
        "x": x, "y": y, "offset": offset, "speed": profile.speed, "acceleration_x": pull,
        "acceleration_y": profile.speed**2 * line.column(RoadColumn.CURVATURE),
        "steer": line.column(RoadColumn.CURVATURE), "throttle": np.where(pull > -FULL_THROTTLE, 1.0, 0.0),
        "brake": np.where(pull < -2.0, 1.0, 0.0), "gear": np.full(len(x), math.nan),
    }  # fmt: skip
    lap = LocatedLap(0, 0, profile.lap_time, True, True, False, math.nan, s, time, channels)
    return repeat_lap(lap, common.length) if line.closed else lap


def repeat_lap(lap: LocatedLap, length: float) -> LocatedLap:
    """Return a flying lap of a circuit with itself before and behind it, and its clock at 0 where the laps begin.

    A lap of ours may begin elsewhere than the person's, whose zones reach over its end.

    Args:
        lap: from one passage of its own line to the next.
        length: m, of the laps.
    """
    inside = (lap.time >= 0.0) & (lap.time < lap.time_s)
    rounds = (-1.0, 0.0, 1.0)
    s = np.concatenate([lap.s[inside] + number * length for number in rounds])
    time = np.concatenate([lap.time[inside] + number * lap.time_s for number in rounds])
    order = np.argsort(s, kind="stable")
    channels = {name: np.tile(values[inside], len(rounds))[order] for name, values in lap.channels.items()}
    time = time[order] - float(np.interp(0.0, s[order], time[order]))
    return replace(lap, s=s[order], time=time, channels=channels)
