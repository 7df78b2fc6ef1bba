"""Tells when a driver that drives by pictures cannot see, although the telemetry comes.

Three faults: no picture comes, a picture cannot be decoded, or the car moves and the picture stays the same to the bit.
A standing car sees the same picture for as long as it likes. So does a moving one if the picture has one colour
everywhere: that is no view that could change.
"""

from collections.abc import Callable

from trailbrake.driving.loop.supervisor import BLIND_LIMIT_S
from trailbrake.state import CarState, Image

MOVING_SPEED = 0.3  # m/s from which every new picture differs from the last
SLOW_CAMERA = 2.0  # a camera's usual time between two pictures that may pass without a new one
USUAL_SHARE = 0.2  # weight of the newest time in what is usual
LONGEST_USUAL_S = 1.0  # of the slowest camera that can be set
NO_PICTURE_LIMIT_S = 60.0  # s without any picture after which the camera counts as gone
NO_PICTURE = "no picture comes from the camera"
DAMAGED = "the camera's pictures cannot be decoded"
UNCHANGED = "the camera shows the same picture although the car moves"


class CameraCheck:
    """Judges the pictures of one car's states.

    Args:
        say: takes a line when the driver cannot see, and when it sees again.

    Attributes:
        is_blind: whether the car must be braked because its driver cannot see.
        is_gone: whether no picture has come for NO_PICTURE_LIMIT_S.
        episodes: times that the driver could not see.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self.is_blind = self.is_gone = False
        self.episodes = 0
        self._picture: Image | None = None  # the newest that could be used
        self._new_at = self._usable_at = self._now = 0.0  # s, as `now`
        self._usual_s = 0.0
        self._unchanged_s = 0.0  # s for which the car has moved under the same picture

    def accept_picture(self, state: CarState, now: float) -> bool:
        """Return whether the driver may drive by a fresh state.

        A state without a picture, or with a damaged one, receives the last one for BLIND_LIMIT_S.

        Args:
            state: the newest one.
            now: s, any steady clock.
        """
        passed, self._now = now - self._now, now
        problem = self._find_problem(state, passed)
        if problem in ("", UNCHANGED):
            self._usable_at = now
        missing_s = now - self._usable_at
        if problem == UNCHANGED or (problem and (self._picture is None or missing_s > BLIND_LIMIT_S)):
            if not self.is_blind:
                self.is_blind = True
                self.episodes += 1
                self._say(f"{problem}: braking, waiting for it")
            self.is_gone = self._picture is not None and missing_s > NO_PICTURE_LIMIT_S
        elif self.is_blind:
            self.is_blind = self.is_gone = False
            self._say("the camera is back")
        if problem and not self.is_blind:
            state.image = self._picture
        return not self.is_blind

    def _find_problem(self, state: CarState, passed: float) -> str:
        """Return what is wrong with a state's picture, "" for nothing; `passed`: s since the last state."""
        picture, last = state.image, self._picture
        if picture is None:
            return NO_PICTURE
        if last is not None and (picture is last or (picture.data and picture.data == last.data)):
            if state.speed > MOVING_SPEED:
                self._unchanged_s += passed
            limit = max(BLIND_LIMIT_S, SLOW_CAMERA * self._usual_s)
            return UNCHANGED if self._unchanged_s > limit and not _has_one_colour(picture) else ""
        if picture.is_damaged:
            return DAMAGED
        if last is not None:
            newest = min(self._now - self._new_at, LONGEST_USUAL_S)
            self._usual_s += (USUAL_SHARE if self._usual_s > 0.0 else 1.0) * (newest - self._usual_s)
        self._picture, self._new_at, self._unchanged_s = picture, self._now, 0.0
        return ""


def _has_one_colour(picture: Image) -> bool:
    return bool((picture.pixels == picture.pixels[:1, :1]).all())
