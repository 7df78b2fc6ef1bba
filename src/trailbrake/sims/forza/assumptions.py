"""What our code takes for granted of Data Out and the pad, and how `verify forza` decides it.

Source: protocol page forza-data-out: what its pages do not say, and what one recording of one title shows.
"""

from functools import partial

import numpy as np

from trailbrake import wire_checks as wire
from trailbrake.simulator_tools import Assumption, VerifyTool

SLIP_ANGLES = tuple(f"forza.wheel_{wheel}.normalised_slip_angle" for wheel in ("fl", "fr", "rl", "rr"))


@partial(wire.WireQuantity, "`forza.boost` where it is not 0")
def _boost_where_any(samples: wire.DriveSamples) -> wire.Floats:
    boost = samples.mean(samples.column("forza.boost"))
    return np.where(np.abs(boost) > 1.0, boost, np.nan)  # an electric car has none


@partial(wire.WireQuantity, "`driving_line` where it is not 0")
def _line_where_any(samples: wire.DriveSamples) -> wire.Floats:
    line = samples.mean(samples.column("driving_line"))
    return np.where(line != 0.0, line, np.nan)  # 0 in free roam: no line


@partial(wire.WireQuantity, "power over torque and engine speed")
def _power_over_product(samples: wire.DriveSamples) -> wire.Floats:
    power, torque, speed = (samples.column(name) for name in ("forza.power", "forza.torque", "engine_speed"))
    with np.errstate(divide="ignore", invalid="ignore"):
        return samples.mean(power / (torque * speed))


@partial(wire.WireQuantity, "sum of `normalised_slip_angle`")
def _mean_slip_angle(samples: wire.DriveSamples) -> wire.Floats:
    return samples.mean(sum((samples.column(name) for name in SLIP_ANGLES), np.zeros(len(samples.samples))))


RECORDED = "no page of the publisher says it; one recording of FH5 shows it"
ASSUMPTIONS = (
    Assumption("forza-stick-right",
        "the stick to the right turns the car to the right, and the axes are those of our pad",
        "a profile of the game can change it", "the car leaves the road in the first bend",
        wire.SlopeCheck(wire.rate_of("yaw"), wire.mean_of("controls.steer"), lo=0.02)),
    Assumption("forza-steer-echo",
        "Steer is the stick's position over 127, positive to the right, before any assistant",
        "some tools suspect that it depends on the speed", "`pad-check` fails with a pad that works",
        wire.SlopeCheck(wire.mean_of("steer"), wire.mean_of("controls.steer"), 0.7, 1.3)),
    Assumption("forza-handbrake-button", "the button A is the handbrake",
        "the default layout", "the car rolls away at rest, where our brake is the handbrake",
        wire.LevelCheck(wire.mean_of("handbrake"), 0.5, 1.0, (wire.REST,))),
    Assumption("forza-yaw-clockwise", "Yaw grows in a right turn", RECORDED,
        "maps are mirrored; the car leaves its line", wire.SlopeCheck(wire.COURSE_TURN, wire.YAW_TURN, 0.3, 2.0)),
    Assumption("forza-yaw-zero", "Yaw is 0 where the car faces world +Z", RECORDED,
        "the car drives across its road at once", wire.LevelCheck(wire.DRIFT, 0.0, 0.35, (wire.STRAIGHT,))),
    Assumption("forza-yaw-rate-right", "AngularVelocityY is positive in a right turn, in rad/s", RECORDED,
        "damping by yaw rate makes the car swing",
        wire.SlopeCheck(wire.mean_of("yaw_rate"), wire.rate_of("yaw"), 0.7, 1.3)),
    Assumption("forza-velocity-right", "VelocityX is that of the car frame, positive to the right", RECORDED,
        "drivers correct a slide the wrong way",
        wire.SlopeCheck(wire.mean_of("velocity_y"), wire.LEFT_BY_PLACE, 0.3, 1.7)),
    Assumption("forza-acceleration-right", "AccelerationX is the whole acceleration to the right, turning included",
        RECORDED, "the estimate of grip is wrong",
        wire.SlopeCheck(wire.mean_of("acceleration_y"), wire.CENTRIPETAL, 0.3, 2.0)),
    Assumption("forza-acceleration-gravity", "AccelerationY is without gravity", RECORDED,
        "a car at rest shows 1 g upwards", wire.LevelCheck(wire.mean_of("acceleration_z"), -3.0, 3.0, (wire.REST,))),
    Assumption("forza-roll-sign", "Roll is positive with the right side up", RECORDED,
        "reports show the car lean into bends", wire.SlopeCheck(wire.mean_of("roll"), wire.CENTRIPETAL, lo=1e-5)),
    Assumption("forza-pitch-sign", "Pitch is positive with the nose down", RECORDED,
        "reports show the car dive under power",
        wire.SlopeCheck(wire.mean_of("pitch"), wire.rate_of("speed"), hi=-1e-6, steps=wire.SPEED_CHANGES)),
    Assumption("forza-suspension-compression", "NormalizedSuspensionTravel is 1 at full compression", RECORDED,
        "loads move to the inner wheels in reports",
        wire.SlopeCheck(wire.right_less_left("forza.wheel_*.suspension_share"), wire.CENTRIPETAL, lo=1e-4)),
    Assumption("forza-slip-angle-sign", "TireSlipAngle has the sign opposite to the wheel's velocity to the right",
        RECORDED, "learned tyres push the car outward",
        wire.SlopeCheck(_mean_slip_angle, wire.CENTRIPETAL, hi=-1e-5)),
    Assumption("forza-wheel-order", "wheels are in the order FL, FR, RL, RR in every title",
        "by community tables", "slip of the wrong side",
        wire.SlopeCheck(wire.right_less_left("wheels.angular_velocity"), wire.rate_of("yaw"), lo=0.5)),
    Assumption("forza-race-clock", "CurrentRaceTime runs with the car, in s, also in free roam",
        "not documented for free roam; one recording of it", "speeds by places and lap times are wrong",
        wire.LevelCheck(wire.rate_of("time", "clock"), 0.9, 1.1)),
    Assumption("forza-timestamp-ms", "TimestampMS runs with the car, in ms",
        "not documented", "after a pause the car jumps",
        wire.LevelCheck(wire.rate_of("forza.timestamp", "clock"), 0.9, 1.1)),
    Assumption("forza-speed-length", "Speed is the length of Velocity, in m/s", RECORDED,
        "the car is driven too slowly",
        wire.SlopeCheck(wire.mean_of("speed"), wire.FORWARD_BY_PLACE, 0.8, 1.2, (wire.START,))),
    Assumption("forza-gear-codes", "Gear is 0 in reverse and 1 in first",
        "FH6 sends 11 in a shift", "the driver holds a gear that is none",
        wire.LevelCheck(wire.mean_of("gear"), 0.5, 1.5, (wire.STRAIGHT,))),
    Assumption("forza-line-left", "NormalizedDrivingLine is positive where the car is left of the line",
        "one user found it", "`lane_keep` steers off the road",
        wire.SlopeCheck(_line_where_any, wire.LEFT_OF_START, lo=1e-3)),
    Assumption("forza-tyre-fahrenheit", "TireTemp is in degrees Fahrenheit",
        "by the values of one recording", "tyres are at 25 degC all the time",
        wire.LevelCheck(wire.mean_of("wheels.core_temperature"), 35.0, 150.0, (wire.REST,))),
    Assumption("forza-boost-psi", "Boost is in psi above the atmosphere", "documented for FH6 alone",
        "boost in recordings is no engine's", wire.LevelCheck(_boost_where_any, -1.1e5, -1.5e4, (wire.REST,))),
    Assumption("forza-power-watt", "Power is Torque times engine speed, in W and N m", RECORDED,
        "learned engines are a thousand times too weak",
        wire.LevelCheck(_power_over_product, 0.9, 1.1, (wire.START, *wire.BENDS))),
    Assumption("forza-brake-advice", "NormalizedAIBrakeDifference is the reference's brake less the player's",
        "not documented", "none: no driver reads it",
        "it is 0 unless the game shows its line"),
    Assumption("forza-neutral-code", "neutral has no code of its own", "not found",
        "a gear that is none while standing", "an automatic gearbox leaves neutral"),
    Assumption("forza-puddle-type", "WheelInPuddleDepth is a number in every title",
        "the page of FH6 calls it an integer", "puddles are never seen", "it needs a puddle"),
    Assumption("forza-rewind-clock", "a rewind sets CurrentRaceTime and Position back", "inferred",
        "a rewound lap counts twice", "rewind while `trailbrake watch --sim forza` runs"),
    Assumption("forza-tyre-wear-new", "TireWear is 0 for a new tyre and 1 for a worn one", "inferred; FM2023 alone",
        "tyres seem to recover", "it needs an hour of driving"),
)  # fmt: skip

VERIFY = VerifyTool(
    ASSUMPTIONS,
    signals=(
        "forza.boost", "forza.power", "forza.torque", "forza.timestamp", "forza.wheel_*.suspension_share",
        "forza.wheel_*.normalised_slip_angle",
    ),
)  # fmt: skip
