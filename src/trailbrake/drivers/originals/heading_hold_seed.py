"""BeamNG's stock Simulink example 3: a heading. Improved versions: `heading_hold`, `heading_hold_torque`."""

from trailbrake.drivers.originals import speed_hold_torque_seed


class Driver(speed_hold_torque_seed.Driver):
    """The stock block with its switch at torque, as `speed_hold_torque_seed`: turns to the game's 60 degrees.

    Its two small steering angles take 15 s for 30 degrees, and it never crosses the jump at 180 degrees.
    """
