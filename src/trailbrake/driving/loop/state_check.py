"""`StateCheck`: keeps samples that no car can have sent from a driver: NaN, infinity, absurd values, single jumps.

A jump that speed and time cannot explain is held back for one sample. The next one decides: a teleport or a restart
goes on from the new place, a damaged sample does not.

`CameraCheck`: tells when a driver that drives by pictures cannot see, although the telemetry comes.

Three faults: no picture comes, a picture cannot be decoded, or the car moves and the picture stays the same to the bit.
A standing car sees the same picture for as long as it likes. So does a moving one if the picture has one colour
everywhere: that is no view that could change.
"""

import math
from collections.abc import Callable, Sequence
from math import hypot
from operator import attrgetter

from trailbrake.driving.loop.supervisor import BLIND_LIMIT_S
from trailbrake.state import CarState, Image

# Fields that are judged, and the largest magnitude of each that is believed. Far beyond any car: they refuse garbage.
WIDE_FIELDS = ("time", "x", "y", "z", "acceleration_x", "acceleration_y", "acceleration_z")
WIDE_LIMIT = 1e9  # s, m, m/s^2
NARROW_FIELDS = (
    "yaw", "pitch", "roll", "speed", "velocity_x", "velocity_y", "velocity_z", "roll_rate", "pitch_rate", "yaw_rate",
)  # fmt: skip
NARROW_LIMIT = 500.0  # rad, m/s, rad/s
WHEEL_FIELD = "angular_velocity"
WHEEL_LIMIT = 1e5  # rad/s, sum of four

DISCOVERY_SAMPLES = 500  # a supplied field that has not been finite in so many samples is not judged
JUMP_MARGIN = 5.0  # m that a car may move besides what its speed explains
JUMP_SLACK_S = 0.1  # s by which the time between two samples may be wrong
SPEED_JUMP = 10.0  # m/s that a car may gain or lose at once, as in a collision
SPEED_JUMP_RATE = 200.0  # m/s^2 that it may gain or lose besides


_Whereabouts = tuple[float, float, float, float]  # time, x, y, speed: what the next sample is compared with
MOVING_SPEED = 0.3  # m/s from which every new picture differs from the last
SLOW_CAMERA = 2.0  # a camera's usual time between two pictures that may pass without a new one
USUAL_SHARE = 0.2  # weight of the newest time in what is usual
LONGEST_USUAL_S = 1.0  # of the slowest camera that can be set
NO_PICTURE_LIMIT_S = 60.0  # s without any picture after which the camera counts as gone
NO_PICTURE = "no picture comes from the camera"
DAMAGED = "the camera's pictures cannot be decoded"
UNCHANGED = "the camera shows the same picture although the car moves"


class StateCheck:
    """Judges the fresh states of one car. Costs about a microsecond a state.

    Fields that the simulator declares and never fills are not judged.

    Args:
        supplied: names of STATE_FIELDS that the link supplies.
        reject: receives the problem of each state that is known to be wrong, in a few words.
    """

    def __init__(self, supplied: frozenset[str], reject: Callable[[str], None]) -> None:
        self._reject = reject
        self._undiscovered = [name for name in (*WIDE_FIELDS, *NARROW_FIELDS) if name == "time" or name in supplied]
        self._judges_wheels = False
        self._undiscovered_wheels = f"wheels.{WHEEL_FIELD}" in supplied
        self._samples = 0
        self._names: list[str] = []
        self._read_wide = self._read_narrow = _make_reader([])
        self._last: _Whereabouts = (math.nan,) * 4  # no jump from there
        self._held: _Whereabouts | None = None
        self._held_problem = ""

    def accept_state(self, state: CarState) -> bool:
        """Return whether a fresh state may be driven by. One that is held back counts as rejected if it was wrong."""
        if self._undiscovered or self._undiscovered_wheels:
            self._discover_fields(state)
        if not (hypot(*self._read_wide(state)) < WIDE_LIMIT and hypot(*self._read_narrow(state)) < NARROW_LIMIT) or (
            self._judges_wheels and not -WHEEL_LIMIT < _sum_wheel_speeds(state) < WHEEL_LIMIT
        ):
            problem = self._find_problem(state)
            if problem:
                self._reject(problem)
                return False
        here = (state.time, state.x, state.y, state.speed)
        if self._held is None:  # nearly every state ends here: less than what any car may do, and no jump if NaN
            _, last_x, last_y, last_speed = self._last
            distance, gain = abs(state.x - last_x) + abs(state.y - last_y), abs(state.speed - last_speed)
            if not (distance > JUMP_MARGIN or gain > SPEED_JUMP):
                self._last = here
                return True
        return self._compare_with_held(here)

    def _compare_with_held(self, here: _Whereabouts) -> bool:
        """Return whether a state that jumps, or that follows one which was held back, may be driven by."""
        problem, held = _find_jump(self._last, here), self._held
        if problem and (held is None or _find_jump(held, here)):
            if held is not None:
                self._reject(self._held_problem)
            self._held, self._held_problem = here, problem
            return False
        if held is not None and not problem:  # the car is where it was: the sample between was wrong
            self._reject(self._held_problem)
        self._held = None
        self._last = here
        return True

    def _discover_fields(self, state: CarState) -> None:
        """Judge from now on the fields that have been filled."""
        found = [name for name in self._undiscovered if math.isfinite(attrgetter(name)(state))]
        if found:
            self._names += found
            self._undiscovered = [name for name in self._undiscovered if name not in found]
            self._read_wide = _make_reader([name for name in WIDE_FIELDS if name in self._names])
            self._read_narrow = _make_reader([name for name in NARROW_FIELDS if name in self._names])
        if self._undiscovered_wheels and math.isfinite(_sum_wheel_speeds(state)):
            self._judges_wheels, self._undiscovered_wheels = True, False
        self._samples += 1
        if self._samples >= DISCOVERY_SAMPLES:
            self._undiscovered, self._undiscovered_wheels = [], False

    def _find_problem(self, state: CarState) -> str:
        """Return the first field that cannot be right and its value, "" where each is possible."""
        for name in self._names:
            limit = WIDE_LIMIT if name in WIDE_FIELDS else NARROW_LIMIT
            value = attrgetter(name)(state)
            if not abs(value) < limit:
                return f"{name} is {value:.4g}"
        if self._judges_wheels and not abs(_sum_wheel_speeds(state)) < WHEEL_LIMIT:
            values = ", ".join(f"{wheel.angular_velocity:.4g}" for wheel in state.wheels)
            return f"wheels.{WHEEL_FIELD} is {values}"
        return ""


def _make_reader(names: Sequence[str]) -> Callable[[CarState], tuple[float, ...]]:
    """Return a quick function that returns the fields `names` of a state as a tuple."""
    if not names:
        return lambda state: ()
    return attrgetter(*names, *(names if len(names) == 1 else ()))  # of one name alone it would return a number


def _sum_wheel_speeds(state: CarState) -> float:
    a, b, c, d = state.wheels
    return a.angular_velocity + b.angular_velocity + c.angular_velocity + d.angular_velocity


def _find_jump(last: _Whereabouts, here: _Whereabouts) -> str:
    """Return in words a jump from `last` to `here` that no car makes, "" if there is none. NaN is no jump."""
    time, x, y, speed = here
    last_time, last_x, last_y, last_speed = last
    dt = time - last_time if time > last_time else 0.0
    reach = JUMP_MARGIN + 2.0 * (speed if speed > last_speed else last_speed) * (dt + JUMP_SLACK_S)
    distance = hypot(x - last_x, y - last_y)
    if distance > reach:
        return f"the car jumped by {distance:.3g} m in {time - last_time:.3g} s"
    if abs(speed - last_speed) > SPEED_JUMP + SPEED_JUMP_RATE * dt:
        return f"speed jumped from {last_speed:.3g} to {speed:.3g} m/s in {time - last_time:.3g} s"
    return ""


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
