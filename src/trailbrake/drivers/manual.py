"""Driving by hand, from the page of `--watch`."""

from collections.abc import Callable

from trailbrake.control.vehicle.drivetrain import GearRequester, upshift_speeds
from trailbrake.control.vehicle.manual_input import NO_INPUT, ManualInput, ManualInputShaper
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls

# An ordinary road car's, where the simulator's car is not known: they set the share of the lock for full keys.
WHEELBASE = 2.6  # m
LOCK = 0.55  # rad


class Driver:
    """You, at the page of `--watch`, with arrow keys, WASD or a gamepad; neutral while the page is silent.

    Attributes:
        hands: returns the input of the person at the page, None while the page is silent. The live page sets it;
            without one the car stays in neutral.
    """

    NEEDS = frozenset({"speed"})
    USES = frozenset({"gear"})

    def __init__(self) -> None:
        self.hands: Callable[[], ManualInput | None] | None = None
        self._gears: GearRequester | None = None

    def reset(self, course: Course) -> None:
        """Start again."""
        car = course.car
        if car is None:
            self._hands, self._gears = ManualInputShaper(WHEELBASE, LOCK), None
        else:
            self._hands, self._gears = (
                ManualInputShaper(car.body.wheelbase, car.steering.max_angle),
                GearRequester(upshift_speeds(car)),
            )

    def act(self, state: CarState, dt: float) -> Controls:
        """Return the controls for the present input."""
        manual_input = self.hands() if self.hands is not None else None
        if manual_input is None:
            # A silent page releases everything at once, not at the rates of keys.
            self._hands.release_all()
            manual_input = NO_INPUT
        steer, throttle, brake = self._hands.shape_input(manual_input, state.speed, dt)
        if self._hands.reversing:
            gear: int | None = -1
        elif state.gear is None or self._gears is None:
            gear = None
        else:
            gear = self._gears.choose(state.speed, state.gear, dt)
        return Controls(steer=steer, throttle=throttle, brake=brake, handbrake=manual_input.handbrake, gear=gear)
