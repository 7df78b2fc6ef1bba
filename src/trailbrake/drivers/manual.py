"""Driving by hand, from the page of `--watch`."""

from collections.abc import Callable

from trailbrake.control.gears import upshift_speeds, wanted_gear
from trailbrake.control.hands import NOTHING, Hands, Wish
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls


class Driver:
    """You, at the page of `--watch`, with arrow keys, WASD or a gamepad; neutral while the page is silent.

    Attributes:
        hands: returns what the person at the page asks for, None while it is silent. Whoever has the page fills it in;
            without one the car stays in neutral.
    """

    NEEDS = frozenset({"speed"})

    def __init__(self) -> None:
        self.hands: Callable[[], Wish | None] | None = None

    def reset(self, course: Course) -> None:
        """Begin anew."""
        car = course.known_car()
        self._hands = Hands(car.body.wheelbase, car.steering.max_angle)
        self._shifts = upshift_speeds(car)

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
        else:
            gear = None if state.gear is None else wanted_gear(state.speed, state.gear, self._shifts)
        return Controls(steer, throttle, brake, handbrake=wish.handbrake, gear=gear)
