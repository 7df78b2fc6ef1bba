"""A learned policy as a driver: `--driver policy:FILE`, a file of `trailbrake train clone`."""

from pathlib import Path

from trailbrake.drivers.policy_file import read_policy
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls, Image

PREFIX = "policy:"  # in place of a driver's name, before the file


class Driver:
    """Steers and drives by a network whose only input is the newest picture.

    Args:
        path: the policy's file.
    """

    NEEDS = frozenset({"image"})

    def __init__(self, path: Path) -> None:
        self.policy = read_policy(path)
        self._seen: Image | None = None
        self._answer = (0.0, 0.0)

    def reset(self, course: Course) -> None:
        """Forget the last picture: the driver has no other memory."""
        self._seen = None

    def act(self, state: CarState, dt: float) -> Controls:
        """Return the controls for one state."""
        if state.image is None:
            return Controls(throttle=0.0, gear=1)
        if state.image is not self._seen:  # a camera may be slower than the wire, and the answer stays
            self._seen, self._answer = state.image, self.policy.compute_controls(state.image.pixels)
        steer, pedal = self._answer
        return Controls(steer=steer, throttle=max(pedal, 0.0), brake=max(-pedal, 0.0), gear=1)
