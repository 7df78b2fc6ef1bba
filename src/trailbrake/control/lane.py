"""Keeping to a road that shows nothing but the place across it: -1 at the right edge, 1 at the left."""

import math
from dataclasses import dataclass

from trailbrake.control.pid import LowPass, Pid
from trailbrake.state.fields import quantity

JUMP = 8.0  # 1/s; no car crosses half a road so quickly: a faster change is a fault of the wire
JUMP_FOR = 0.5  # s for which a jump is not believed; a longer one is another road
LEAN = 0.02  # steer to the right where the line is at exactly 0: where there is one, it then moves
ASIDE = 1.0  # m to the side, by the car's own yaw rate, after which a line that stayed at 0 is none ...
ZERO_FOR = 2.0  # s, ... and this long


class LineSense:
    """What to believe of the place across the road.

    0 means "in the middle" and, where the simulator knows no line, "no line". A car at exactly 0 leans a little to
    one side: if it has moved aside then, and the place is 0 still, there is no line.

    Attributes:
        known: whether there is a line.
        place: -1..1, the newest believed.
        lean: steer to add, so that the line shows.
    """

    def __init__(self) -> None:
        self.known = True
        self.place = 0.0
        self.lean = 0.0
        self._fresh = True
        self._jumping = 0.0
        self._zero_for = self._heading = self._aside = 0.0

    def update(self, place: float, speed: float, yaw_rate: float, dt: float) -> None:
        """Take one sample.

        Args:
            place: as the wire tells it, NaN where it does not.
            speed: m/s.
            yaw_rate: rad/s, positive to the left.
            dt: s since the last; 0 on the first and after a gap.
        """
        if not math.isfinite(place):
            self.known = False
            return
        place = min(max(place, -1.0), 1.0)
        self._jumping = self._jumping + dt if abs(place - self.place) > JUMP * dt else 0.0
        if self._fresh or dt <= 0.0 or not 0.0 < self._jumping < JUMP_FOR:
            self.place, self._jumping, self._fresh = place, 0.0, False
        if place != 0.0:
            self.known, self.lean = True, 0.0
            self._zero_for = self._heading = self._aside = 0.0
            return
        self._zero_for += dt
        self._heading += yaw_rate * dt
        self._aside += speed * math.sin(self._heading) * dt
        self.lean = -LEAN
        if self._zero_for > ZERO_FOR and abs(self._aside) > ASIDE:
            self.known = False


@dataclass(frozen=True)
class LaneGains:
    """How to steer by the place across the road, and how to slow where steering is not enough."""

    steer_p: float = quantity("1", "steer per half road off the middle", lo=0.5, hi=4.0, default=3.0)
    steer_i: float = quantity("1/s", "the same, per s that it lasts", lo=0.0, hi=2.0, default=1.0)
    steer_d: float = quantity("s", "steer per half road per s", lo=0.5, hi=6.0, default=3.5)
    smoothing: float = quantity("s", "low-pass of the rate across the road", lo=0.02, hi=0.3, default=0.05)
    free: float = quantity("1", "half roads off the middle before it slows", lo=0.1, hi=0.6, default=0.25)
    slow: float = quantity("1", "share of the speed let go per half road beyond that", lo=0.2, hi=4.0, default=1.4)
    lead: float = quantity("s", "how far ahead the place is guessed for that", lo=0.0, hi=1.5, default=0.9)


LEAST_EASE = 0.3  # share of the speed that is kept, so that a car beside the road still comes back
TRIM = 0.5  # steer, the most that the integral may hold
DRIFT_SMOOTHING = 0.1  # s, low-pass of the rate across the road by which it slows


class LaneKeeper:
    """Steers to the middle of the road, or to another place across it.

    Attributes:
        sense: what it believes of the line.
    """

    def __init__(self, gains: LaneGains) -> None:
        self.sense = LineSense()
        self._gains = gains
        self._pid = Pid(gains.steer_p, gains.steer_i, gains.steer_d, gains.smoothing, TRIM)
        self._drift = LowPass(DRIFT_SMOOTHING)

    def steer(self, place: float, speed: float, yaw_rate: float, dt: float, wanted: float = 0.0) -> float:
        """Return the steer, positive left, towards the place `wanted`; straight on where there is no line.

        The other arguments are those of `LineSense.update`.
        """
        self.sense.update(place, speed, yaw_rate, dt)
        if not self.sense.known:
            return 0.0
        steer = self._pid.update(wanted - self.sense.place, dt)
        self._drift.update(-self._pid.slope, dt)
        return min(max(steer + self.sense.lean, -1.0), 1.0)

    def ease(self) -> float:
        """Return the share of the wanted speed at which the road can be kept: less towards its edges, 0 without one."""
        if not self.sense.known:
            return 0.0
        drift = self._drift.value if math.isfinite(self._drift.value) else 0.0
        ahead = abs(self.sense.place + self._gains.lead * drift)
        return max(LEAST_EASE, 1.0 - self._gains.slow * max(0.0, ahead - self._gains.free))
