"""BeamNG's stock Simulink example 3, faults and all: a heading. Mended: `heading_hold`, `heading_hold_torque`."""

from trailbrake.drivers import speed_hold_torque_seed


class Driver(speed_hold_torque_seed.Driver):
    """The stock block as it is stored, switch at torque, watched for its steering: 60 degrees as the game counts.

    Two small steers take a quarter of a minute for 30 degrees; 180 degrees are a wall to it, not a way round.
    """
