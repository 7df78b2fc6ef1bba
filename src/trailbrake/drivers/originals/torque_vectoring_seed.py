"""BeamNG's expo demo 3: a player's pedals and steering wheel as torques of four wheels; here `line_follow` plays."""

from trailbrake.drivers import line_follow
from trailbrake.drivers.originals.expo_demos import demo_wheel_torques
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls, WheelTorque


class Driver:
    """Expo demo 3: the pedals of `line_follow` as wheel torques, more on the outer wheels. Needs a car model.

    The torque is 3000 N m for every car and falls with speed; its shift to the outer wheels ignores load and slip.
    """

    NEEDS = line_follow.Driver.NEEDS | {"steering_wheel_angle"}
    COURSE_NEEDS = line_follow.Driver.COURSE_NEEDS

    def __init__(self) -> None:
        self.follower = line_follow.Driver()

    def reset(self, course: Course) -> None:
        """Plan the follower's line."""
        self.follower.reset(course)

    def act(self, state: CarState, dt: float) -> Controls:
        """Return the controls for one state."""
        player = self.follower.act(state, dt)
        gear = player.gear if player.gear is not None else 1
        drive, brake = demo_wheel_torques(player.throttle, player.brake, state.steering_wheel_angle, gear, state.speed)
        fl, fr, rl, rr = (WheelTorque(drive_torque=d, brake_torque=b) for d, b in zip(drive, brake, strict=True))
        return Controls(steer=player.steer, gear=player.gear, wheels=(fl, fr, rl, rr))
