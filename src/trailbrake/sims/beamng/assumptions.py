"""What our code takes for granted of the tight coupling, and how `verify beamng` decides it.

Source: protocol page beamng-coupling, sections 7 and 9, and what it marks as inferred.
"""

import math
from functools import partial

import numpy as np

from trailbrake import wire_checks as wire
from trailbrake.simulator_tools import Assumption, VerifyStep, VerifyTool
from trailbrake.state import CarState, Controls, WheelTorque
from trailbrake.units import G

TORQUE_BRAKE, UNCHANGED = "torque brake", "unchanged"
BRAKE_TORQUE = WheelTorque(0.0, 250.0)  # N m at a wheel: a gentle stop of a road car
SLOW = 2.0  # m/s


@partial(wire.WireQuantity, "sum of `wheels.load` over g")
def _mass(samples: wire.DriveSamples) -> wire.Floats:
    return np.asarray(samples.mean(samples.column("wheels.load")).sum(axis=1) / G, dtype=np.float64)


@partial(wire.WireQuantity, "`beamng.altitude` less `z`")
def _height_less_z(samples: wire.DriveSamples) -> wire.Floats:
    return samples.mean(samples.column("beamng.altitude") - samples.column("z"))


def _drive_off(state: CarState) -> Controls:
    return Controls(throttle=0.4 if state.speed < SLOW else 0.0)


ASSUMPTIONS = (
    Assumption("beamng-steer-right", "steering of a command is positive to the right",
        "by the code for keyboards",
        "the car leaves the road in the first bend",
        wire.SlopeCheck(wire.rate_of("yaw"), wire.mean_of("controls.steer"), lo=0.02)),
    Assumption("beamng-wheel-angle-left", "steering of a state is positive to the left, opposite to the command's",
        "the documents show one sign for both", "recordings steer the wrong way",
        wire.SlopeCheck(wire.mean_of("steering_wheel_angle"), wire.mean_of("controls.steer"), lo=1e-3)),
    Assumption("beamng-wheel-angle-degrees", "steering of a state is in degrees of the steering wheel",
        "the documents say -1 to 1", "recordings show a steering wheel that hardly moves",
        wire.LevelCheck(wire.size_of("steering_wheel_angle"), 0.1, 20.0, wire.BENDS)),
    Assumption("beamng-yaw-left", "yaw grows in a left turn", "inferred from published examples",
        "maps are mirrored; the car leaves its line", wire.SlopeCheck(wire.COURSE_TURN, wire.YAW_TURN, 0.3, 2.0)),
    Assumption("beamng-yaw-zero", "yaw is 0 where the car faces world -Y", "inferred from published examples",
        "the car drives across its road at once", wire.LevelCheck(wire.DRIFT, 0.0, 0.35, (wire.STRAIGHT,))),
    Assumption("beamng-acceleration-forward", "accY is negative when the car gets faster: forward is -Y",
        "read in the code", "learned cars have brakes for engines",
        wire.SlopeCheck(wire.mean_of("acceleration_x"), wire.rate_of("speed"), 0.5, 1.5, wire.SPEED_CHANGES)),
    Assumption("beamng-acceleration-left", "accX is positive in a left turn", "inferred",
        "the estimate of grip is wrong", wire.SlopeCheck(wire.mean_of("acceleration_y"), wire.CENTRIPETAL, 0.3, 2.0)),
    Assumption("beamng-acceleration-gravity", "accZ is -9.81 at rest: gravity is counted as an acceleration",
        "inferred from code that subtracts it", "a car at rest shows 1 or 2 g",
        wire.LevelCheck(wire.mean_of("acceleration_z"), -3.0, 3.0, (wire.REST,))),
    Assumption("beamng-roll-sign", "roll is positive with the left side down", "not established",
        "velocities and accelerations on banked roads are wrong",
        wire.SlopeCheck(wire.mean_of("roll"), wire.CENTRIPETAL, lo=1e-5)),
    Assumption("beamng-pitch-sign", "pitch is positive with the nose down", "not established",
        "velocities and accelerations on slopes are wrong",
        wire.SlopeCheck(wire.mean_of("pitch"), wire.rate_of("speed"), hi=-1e-6, steps=wire.SPEED_CHANGES)),
    Assumption("beamng-message-period", "between two messages pass simulinkTime, rounded up to 0.5 ms",
        "messages have no time", "all times are wrong by a factor",
        wire.SlopeCheck(wire.mean_of("speed"), wire.FORWARD_BY_PLACE, 0.85, 1.15, (wire.START,))),
    Assumption("beamng-gear-index", "gear is 0 in neutral, 1 in first, negative in reverse",
        "the documents say: to be done", "a gear that is none",
        wire.LevelCheck(wire.mean_of("gear"), 0.5, 1.5, (wire.STRAIGHT,))),
    Assumption("beamng-load-newton", "downForce of a wheel is in N", "the documents say N m",
        "learned cars weigh too little", wire.LevelCheck(_mass, 600.0, 40e3, (wire.REST,))),
    Assumption("beamng-wheel-order", "wheels are in the order FL, FR, RL, RR",
        "the documents name the last group RL too", "torques and loads of the wrong side",
        wire.SlopeCheck(wire.right_less_left("wheels.angular_velocity"), wire.rate_of("yaw"), lo=0.5)),
    Assumption("beamng-brake-torque-command", "a negative brakingTorque of a command brakes",
        "the documents give no sign", "torque drivers do not brake",
        wire.LevelCheck(wire.rate_of("speed"), -15.0, -0.6, (TORQUE_BRAKE,))),
    Assumption("beamng-brake-torque-state", "brakingTorque of a state is positive when it brakes", "read in the code",
        "recordings show no brake", wire.LevelCheck(wire.mean_of("wheels.brake_torque"), 50.0, 1e5, (TORQUE_BRAKE,))),
    Assumption("beamng-nan-unchanged", "NaN in a command leaves a pedal as it is",
        "not documented; published models rely on it", "drivers by torque lose their pedals",
        wire.LevelCheck(wire.mean_of("beamng.brake_input"), 0.9, 1.0, (UNCHANGED,))),
    Assumption("beamng-brake-at-rest", "the brake, held at rest, keeps the car at rest",
        "the game's arcade gearbox reverses then", "the car rolls back after a stop",
        wire.LevelCheck(wire.mean_of("speed"), 0.0, 0.1, (wire.REST,))),
    Assumption("beamng-altitude-z", "altitude equals posZ", "inferred", "heights in recordings disagree",
        wire.LevelCheck(_height_less_z, -1.0, 1.0)),
    Assumption("beamng-pedal-frame", "pedals and steering act from the next graphics frame on", "read in the code",
        "drivers swing at low frame rates", "a frame is too short"),
    Assumption("beamng-id-restart", "ids begin at 0 again only when the controller is loaded again",
        "read in the code", "controls are ignored for seconds after a reset",
        "it needs a reset of the vehicle"),
    Assumption("beamng-lost-answer", "after 2 s without an answer the game accepts every id", "read in the code",
        "controls are ignored after a stall", "it freezes the game for 2 s"),
)  # fmt: skip

VERIFY = VerifyTool(
    ASSUMPTIONS,
    signals=("beamng.altitude", "beamng.brake_input"),
    steps=(
        VerifyStep("torque start", f"drive off again, to {SLOW:g} m/s", 3.0, _drive_off),
        VerifyStep(TORQUE_BRAKE, "brake by wheel torques", 0.8, lambda state: Controls(wheels=(BRAKE_TORQUE,) * 4)),
        VerifyStep(wire.BRAKE, "brake to rest", 2.0, lambda state: Controls(brake=0.3)),
        VerifyStep(wire.REST, "stand", 1.0, lambda state: Controls(brake=1.0)),
        VerifyStep(UNCHANGED, "stand, the brake left as it is", 1.0, lambda state: Controls(brake=math.nan)),
    ),
)
