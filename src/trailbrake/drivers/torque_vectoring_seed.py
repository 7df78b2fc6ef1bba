"""BeamNG's expo demo 3: somebody's pedals and steering wheel as torques of four wheels; here that is `line_follow`."""

from trailbrake.control.expo_demos import torques
from trailbrake.drivers import line_follow
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls, WheelTorque


class Driver:
    """Expo demo 3: the pedals of `line_follow` as wheel torques, more on the outer wheels. Needs a car model.

    3000 N m whatever the car, falling with speed, and a shift that knows neither load nor slip.
    """

    NEEDS = line_follow.Driver.NEEDS | {"steering_wheel_angle"}

    def __init__(self) -> None:
        self.player = line_follow.Driver()

    def reset(self, course: Course) -> None:
        """Let the player plan."""
        self.player.reset(course)

    def act(self, state: CarState, dt: float) -> Controls:
        """Answer one state."""
        asked = self.player.act(state, dt)
        gear = asked.gear if asked.gear is not None else 1
        drive, brake = torques(asked.throttle, asked.brake, state.steering_wheel_angle, gear, state.speed)
        fl, fr, rl, rr = (WheelTorque(d, b) for d, b in zip(drive, brake, strict=True))
        return Controls(steer=asked.steer, gear=asked.gear, wheels=(fl, fr, rl, rr))
