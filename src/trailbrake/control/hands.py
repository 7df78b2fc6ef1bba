"""A person's hands and feet on a car: keys and sticks become steer, pedals and a direction."""

import math
from dataclasses import dataclass

SIDEWAYS = 16.0  # m/s^2: full keys or a full stick ask for no sharper a bend than this; a racing tyre has less
SLIP = 0.05  # rad of steer beyond the bend's own, for the slip of the front tyres and to catch a slide
TURN_IN, LET_GO = 3.0, 6.0  # 1/s, share of the reach: how fast keys turn the wheel, and let it come back
PRESS, LIFT = 3.0, 12.0  # 1/s: how fast keys press a pedal, and let it up
STANDING = 0.5  # m/s
HOLD = 0.3  # s of brake on a standing car that ask for reverse
PRESSED = 0.2  # of a pedal: so much of it is meant


@dataclass(frozen=True, slots=True)
class Wish:
    """What a person asks for. Steer -1..1, positive left; pedals and handbrake 0..1.

    Attributes:
        steer: share of the reach at this speed.
        throttle: forwards.
        brake: brakes; held on a standing car, backwards.
        handbrake: share.
        keys: it comes from keys, all or nothing, and is to be eased in.
    """

    steer: float = 0.0
    throttle: float = 0.0
    brake: float = 0.0
    handbrake: float = 0.0
    keys: bool = True


NOTHING = Wish()


def reach(speed: float, wheelbase: float, lock: float) -> float:
    """Return the share of full lock that a bend of SIDEWAYS at `speed` takes: curvature a / v^2, angle L a / v^2.

    Args:
        speed: m/s; not known (NaN) counts as standing.
        wheelbase: m.
        lock: rad, road-wheel angle at full lock.
    """
    if not speed > 1.0:
        return 1.0
    return min(1.0, (math.atan(wheelbase * SIDEWAYS / (speed * speed)) + SLIP) / lock)


class Hands:
    """Eases keys in, and finds out which way a person wants to go.

    Args:
        wheelbase: m.
        lock: rad, road-wheel angle at full lock.

    Attributes:
        backwards: the car is to be in reverse: the brake pedal drives it, the throttle stops it.
    """

    def __init__(self, wheelbase: float, lock: float) -> None:
        self._wheelbase, self._lock = wheelbase, lock
        self.backwards = False
        self._held = 0.0
        self._steer = self._throttle = self._brake = 0.0

    def answer(self, wish: Wish, speed: float, dt: float) -> tuple[float, float, float]:
        """Return (steer, throttle, brake) for the car's pedals, the right way round for the direction.

        Args:
            wish: what is asked for now.
            speed: m/s.
            dt: s since the last call.
        """
        limit = reach(speed, self._wheelbase, self._lock)
        wanted = wish.steer * limit
        if wish.keys:
            away = abs(wanted) > abs(self._steer) and wanted * self._steer >= 0.0
            self._steer = _towards(self._steer, wanted, (TURN_IN if away else LET_GO) * limit * dt)
            self._throttle = _towards(self._throttle, wish.throttle, (PRESS if wish.throttle else LIFT) * dt)
            self._brake = _towards(self._brake, wish.brake, (PRESS if wish.brake else LIFT) * dt)
        else:
            self._steer, self._throttle, self._brake = wanted, wish.throttle, wish.brake
        self._turn_round(wish, speed, dt)
        if self.backwards:
            return self._steer, self._brake, self._throttle
        return self._steer, self._throttle, self._brake

    def let_go(self) -> None:
        """Take hands and feet away at once: no pedal, steer straight. The direction stays."""
        self._steer = self._throttle = self._brake = self._held = 0.0

    def _turn_round(self, wish: Wish, speed: float, dt: float) -> None:
        pedal, other = (wish.throttle, wish.brake) if self.backwards else (wish.brake, wish.throttle)
        asks = speed < STANDING and pedal > PRESSED > other
        self._held = self._held + dt if asks else 0.0
        if self._held > HOLD:
            self.backwards, self._held = not self.backwards, 0.0


def _towards(value: float, wanted: float, step: float) -> float:
    return min(wanted, value + step) if wanted > value else max(wanted, value - step)
