"""What our code takes for granted of the tight coupling, and how `verify beamng` decides it.

Source: protocol page beamng-coupling, sections 7 and 9, and what it marks as inferred.
"""

import math

import numpy as np

from trailbrake.simulator_tools import Assumption, VerifyStep, VerifyTool
from trailbrake.state import CarState, Controls, WheelTorque
from trailbrake.units import G
from trailbrake.wire_checks import (
    BENDS,
    BRAKE,
    CENTRIPETAL,
    COURSE_TURN,
    DRIFT,
    FORWARD_BY_PLACE,
    REST,
    SPEED_CHANGES,
    START,
    STRAIGHT,
    YAW_TURN,
    DriveSamples,
    Floats,
    LevelCheck,
    SlopeCheck,
    WireQuantity,
    mean_of,
    rate_of,
    right_less_left,
    size_of,
)

TORQUE_BRAKE, UNCHANGED = "torque brake", "unchanged"
BRAKE_TORQUE = WheelTorque(0.0, 250.0)  # N m at a wheel: a gentle stop of a road car
SLOW = 2.0  # m/s


def _mass(samples: DriveSamples) -> Floats:
    return np.asarray(samples.mean(samples.column("wheels.load")).sum(axis=1) / G, dtype=np.float64)


def _height_less_z(samples: DriveSamples) -> Floats:
    return samples.mean(samples.column("beamng.altitude") - samples.column("z"))


def _drive_off(state: CarState) -> Controls:
    return Controls(throttle=0.4 if state.speed < SLOW else 0.0)


ASSUMPTIONS = (
    Assumption(
        "beamng-steer-right", "steering of a command is positive to the right",
        "the documents give the range alone; the code for keyboards is right less left",
        "the car leaves the road in the first bend", SlopeCheck(rate_of("yaw"), mean_of("controls.steer"), lo=0.02),
    ),
    Assumption(
        "beamng-wheel-angle-left", "steering of a state is positive to the left, opposite to the command's",
        "read in the game's code; the documents show one sign for both", "recordings steer the wrong way",
        SlopeCheck(mean_of("steering_wheel_angle"), mean_of("controls.steer"), lo=1e-3),
    ),
    Assumption(
        "beamng-wheel-angle-degrees", "steering of a state is in degrees of the steering wheel",
        "the documents say -1 to 1; a maintainer says degrees", "recordings show a steering wheel that hardly moves",
        LevelCheck(size_of("steering_wheel_angle"), 0.1, 20.0, BENDS),
    ),
    Assumption(
        "beamng-yaw-left", "yaw grows in a left turn", "inferred from published examples",
        "maps are mirrored; the car leaves its line", SlopeCheck(COURSE_TURN, YAW_TURN, 0.3, 2.0),
    ),
    Assumption(
        "beamng-yaw-zero", "yaw is 0 where the car faces world -Y", "inferred from published examples",
        "the car drives across its road at once", LevelCheck(DRIFT, 0.0, 0.35, (STRAIGHT,)),
    ),
    Assumption(
        "beamng-acceleration-forward", "accY is negative when the car gets faster: forward is -Y", "read in the code",
        "learned cars have brakes for engines",
        SlopeCheck(mean_of("acceleration_x"), rate_of("speed"), 0.5, 1.5, SPEED_CHANGES),
    ),
    Assumption(
        "beamng-acceleration-left", "accX is positive in a left turn", "inferred", "the estimate of grip is wrong",
        SlopeCheck(mean_of("acceleration_y"), CENTRIPETAL, 0.3, 2.0),
    ),
    Assumption(
        "beamng-acceleration-gravity", "accZ is -9.81 at rest: gravity is counted as an acceleration",
        "inferred from code that subtracts it", "a car at rest shows 1 or 2 g",
        LevelCheck(mean_of("acceleration_z"), -3.0, 3.0, (REST,)),
    ),
    Assumption(
        "beamng-roll-sign", "roll is positive with the left side down", "not established",
        "velocities and accelerations on banked roads are wrong", SlopeCheck(mean_of("roll"), CENTRIPETAL, lo=1e-5),
    ),
    Assumption(
        "beamng-pitch-sign", "pitch is positive with the nose down", "not established",
        "velocities and accelerations on slopes are wrong",
        SlopeCheck(mean_of("pitch"), rate_of("speed"), hi=-1e-6, steps=SPEED_CHANGES),
    ),
    Assumption(
        "beamng-message-period", "between two messages pass simulinkTime, rounded up to 0.5 ms",
        "messages have no time; the parameters are set by hand in the game", "all times are wrong by a factor",
        SlopeCheck(mean_of("speed"), FORWARD_BY_PLACE, 0.85, 1.15, (START,)),
    ),
    Assumption(
        "beamng-gear-index", "gear is 0 in neutral, 1 in first, negative in reverse", "the documents say: to be done",
        "a gear that is none", LevelCheck(mean_of("gear"), 0.5, 1.5, (STRAIGHT,)),
    ),
    Assumption(
        "beamng-fuel-share", "fuel is a share of the tank", "read in the code", "a fuel gauge beyond full",
        LevelCheck(mean_of("fuel"), 0.0, 1.0),
    ),
    Assumption(
        "beamng-load-newton", "downForce of a wheel is in N", "the documents say N m", "learned cars weigh too little",
        LevelCheck(WireQuantity("sum of `wheels.load` over g", _mass), 600.0, 40e3, (REST,)),
    ),
    Assumption(
        "beamng-wheel-order", "wheels are in the order FL, FR, RL, RR", "the documents name the last group RL too",
        "torques and loads of the wrong side",
        SlopeCheck(right_less_left("wheels.angular_velocity"), rate_of("yaw"), lo=0.5),
    ),
    Assumption(
        "beamng-brake-torque-command", "a negative brakingTorque of a command brakes", "the documents give no sign",
        "torque drivers do not brake", LevelCheck(rate_of("speed"), -15.0, -0.6, (TORQUE_BRAKE,)),
    ),
    Assumption(
        "beamng-brake-torque-state", "brakingTorque of a state is positive when it brakes", "read in the code",
        "recordings show no brake", LevelCheck(mean_of("wheels.brake_torque"), 50.0, 1e5, (TORQUE_BRAKE,)),
    ),
    Assumption(
        "beamng-nan-unchanged", "NaN in a command leaves a pedal as it is",
        "not documented; published models rely on it", "drivers by torque lose their pedals",
        LevelCheck(mean_of("beamng.brake_input"), 0.9, 1.0, (UNCHANGED,)),
    ),
    Assumption(
        "beamng-altitude-z", "altitude equals posZ", "inferred", "heights in recordings disagree",
        LevelCheck(WireQuantity("`beamng.altitude` less `z`", _height_less_z), -1.0, 1.0),
    ),
    Assumption(
        "beamng-wheel-speed", "wheelspeed is the mean of the wheels' speeds, without sign, in m/s", "read in the code",
        "slip at every speed", SlopeCheck(mean_of("beamng.wheel_speed"), mean_of("speed"), 0.8, 1.2, SPEED_CHANGES),
    ),
    Assumption(
        "beamng-pedal-frame", "pedals and steering act from the next graphics frame on", "read in the code",
        "drivers swing at low frame rates", "a frame is shorter than what a car shows of it",
    ),
    Assumption(
        "beamng-four-wheels", "every vehicle sends 111 numbers", "a vehicle with other wheels breaks the game's code",
        "no message comes", "it needs a vehicle with more wheels",
    ),
    Assumption(
        "beamng-id-restart", "ids begin at 0 again only when the controller is loaded again", "read in the code",
        "controls are ignored for seconds after a reset", "it needs a reset of the vehicle during the drive",
    ),
    Assumption(
        "beamng-lost-answer", "after 2 s without an answer the game accepts every id", "read in the code",
        "controls are ignored after a stall", "it needs a lost message, and freezes the game for 2 s",
    ),
    Assumption(
        "beamng-window-names", "send wait, send offset and window width are the older form of the two times",
        "nothing stored has them", "none: we only print them", "no version of the game that has them is known",
    ),
)  # fmt: skip

VERIFY = VerifyTool(
    ASSUMPTIONS,
    signals=("beamng.altitude", "beamng.brake_input", "beamng.wheel_speed"),
    steps=(
        VerifyStep("torque start", f"drive off again, to {SLOW:g} m/s", 3.0, _drive_off),
        VerifyStep(TORQUE_BRAKE, "brake by wheel torques", 0.8, lambda state: Controls(wheels=(BRAKE_TORQUE,) * 4)),
        VerifyStep(BRAKE, "brake to rest", 2.0, lambda state: Controls(brake=0.3)),
        VerifyStep(REST, "stand", 1.0, lambda state: Controls(brake=1.0)),
        VerifyStep(UNCHANGED, "stand, the brake left as it is", 1.0, lambda state: Controls(brake=math.nan)),
    ),
)
