"""The controller that BeamNG's Simulink example ships with, number for number, in its own units and signs.

Its three examples (hold a speed by pedals, by wheel torque, hold a heading) are one block that answers all at once;
only the drive mode beside it changes. It knows no wrap of the heading and never brakes by torque.

Source: BeamNG-Simulink_generic_interface, BeamNG_Simulink_generic_interface_with_controllers.slx. In its bands the
original repeats its last answer through an algebraic loop; its successor answers 0 there, and so does this.
"""

from typing import NamedTuple

from trailbrake.units import DEG, KMH, wrap_angle

TARGET = 80.0  # km/h
HEADING = 60.0  # deg, counted as the game does
STEER = 0.015  # share of full lock
START = 5.0  # km/h up to which it pulls away
BAND = 10.0  # km/h below the target in which it eases off
DEAD = 1.0  # deg below the heading in which it does not steer


class StockAnswer(NamedTuple):
    """What the block sends.

    Attributes:
        throttle: share; -0.05 above the target, which no throttle can do.
        steering: share of full lock, positive to the RIGHT, as on the wire.
        torque: N m of drive on each of the four wheels.
    """

    throttle: float
    steering: float
    torque: float


def stock_block(speed: float, yaw: float) -> StockAnswer:
    """Return the block's answer.

    Args:
        speed: m/s over ground.
        yaw: rad, ours: counter-clockwise from world X.
    """
    v = speed / KMH
    if v <= START:
        throttle, torque = 0.5, 270.0
    elif v <= TARGET - BAND:
        throttle, torque = 0.5, 200.0
    elif v > TARGET:
        throttle, torque = -0.05, 65.0
    else:
        throttle, torque = 0.0, 170.0
    heading = game_heading(yaw)
    if heading <= HEADING - DEAD:
        steering = -STEER
    elif heading > HEADING:
        steering = STEER
    else:
        steering = 0.0
    return StockAnswer(throttle, steering, torque)


def game_heading(yaw: float) -> float:
    """Return the heading in degrees as the game counts it: 0 towards -Y, 90 towards +X, -180..180."""
    return wrap_angle(yaw + 90.0 * DEG) / DEG
