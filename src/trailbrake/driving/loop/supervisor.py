"""Between driver and wire: clamps, rejects NaN, limits rates, and stops the car when it must.

It knows no track. A safe stop holds the last steer, which keeps the path's curvature while the speed falls,
and brakes below the limit so that the tyres can still turn the car.
"""

import copy
import math
import reprlib
from collections.abc import Callable
from dataclasses import dataclass, fields
from numbers import Real
from operator import attrgetter

from trailbrake.control.vehicle.stability_control import StabilityControl
from trailbrake.errors import CarStuckError, describe_value, raised_at
from trailbrake.state import CarState, Controls, FourTorques, Phase, WheelTorque, settings_of
from trailbrake.state.car_state import copy_state
from trailbrake.state.controls import SETTINGS, describe_driver_exception
from trailbrake.system import steady_clock
from trailbrake.system.breakable_call import OURS

STALE_AFTER_S = 0.25  # s without a new sample: the state is history
BAD_CONTROLS_LIMIT_S = 0.25  # s of simulator time that a driver may answer NaN before the car is stopped
BLIND_LIMIT_S = 0.25  # s for which the last controls stand in while the simulator's samples are implausible
STEER_RATE_LIMIT = 12.0  # 1/s, share of full lock: faster than any driver's hands or servo (lock to lock in 0.17 s)
STOP_BRAKE = 0.6
STANDSTILL_SPEED = 0.5  # m/s


@dataclass(slots=True)
class SupervisorCounters:
    """How often the supervisor had to act."""

    clamped: int = 0  # answers with a value out of its range
    rejected: int = 0  # answers with NaN or infinity
    stale: int = 0  # episodes without a fresh state
    implausible: int = 0  # states that no car can have sent
    blind: int = 0  # times that a driver of pictures could not see
    hung: int = 0  # times that a driver, or what watches the drive, did not return in time


_NOTHING_SET = settings_of(Controls())
_CHECKED_FIELDS = tuple(item.name for item in fields(Controls) if item.name != "command")


def _clamp_share(wish: float) -> float:
    """Return a control within 0..1; NaN, "leave alone", stays."""
    return min(max(wish, 0.0), 1.0)  # of NaN and a number, both return their first argument


def _has_infinity(wheels: FourTorques) -> bool:
    if len(wheels) != 4:
        raise ValueError
    return any(math.isinf(w.drive_torque) or math.isinf(w.brake_torque) for w in wheels)


class Supervisor:
    """Passes safe controls on.

    Attributes:
        counters: how often it had to act.
        stop_reason: empty while the driver drives. Once set it stays, and every answer brakes.
        stop_by: s of the steady clock at which a stop ends although the car still rolls: the system ends the process.
        stability: limits what the driver wants in a slide; None: nothing does.
    """

    def __init__(self) -> None:
        self.counters = SupervisorCounters()
        self.stop_reason = ""
        self.stop_by = math.inf
        self.stability: StabilityControl | None = None
        self._last = Controls(brake=1.0)
        self._bad_time = 0.0
        self._was_stale = False

    def request_stop(self, reason: str) -> None:
        """Bring the car to a stop from the next tick on. The first reason stays."""
        self.stop_reason = self.stop_reason or reason

    def limit_stop(self, seconds: float) -> None:
        """Leave a stop so many seconds of wall time from now."""
        self.stop_by = steady_clock.now() + seconds

    def is_stale(self, state: CarState) -> bool:
        """Return whether `state` is too old to drive by; counts each episode once."""
        stale = state.age > STALE_AFTER_S or state.phase == Phase.LOST
        if stale and not self._was_stale:
            self.counters.stale += 1
        self._was_stale = stale
        return stale

    def safe_stop_controls(self, state: CarState) -> Controls:
        """Return the controls of a safe stop."""
        stands = not math.isnan(state.speed) and state.speed < STANDSTILL_SPEED
        # In gear and off the throttle the engine helps; the clutch is the simulator's autoclutch's business.
        self._last = Controls(steer=self._last.steer, brake=1.0 if stands else STOP_BRAKE, gear=self._last.gear)
        return self._last

    def limit_controls(self, controls: Controls, dt: float) -> Controls:
        """Return what may be sent of a driver's answer.

        Args:
            controls: the driver's answer. Not changed.
            dt: s of simulator time since the last answer.

        Returns:
            Controls within their ranges; the last good ones in place of an answer with NaN or infinity.

        Raises:
            Exception: of several types, where a number should be and is none.
        """
        last = self._last
        # One length finds any NaN or infinity among the five without five calls.
        steer, throttle, brake = controls.steer, controls.throttle, controls.brake
        clutch, handbrake, drs, boost = controls.clutch, controls.handbrake, controls.drs, controls.boost
        if (
            not math.isfinite(math.hypot(steer, throttle, brake, clutch, handbrake))
            or (controls.wheels is not None and _has_infinity(controls.wheels))
            or (controls.custom and not all(map(math.isfinite, controls.custom)))
        ):
            return self._reject_controls(dt)
        self._bad_time = 0.0
        reach = STEER_RATE_LIMIT * dt if dt > 0.0 else 2.0
        passed = Controls(  # without a call for what is in range as it is
            steer=min(max(steer, last.steer - reach, -1.0), last.steer + reach, 1.0),
            throttle=throttle if 0.0 <= throttle <= 1.0 else _clamp_share(throttle),
            brake=brake if 0.0 <= brake <= 1.0 else _clamp_share(brake),
            clutch=clutch if 0.0 <= clutch <= 1.0 else _clamp_share(clutch),
            handbrake=handbrake if 0.0 <= handbrake <= 1.0 else _clamp_share(handbrake),
            gear=None if controls.gear is None else int(controls.gear),
            drs=drs if drs != drs else _clamp_share(drs),
            boost=boost if boost != boost else _clamp_share(boost),
            wheels=controls.wheels,
        )
        if controls.custom:
            passed.custom = tuple(map(float, controls.custom))
        settings = settings_of(controls)
        if settings != _NOTHING_SET:
            for name, value in zip(SETTINGS, settings, strict=True):
                setattr(passed, name, _clamp_share(value))
        self._last = passed
        if controls.command is not None:  # sent once: it is no part of what is repeated after a bad answer
            passed = copy.copy(passed)
            passed.command = controls.command
        if passed != controls:
            self.counters.clamped += 1
        return passed

    def _reject_controls(self, dt: float) -> Controls:
        """Count an answer with NaN or infinity; return what is sent in its place."""
        self.counters.rejected += 1
        self._bad_time += dt
        if self._bad_time > BAD_CONTROLS_LIMIT_S:
            self.request_stop("the driver answers NaN or infinite controls")
        return self._last


def explain_driver_error(error: BaseException) -> str:
    """Return one line for an exception out of a driver: type, message, and file and line in the driver."""
    place = raised_at(error)
    where = f" at {place}" if place else ""
    return " ".join(f"the driver raised {type(error).__name__}{where}: {describe_driver_exception(error)}".split())


def find_wrong_value(answer: object) -> str:
    """Return name and value, cut short, of the first field of an answer that is not a number."""
    for name in _CHECKED_FIELDS:
        value = attrgetter(name)(answer)
        if value is None and name in ("gear", "wheels"):
            continue
        right = WheelTorque if name == "wheels" else Real
        parts = value if name in ("wheels", "custom") and isinstance(value, tuple) else (value,)
        wrong = [part for part in parts if not isinstance(part, right)]
        if wrong:
            return " ".join(f"{name}={describe_value(wrong[0], reprlib.repr)}".split())
    return " ".join(describe_value(answer, reprlib.repr).split())


def decide_controls(
    act: Callable[[CarState, float], Controls], supervisor: Supervisor, state: CarState, dt: float
) -> Controls:
    """Return the controls that may be sent for a state: the driver's, limited, or those of a safe stop.

    Args:
        act: the driver's `act`, or its `rehearse`.
        supervisor: of this car; a driver that fails makes it stop the car.
        state: the newest state.
        dt: s of simulator time since the last call.
    """
    if supervisor.stop_reason or supervisor.is_stale(state):
        return supervisor.safe_stop_controls(state)
    try:
        answer = act(copy_state(state), dt)  # what a driver does to its state, no tap sees
    except OURS:
        raise
    except BaseException as error:  # KeyboardInterrupt and GeneratorExit too: a driver that ends itself ends its drive
        reason = describe_value(error) if isinstance(error, CarStuckError) else explain_driver_error(error)
        supervisor.request_stop(reason)
        return supervisor.safe_stop_controls(state)
    if type(answer) is not Controls and not _is_controls(answer):
        supervisor.request_stop(f"the driver answered {type(answer).__name__}, expected Controls")
        return supervisor.safe_stop_controls(state)
    try:
        if supervisor.stability is not None:
            answer = supervisor.stability.limit_controls(state, answer)
        return supervisor.limit_controls(answer, dt)
    except OURS:
        raise
    except BaseException:  # None, texts, arrays, three wheels; numbers with methods of their own
        supervisor.request_stop(f"the driver answered what is no number: {find_wrong_value(answer)}")
        return supervisor.safe_stop_controls(state)


def _is_controls(answer: object) -> bool:
    try:
        return isinstance(answer, Controls)
    except BaseException:  # a `__class__` that raises
        return False
