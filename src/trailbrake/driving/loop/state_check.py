"""`StateCheck`: keeps samples that no car can have sent from a driver: NaN, infinity, absurd values, single jumps.

A jump that speed and time cannot explain is held back for one sample. The next one decides: a teleport or a restart
goes on from the new place, a damaged sample does not.
"""

import math
from collections.abc import Callable, Sequence
from math import hypot
from operator import attrgetter

from trailbrake.state import CarState

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
