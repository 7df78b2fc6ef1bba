"""Lane keeping by the place across the road alone: -1 at the right edge, 1 at the left.

Holding a heading, or a straight line, by the steering, without a model of the car.
"""

import math
from dataclasses import dataclass

from trailbrake.control.pid import LowPass, PidController
from trailbrake.state.fields import quantity
from trailbrake.units import wrap_angle

MAX_PLACE_RATE = 8.0  # 1/s, half roads: no car is as quick; a faster change is a fault of the wire
JUMP_TIMEOUT = 0.5  # s for which a jump is ignored; a longer one is another road
PROBE_STEER = 0.02  # steer to the right while the place is exactly 0: with a line the place then changes
PROBE_DISTANCE = 2.5  # m of lateral movement after which a place that was always 0 means that there is no line ...
ZERO_TIMEOUT = 2.0  # s, ... and the shortest time for that
# m, the same where a line was seen, of the movement beside the straight that fits it best: the car enters the 0.8 m in
# which the place is 0 on a road 200 m wide at an unknown angle.
LOST_LINE_DISTANCE = 0.6
PROPORTIONAL_GAIN = 0.9  # share of MOST per m/s that the car goes sideways to where it should
INTEGRAL_GAIN = 0.15  # share of MOST per m: a crowned road, a car that pulls
MIN_SPEED = 5.0  # m/s: lower speeds count as this
MAX_STEER_SPEED_SQUARED = 20.0  # m^2/s^2, limit of steer times speed squared: about 3 m/s^2 of lateral acceleration
LOOK_AHEAD_TIME = 1.2  # s, time to return to the line at the present speed
MAX_APPROACH_ANGLE = 0.3  # rad, largest angle of the way back to the line


class _StraightFit:
    """The root mean square distance of points from the straight line that fits them best, point by point."""

    def __init__(self) -> None:
        self._n = self._t = self._y = self._tt = self._ty = self._yy = 0.0

    def add_point(self, t: float, y: float) -> float:
        """Add a point and return the distance (in the unit of y)."""
        self._n += 1.0
        self._t, self._y = self._t + t, self._y + y
        self._tt, self._ty, self._yy = self._tt + t * t, self._ty + t * y, self._yy + y * y
        n = self._n
        tt, ty = self._tt - self._t * self._t / n, self._ty - self._t * self._y / n
        yy = self._yy - self._y * self._y / n
        return math.sqrt(max(0.0, yy - ty * ty / tt) / n) if tt > 0.0 else 0.0


class LanePositionFilter:
    """Filters the place across the road, and decides whether there is a line at all.

    0 means "in the middle" and, where the simulator has no line, "no line". A car at exactly 0 steers a little to one
    side: if it has moved to that side and the place is still 0, there is no line.

    Attributes:
        known: whether there is a line.
        place: -1..1, the newest accepted value.
        probe_steer: steer to add, to find out whether there is a line.
    """

    def __init__(self) -> None:
        self.known = True
        self.place = 0.0
        self.probe_steer = 0.0
        self._awaiting_first = True
        self._seen = False  # whether the place was ever not 0
        self._jump_time = 0.0
        self._forget_zeros()

    def _forget_zeros(self) -> None:
        self._zero_time = self._heading = self._lateral_distance = 0.0
        self._straight = _StraightFit()

    def update(self, place: float, speed: float, yaw_rate: float, dt: float) -> None:
        """Process one sample.

        Args:
            place: from the wire; NaN where it supplies none.
            speed: m/s.
            yaw_rate: rad/s, positive to the left.
            dt: s since the last; 0 on the first and after a gap.
        """
        if not math.isfinite(place):
            self.known = False
            return
        place = min(max(place, -1.0), 1.0)
        self._jump_time = self._jump_time + dt if abs(place - self.place) > MAX_PLACE_RATE * dt else 0.0
        if self._awaiting_first or dt <= 0.0 or not 0.0 < self._jump_time < JUMP_TIMEOUT:
            self.place, self._jump_time, self._awaiting_first = place, 0.0, False
        if place != 0.0:
            self.known, self._seen, self.probe_steer = True, True, 0.0
            self._forget_zeros()
            return
        self._zero_time += dt
        self._heading += yaw_rate * dt
        self._lateral_distance += speed * math.sin(self._heading) * dt
        self.probe_steer = -PROBE_STEER
        beside = self._straight.add_point(self._zero_time, self._lateral_distance)
        has_moved = beside > LOST_LINE_DISTANCE if self._seen else abs(self._lateral_distance) > PROBE_DISTANCE
        if self._zero_time > ZERO_TIMEOUT and has_moved:
            self.known = False


@dataclass(frozen=True)
class LaneGains:
    """Gains of a `LaneKeeper`: steering by the place across the road, and a lower speed near its edges."""

    steer_p: float = quantity("1", "steer per half road off the middle", lo=0.5, hi=4.0, default=3.0)
    steer_i: float = quantity("1/s", "the same, per s that it lasts", lo=0.0, hi=2.0, default=0.3)
    steer_d: float = quantity("s", "steer per half road per s", lo=0.5, hi=6.0, default=3.5)
    smoothing: float = quantity("s", "low-pass of the rate across the road", lo=0.02, hi=0.3, default=0.05)
    free: float = quantity("1", "half roads off the middle before it slows", lo=0.1, hi=0.6, default=0.25)
    slow: float = quantity("1", "share of the speed let go per half road beyond that", lo=0.2, hi=4.0, default=1.4)
    lead: float = quantity("s", "how far ahead the place is guessed for that", lo=0.0, hi=1.5, default=0.9)


MIN_SPEED_SHARE = 0.3  # share of the speed that a car beside the road keeps, so that it comes back
MAX_INTEGRAL = 0.5  # steer, limit of the integral
DRIFT_FILTER_TIME = 0.1  # s, low-pass of the rate across the road by which it slows


class LaneKeeper:
    """Steers to the middle of the road, or to another place across it.

    Attributes:
        position_filter: the filtered place.
    """

    def __init__(self, gains: LaneGains) -> None:
        self.position_filter = LanePositionFilter()
        self._gains = gains
        self._pid = PidController(gains.steer_p, gains.steer_i, gains.steer_d, gains.smoothing, MAX_INTEGRAL)
        self._drift = LowPass(DRIFT_FILTER_TIME)

    def compute_steer(self, place: float, speed: float, yaw_rate: float, dt: float, target_place: float = 0.0) -> float:
        """Return the steer, positive left, towards the place `wanted`; straight on where there is no line.

        The other arguments are those of `LanePositionFilter.update`.
        """
        self.position_filter.update(place, speed, yaw_rate, dt)
        if not self.position_filter.known:
            return 0.0
        steer = self._pid.update(target_place - self.position_filter.place, dt)
        self._drift.update(-self._pid.slope, dt)
        return min(max(steer + self.position_filter.probe_steer, -1.0), 1.0)

    def speed_share(self) -> float:
        """Return the share of the wanted speed at which the road can be kept: less towards its edges, 0 without one."""
        if not self.position_filter.known:
            return 0.0
        drift = self._drift.value if math.isfinite(self._drift.value) else 0.0
        ahead = abs(self.position_filter.place + self._gains.lead * drift)
        return max(MIN_SPEED_SHARE, 1.0 - self._gains.slow * max(0.0, ahead - self._gains.free))


class HeadingController:
    """A PI controller on the velocity across the target heading, on the shorter way round, within a gentle bend.

    The yaw rate for a steer angle grows with speed, and the lateral acceleration with its square: so the steer for an
    error falls with the speed, and its limit with the square.
    """

    def __init__(self) -> None:
        self._pi = PidController(PROPORTIONAL_GAIN, INTEGRAL_GAIN)

    def compute_steer(self, heading: float, yaw: float, speed: float, dt: float) -> float:
        """Return the steer, share of full lock, positive left.

        Args:
            heading: rad, target; any number of turns.
            yaw: rad, present.
            speed: m/s.
            dt: s since the last call; 0: no integration.
        """
        pace = max(speed, MIN_SPEED)
        sideways = pace * wrap_angle(heading - yaw)
        # Far from the heading the steer is at its limit, and the integral must not grow.
        share = self._pi.update(sideways, dt if PROPORTIONAL_GAIN * abs(sideways) < 1.0 else 0.0)
        return share * MAX_STEER_SPEED_SQUARED / (pace * pace)


def heading_to_line(offset: float, speed: float) -> float:
    """Return the heading (rad), relative to a straight line, that leads back to the line.

    Args:
        offset: m, to the left of the line.
        speed: m/s.
    """
    return -min(
        max(math.atan2(offset, LOOK_AHEAD_TIME * max(speed, MIN_SPEED)), -MAX_APPROACH_ANGLE), MAX_APPROACH_ANGLE
    )
