"""A learned policy as a driver: `--driver policy:FILE`, a file of `trailbrake train clone`."""

from pathlib import Path

from trailbrake.drivers.policy_file import read
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls

PREFIX = "policy:"  # before the file, where a driver's name is asked for


class Driver:
    """Steers and presses the pedals as a network makes of the newest picture alone.

    Args:
        path: the policy's file.
    """

    NEEDS = frozenset({"image"})

    def __init__(self, path: Path) -> None:
        self.policy = read(path)

    def reset(self, course: Course) -> None:
        """Nothing to forget: each picture is looked at by itself."""

    def act(self, state: CarState, dt: float) -> Controls:
        """Answer one state."""
        if state.image is None:
            return Controls(throttle=0.0, gear=1)
        steer, pedal = self.policy.answer(state.image.pixels)
        return Controls(steer=steer, throttle=max(pedal, 0.0), brake=max(-pedal, 0.0), gear=1)
