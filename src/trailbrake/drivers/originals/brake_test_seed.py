"""BeamNG's expo demo 2, faults included: a stop from 80 km/h. Its improved version is `brake_test`."""

from trailbrake.drivers.originals.expo_demos import (
    BRAKE_AT,
    BRAKE_SPEED,
    STOPPED_AFTER,
    STOPPED_SPEED,
    DemoPiController,
    StartFrame,
    demo_steer,
)
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls


class Driver:
    """Expo demo 2: holds 80 km/h, brakes from 220 m ahead of the start, and releases the brake below 1.5 m/s.

    The brake is 0.3 per m/s, so it fades below 12 km/h, and the car rolls on after the release.
    """

    NEEDS = frozenset({"x", "y", "yaw", "speed"})

    def reset(self, course: Course) -> None:
        """Start again: the next state is the start."""
        self.frame = StartFrame()
        self.pi = DemoPiController(0.3, 0.001)
        self.time = 0.0
        self.over = False

    def act(self, state: CarState, dt: float) -> Controls:
        """Return the controls for one state."""
        self.time += dt
        ahead, left, yaw = self.frame.to_start_frame(state.x, state.y, state.yaw)
        self.over = self.over or (state.speed <= STOPPED_SPEED and self.time >= STOPPED_AFTER)
        if self.over:
            return Controls()
        throttle, brake = self.pi.update((0.0 if ahead > BRAKE_AT else BRAKE_SPEED) - state.speed, dt)
        return Controls(steer=-demo_steer(left, state.speed, yaw, 0.0), throttle=throttle, brake=brake)
