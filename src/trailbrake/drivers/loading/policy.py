"""Learned policies as drivers: `--driver policy:FILE`, a file of `trailbrake train`."""

from pathlib import Path

from trailbrake.drivers.loading import policy_file, race_policy, race_policy_file
from trailbrake.drivers.loading.policy_archive import Arrays, Header, read_archive
from trailbrake.drivers.loading.policy_file import ImagePolicy
from trailbrake.drivers.loading.race_policy_file import RacePolicy
from trailbrake.planning.course import Course
from trailbrake.state import CarState, Controls, Image

PREFIX = "policy:"  # in place of a driver's name, before the file


def load_policy_driver(path: Path) -> "Driver | race_policy.Driver":
    """Return the driver of a policy's file.

    Raises:
        UsageError: there is no such file, or it cannot be read.
        DataError: it is no policy, of other observations or a newer version, or damaged.
    """
    policy = read_archive(path, _parse_any_policy)
    return race_policy.Driver(policy) if isinstance(policy, RacePolicy) else Driver(policy)


def _parse_any_policy(header: Header, arrays: Arrays) -> ImagePolicy | RacePolicy:
    if header["kind"] == race_policy_file.KIND:
        return race_policy_file.parse_race_policy(header, arrays)
    return policy_file.parse_policy(header, arrays)


class Driver:
    """Steers and drives by a network whose only input is the newest picture.

    Args:
        policy: the policy.
    """

    NEEDS = frozenset({"image"})

    def __init__(self, policy: ImagePolicy) -> None:
        self.policy = policy
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
