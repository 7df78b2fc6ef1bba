"""The controller of BeamNG's Simulink example, number for number, in its own units and signs.

Its three examples (hold a speed by pedals, by wheel torque, hold a heading) are one block with all outputs; only the
drive mode beside it differs. It does not wrap the heading and never brakes by torque.

Source: BeamNG-Simulink_generic_interface, BeamNG_Simulink_generic_interface_with_controllers.slx. In its bands the
original repeats its last answer through an algebraic loop; its successor answers 0 there, and so does this.
"""

from typing import NamedTuple

from trailbrake.units import DEG, KMH, wrap_angle

TARGET_KMH = 80.0  # km/h
TARGET_HEADING_DEG = 60.0  # deg, counted as the game does
STEER_STEP = 0.015  # share of full lock
LAUNCH_KMH = 5.0  # km/h up to which it pulls away
BAND_KMH = 10.0  # km/h below the target in which it eases off
DEAD_BAND_DEG = 1.0  # deg below the heading in which it does not steer


class StockBlockOutput(NamedTuple):
    """The outputs of the block.

    Attributes:
        throttle: share; -0.05 above the target, which no throttle can do.
        steering: share of full lock, positive to the RIGHT, as on the wire.
        torque: N m of drive on each of the four wheels.
    """

    throttle: float
    steering: float
    torque: float


def run_stock_block(speed: float, yaw: float) -> StockBlockOutput:
    """Return the block's outputs.

    Args:
        speed: m/s over ground.
        yaw: rad, ours: counter-clockwise from world X.
    """
    v = speed / KMH
    if v <= LAUNCH_KMH:
        throttle, torque = 0.5, 270.0
    elif v <= TARGET_KMH - BAND_KMH:
        throttle, torque = 0.5, 200.0
    elif v > TARGET_KMH:
        throttle, torque = -0.05, 65.0
    else:
        throttle, torque = 0.0, 170.0
    heading = game_heading(yaw)
    if heading <= TARGET_HEADING_DEG - DEAD_BAND_DEG:
        steering = -STEER_STEP
    elif heading > TARGET_HEADING_DEG:
        steering = STEER_STEP
    else:
        steering = 0.0
    return StockBlockOutput(throttle, steering, torque)


def game_heading(yaw: float) -> float:
    """Return the heading in degrees as the game counts it: 0 towards -Y, 90 towards +X, -180..180."""
    return wrap_angle(yaw + 90.0 * DEG) / DEG
