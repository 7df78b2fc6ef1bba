"""What a proxy or a stranger's client has seen go over a wire, with times."""

import time
from typing import NamedTuple


class Command(NamedTuple):
    """What the wire says to the car: shares 0 to 1 of the pedals."""

    throttle: float
    brake: float


SAFE_THROTTLE, SAFE_BRAKE = 0.02, 0.25
HOLDING_THROTTLE = 0.12  # with the brake: keeps games from shifting into reverse at rest
STANDS_MPS = 0.5


class Trace:
    """Commands and true speeds (m/s), each with its time (s, monotonic). Lists only grow: threads may read them."""

    def __init__(self):
        self.commands, self.speeds, self.places = [], [], []

    def add_command(self, command):
        self.commands.append((time.monotonic(), command))

    def add_speed(self, speed):
        self.speeds.append((time.monotonic(), speed))

    def add_place(self, place):
        """Note where the car is, x and y in m of a level plane."""
        self.places.append((time.monotonic(), place))

    @property
    def speed(self):
        return self.speeds[-1][1] if self.speeds else 0.0

    def commands_since(self, at):
        return [command for when, command in self.commands[-20000:] if when >= at]

    def count_speeds_since(self, at):
        return sum(1 for when, _ in self.speeds[-20000:] if when >= at)

    def first_time(self, since, condition):
        """Return s from `since` to the first command after which all fulfil `condition`; None without one."""
        found = None
        for when, command in self.commands[-20000:]:
            if when < since:
                continue
            if not condition(command):
                found = None
            elif found is None:
                found = when - since
        return found


def is_braking(command):
    return command.throttle <= HOLDING_THROTTLE and command.brake >= SAFE_BRAKE


def is_released(command):
    return command.throttle <= SAFE_THROTTLE


def is_safe(command):
    return is_braking(command) or is_released(command)
