"""Manual driving: a person's keys or sticks become steer, pedals and a direction."""

import math
from dataclasses import dataclass

MAX_LATERAL_ACCELERATION = 16.0  # m/s^2 of full steering input; a racing tyre has less
SLIP_ALLOWANCE = 0.05  # rad of steer added, for the slip of the front tyres and to catch a slide
STEER_RATE, STEER_RETURN_RATE = 3.0, 6.0  # 1/s of the steer limit: rates with a key pressed and released
PEDAL_PRESS_RATE, PEDAL_RELEASE_RATE = 3.0, 12.0  # 1/s: rates of a pedal with a key pressed and released
STANDSTILL_SPEED = 0.5  # m/s
REVERSE_HOLD_TIME = 0.3  # s of brake at standstill after which the direction changes
PRESSED_PEDAL = 0.2  # share of a pedal from which it counts as pressed


@dataclass(frozen=True, slots=True)
class ManualInput:
    """A person's input. Steer -1..1, positive left; pedals and handbrake 0..1.

    Attributes:
        steer: share of the steer limit at this speed.
        throttle: forwards.
        brake: brakes; held at standstill, backwards.
        handbrake: share.
        keys: whether it comes from keys, which are 0 or 1 and are changed at limited rates.
    """

    steer: float = 0.0
    throttle: float = 0.0
    brake: float = 0.0
    handbrake: float = 0.0
    keys: bool = True


NO_INPUT = ManualInput()


def steer_limit(speed: float, wheelbase: float, lock: float) -> float:
    """Return the share of full lock for MAX_LATERAL_ACCELERATION at `speed`: curvature a / v^2, angle L a / v^2.

    Args:
        speed: m/s; NaN (not known) counts as standstill.
        wheelbase: m.
        lock: rad, road-wheel angle at full lock.
    """
    if not speed > 1.0:
        return 1.0
    return min(1.0, (math.atan(wheelbase * MAX_LATERAL_ACCELERATION / (speed * speed)) + SLIP_ALLOWANCE) / lock)


class ManualInputShaper:
    """Limits the rates of keys, and derives the direction of travel from the pedals.

    Args:
        wheelbase: m.
        lock: rad, road-wheel angle at full lock.

    Attributes:
        reversing: whether the car drives backwards: the brake pedal drives it, the throttle stops it.
    """

    def __init__(self, wheelbase: float, lock: float) -> None:
        self._wheelbase, self._lock = wheelbase, lock
        self.reversing = False
        self._reverse_held_for = 0.0
        self._steer = self._throttle = self._brake = 0.0

    def shape_input(self, manual_input: ManualInput, speed: float, dt: float) -> tuple[float, float, float]:
        """Return (steer, throttle, brake) for the car, with the pedals exchanged while it reverses.

        Args:
            manual_input: the present input.
            speed: m/s.
            dt: s since the last call.
        """
        limit = steer_limit(speed, self._wheelbase, self._lock)
        wanted = manual_input.steer * limit
        if manual_input.keys:
            away = abs(wanted) > abs(self._steer) and wanted * self._steer >= 0.0
            self._steer = _move_towards(self._steer, wanted, (STEER_RATE if away else STEER_RETURN_RATE) * limit * dt)
            self._throttle = _move_towards(
                self._throttle,
                manual_input.throttle,
                (PEDAL_PRESS_RATE if manual_input.throttle else PEDAL_RELEASE_RATE) * dt,
            )
            self._brake = _move_towards(
                self._brake, manual_input.brake, (PEDAL_PRESS_RATE if manual_input.brake else PEDAL_RELEASE_RATE) * dt
            )
        else:
            self._steer, self._throttle, self._brake = wanted, manual_input.throttle, manual_input.brake
        self._update_direction(manual_input, speed, dt)
        if self.reversing:
            return self._steer, self._brake, self._throttle
        return self._steer, self._throttle, self._brake

    def release_all(self) -> None:
        """Release the pedals and centre the wheel at once. The direction stays."""
        self._steer = self._throttle = self._brake = self._reverse_held_for = 0.0

    def _update_direction(self, manual_input: ManualInput, speed: float, dt: float) -> None:
        pedal, other = (
            (manual_input.throttle, manual_input.brake)
            if self.reversing
            else (manual_input.brake, manual_input.throttle)
        )
        changes = speed < STANDSTILL_SPEED and pedal > PRESSED_PEDAL > other
        self._reverse_held_for = self._reverse_held_for + dt if changes else 0.0
        if self._reverse_held_for > REVERSE_HOLD_TIME:
            self.reversing, self._reverse_held_for = not self.reversing, 0.0


def _move_towards(value: float, target: float, step: float) -> float:
    return min(target, value + step) if target > value else max(target, value - step)
