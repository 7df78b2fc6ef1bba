"""BeamNG's expo demo 1, faults and all: a double lane change at 50 km/h. Mended: `double_lane_change`."""

from trailbrake.control.expo_demos import LANE_END, LANE_SPEED, DemoPi, lane, steering
from trailbrake.control.start_frame import StartFrame
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls


class Driver:
    """Expo demo 1: swerves 5 m to the left and back, 50 to 100 m ahead of the start, and lets go after 150 m.

    One gain on where the car will be in a second, and a jump in what it wants: it cuts corners and overshoots.
    """

    NEEDS = frozenset({"x", "y", "yaw", "speed"})

    def reset(self, course: Course) -> None:
        """Forget everything; the next state is the start."""
        self.frame = StartFrame()
        self.pi = DemoPi(0.1, 0.01)
        self.over = False

    def act(self, state: CarState, dt: float) -> Controls:
        """Answer one state."""
        ahead, left, yaw = self.frame.place(state.x, state.y, state.yaw)
        self.over = self.over or ahead > LANE_END
        if self.over:
            return Controls()
        throttle, brake = self.pi.update(LANE_SPEED - state.speed, dt)
        steer = -steering(left, state.speed, yaw, lane(ahead, state.speed))
        return Controls(steer=steer, throttle=throttle, brake=brake)
