"""Turns to a heading and holds it, at a speed held by torque at the wheels. The original is `heading_hold_seed`."""

from trailbrake.drivers import heading_hold, speed_hold_torque


class Driver(heading_hold.Driver, speed_hold_torque.Driver):
    """Turns to a heading on the shorter way and holds it, at 80 km/h by torque on four wheels."""
