"""BeamNG's expo demo 1: a double lane change at 50 km/h. Its improved version is `double_lane_change`."""

from trailbrake.drivers.originals.expo_demos import (
    LANE_END,
    LANE_SPEED,
    DemoPiController,
    StartFrame,
    demo_lane_offset,
    demo_steer,
)
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls


class Driver:
    """Expo demo 1: swerves 5 m to the left and back, 50 to 100 m ahead of the start, and ends after 150 m.

    It has one gain on the position predicted for 1 s ahead, and its target jumps: it cuts corners and overshoots.
    """

    NEEDS = frozenset({"x", "y", "yaw", "speed"})

    def reset(self, course: Course) -> None:
        """Start again: the next state is the start."""
        self.frame = StartFrame()
        self.pi = DemoPiController(0.1, 0.01)
        self.over = False

    def act(self, state: CarState, dt: float) -> Controls:
        """Return the controls for one state."""
        ahead, left, yaw = self.frame.to_start_frame(state.x, state.y, state.yaw)
        self.over = self.over or ahead > LANE_END
        if self.over:
            return Controls()
        throttle, brake = self.pi.update(LANE_SPEED - state.speed, dt)
        steer = -demo_steer(left, state.speed, yaw, demo_lane_offset(ahead, state.speed))
        return Controls(steer=steer, throttle=throttle, brake=brake)
