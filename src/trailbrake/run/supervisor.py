"""Between driver and wire: clamps, rejects NaN, limits rates, and stops the car when it must.

It knows no track. A safe stop holds the last steer, which keeps the path's curvature while the speed falls,
and brakes below the limit so that the tyres can still turn the car.
"""

import math
from dataclasses import dataclass

from trailbrake.state import CarState, Controls, FourTorques, Phase, settings_of

STALE_AFTER = 0.25  # s without a new sample: the state is history
BAD_FOR = 0.25  # s of simulator time that a driver may answer NaN before the car is stopped
STEER_RATE = 12.0  # 1/s, share of full lock: faster than any driver's hands or servo (lock to lock in 0.17 s)
STOP_BRAKE = 0.6
STANDING = 0.5  # m/s


@dataclass(slots=True)
class SupervisorCounters:
    """How often the supervisor had to act."""

    clamped: int = 0
    rejected: int = 0
    stale: int = 0


_NOTHING_SET = settings_of(Controls())


def _share(wish: float) -> float:
    """Return a control within 0..1; NaN, "leave alone", stays."""
    return min(max(wish, 0.0), 1.0) if wish == wish else wish


def _has_infinity(wheels: FourTorques) -> bool:
    return any(math.isinf(w.drive_torque) or math.isinf(w.brake_torque) for w in wheels)


class Supervisor:
    """Passes safe controls on.

    `stop_reason` is empty while the driver drives. Once set it stays, and every answer brakes.
    """

    def __init__(self) -> None:
        self.counters = SupervisorCounters()
        self.stop_reason = ""
        self._last = Controls(brake=1.0)
        self._bad_time = 0.0
        self._was_stale = False

    def request_stop(self, reason: str) -> None:
        """Bring the car to a stop from the next tick on. The first reason stays."""
        self.stop_reason = self.stop_reason or reason

    def is_stale(self, state: CarState) -> bool:
        """Return whether `state` is too old to drive by; counts each episode once."""
        stale = state.age > STALE_AFTER or state.phase == Phase.LOST
        if stale and not self._was_stale:
            self.counters.stale += 1
        self._was_stale = stale
        return stale

    def braking(self, state: CarState) -> Controls:
        """Return the controls of a safe stop."""
        stands = not math.isnan(state.speed) and state.speed < STANDING
        # In gear and off the throttle the engine helps; the clutch is the simulator's autoclutch's business.
        self._last = Controls(steer=self._last.steer, brake=1.0 if stands else STOP_BRAKE, gear=self._last.gear)
        return self._last

    def check(self, controls: Controls, dt: float) -> Controls:
        """Return what may be sent of a driver's answer.

        Args:
            controls: the driver's answer. Not changed.
            dt: s of simulator time since the last answer.

        Returns:
            Controls within their ranges; the last good ones in place of an answer with NaN or infinity.

        Raises:
            TypeError, ValueError or OverflowError: where a number should be there is none.
        """
        last = self._last
        # One sum finds any NaN or infinity among the five without five calls.
        steer, throttle, brake = controls.steer, controls.throttle, controls.brake
        clutch, handbrake, drs, boost = controls.clutch, controls.handbrake, controls.drs, controls.boost
        if not math.isfinite(steer + throttle + brake + clutch + handbrake) or (
            controls.wheels is not None and _has_infinity(controls.wheels)
        ):
            self.counters.rejected += 1
            self._bad_time += dt
            if self._bad_time > BAD_FOR:
                self.request_stop("the driver answers NaN or infinite controls")
            return last
        self._bad_time = 0.0
        reach = STEER_RATE * dt if dt > 0.0 else 2.0
        settings = settings_of(controls)
        passed = Controls(  # without a call for what is in range as it is
            min(max(steer, last.steer - reach, -1.0), last.steer + reach, 1.0),
            throttle if 0.0 <= throttle <= 1.0 else _share(throttle),
            brake if 0.0 <= brake <= 1.0 else _share(brake),
            clutch if 0.0 <= clutch <= 1.0 else _share(clutch),
            handbrake if 0.0 <= handbrake <= 1.0 else _share(handbrake),
            None if controls.gear is None else int(controls.gear),
            drs if drs != drs else _share(drs),
            boost if boost != boost else _share(boost),
            controls.wheels,
            *(settings if settings == _NOTHING_SET else map(_share, settings)),
        )
        if passed != controls:
            self.counters.clamped += 1
        self._last = passed
        return passed
