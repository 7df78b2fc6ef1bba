"""One pedal as two: the commands of a car whose pedal drives above 0 and brakes or backs below it."""

from trailbrake.control.minicar import LOCK, Command


def split(command: Command) -> tuple[float, float, float, int]:
    """Return steer (share of lock, positive to the left), throttle, brake (0..1) and gear of a command."""
    steer = command.wheel_angle / LOCK
    if command.backs:
        return steer, -command.pedal, 0.0, -1
    return steer, max(command.pedal, 0.0), max(-command.pedal, 0.0), 1
