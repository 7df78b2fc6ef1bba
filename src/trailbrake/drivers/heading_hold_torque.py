"""Turns to a heading and holds it, at a speed held by torque at the wheels. The stock original: `heading_hold_seed`."""

from trailbrake.drivers import heading_hold, speed_hold_torque


class Driver(heading_hold.Driver, speed_hold_torque.Driver):
    """Turns to a heading the short way round and holds it, at 80 km/h by torque on four wheels.

    Args:
        heading: rad, counter-clockwise from world X. The default is the stock example's: 60 degrees as the game counts.
        speed: m/s.
    """
