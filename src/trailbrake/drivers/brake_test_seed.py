"""BeamNG's expo demo 2, faults and all: a stop from 80 km/h. Mended: `brake_test`."""

from trailbrake.control.expo_demos import BRAKE_AT, BRAKE_SPEED, STOPPED, STOPPED_AFTER, DemoPi, steering
from trailbrake.control.start_frame import StartFrame
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls


class Driver:
    """Expo demo 2: 80 km/h, then a wanted speed of 0 from 220 m ahead of the start on, and lets go below 1.5 m/s.

    The brake is 0.3 per m/s, so it fades below 12 km/h, and the car rolls on when it lets go.
    """

    NEEDS = frozenset({"x", "y", "yaw", "speed"})

    def reset(self, course: Course) -> None:
        """Forget everything; the next state is the start."""
        self.frame = StartFrame()
        self.pi = DemoPi(0.3, 0.001)
        self.time = 0.0
        self.over = False

    def act(self, state: CarState, dt: float) -> Controls:
        """Answer one state."""
        self.time += dt
        ahead, left, yaw = self.frame.place(state.x, state.y, state.yaw)
        self.over = self.over or (state.speed <= STOPPED and self.time >= STOPPED_AFTER)
        if self.over:
            return Controls()
        throttle, brake = self.pi.update((0.0 if ahead > BRAKE_AT else BRAKE_SPEED) - state.speed, dt)
        return Controls(steer=-steering(left, state.speed, yaw, 0.0), throttle=throttle, brake=brake)
