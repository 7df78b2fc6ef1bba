"""Throttle and brake for a command with one pedal, which drives above 0 and brakes or reverses below."""

from trailbrake.control.minicar.geometry import LOCK, MinicarCommand


def pedals_from_command(command: MinicarCommand) -> tuple[float, float, float, int]:
    """Return steer (share of lock, positive to the left), throttle, brake (0..1) and gear of a command."""
    steer = command.wheel_angle / LOCK
    if command.reverse:
        return steer, -command.pedal, 0.0, -1
    return steer, max(command.pedal, 0.0), max(-command.pedal, 0.0), 1
