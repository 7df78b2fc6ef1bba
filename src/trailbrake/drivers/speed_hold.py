"""Holds a speed by the pedals and the heading that the car has at the start. The stock original: `speed_hold_seed`."""

from trailbrake.control.heading_hold import HeadingHold
from trailbrake.control.speed_hold import SpeedByPedals
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls
from trailbrake.units import KMH


class Driver:
    """Holds 80 km/h by throttle and brake, straight on.

    Args:
        speed: m/s.
    """

    NEEDS = frozenset({"yaw", "speed"})

    def __init__(self, speed: float = 80.0 * KMH) -> None:
        self.speed = speed

    def reset(self, course: Course) -> None:
        """Forget everything; the next state's heading is the one to hold."""
        self.heading: float | None = None
        self.pedals, self.wheel = SpeedByPedals(), HeadingHold()

    def act(self, state: CarState, dt: float) -> Controls:
        """Answer one state."""
        if self.heading is None:
            self.heading = state.yaw
        controls = self.push(self.speed - state.speed, dt)
        controls.steer = self.wheel.update(self.heading, state.yaw, state.speed, dt)
        return controls

    def push(self, error: float, dt: float) -> Controls:
        """Return what drives or brakes for `error`, m/s that are missing."""
        throttle, brake = self.pedals.update(error, dt)
        return Controls(throttle=throttle, brake=brake)
