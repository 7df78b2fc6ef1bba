"""Driving by hand, from the page of `--watch`."""

from collections.abc import Callable

from trailbrake.control.gears import upshift_speeds, wanted_gear
from trailbrake.control.hands import NOTHING, Hands, Wish
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls

# An ordinary road car's, where the simulator's car is not known: they only say how much of the lock full keys are.
WHEELBASE = 2.6  # m
LOCK = 0.55  # rad


class Driver:
    """You, at the page of `--watch`, with arrow keys, WASD or a gamepad; neutral while the page is silent.

    Attributes:
        hands: returns what the person at the page asks for, None while it is silent. Whoever has the page fills it in;
            without one the car stays in neutral.
    """

    NEEDS = frozenset({"speed"})

    def __init__(self) -> None:
        self.hands: Callable[[], Wish | None] | None = None
        self._shifts: tuple[float, ...] | None = None

    def reset(self, course: Course) -> None:
        """Begin anew."""
        car = course.car
        if car is None:
            self._hands, self._shifts = Hands(WHEELBASE, LOCK), None
        else:
            self._hands, self._shifts = Hands(car.body.wheelbase, car.steering.max_angle), upshift_speeds(car)

    def act(self, state: CarState, dt: float) -> Controls:
        """Pass on what the page asks for."""
        wish = self.hands() if self.hands is not None else None
        if wish is None:
            # Silence is no wish to let go gently: nothing is pressed any more, at once.
            self._hands.let_go()
            wish = NOTHING
        steer, throttle, brake = self._hands.answer(wish, state.speed, dt)
        if self._hands.backwards:
            gear: int | None = -1
        elif state.gear is None or self._shifts is None:
            gear = None
        else:
            gear = wanted_gear(state.speed, state.gear, self._shifts)
        return Controls(steer, throttle, brake, handbrake=wish.handbrake, gear=gear)
