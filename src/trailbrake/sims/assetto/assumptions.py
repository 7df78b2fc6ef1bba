"""What our code takes for granted of the Custom AI pages, and how `verify assetto` decides it.

Source: protocol page assetto-custom-ai, and what it marks as inferred, disputed or not found.
"""

import math
from functools import partial

import numpy as np

from trailbrake import wire_checks as wire
from trailbrake.simulator_tools import Assumption, VerifyStep, VerifyTool
from trailbrake.state import CarState, Controls, Pose, SimCommand

HANDBRAKE, TELEPORT = "handbrake", "teleport"
TURNED_BY = 0.4  # rad, of the heading in the teleport


@partial(wire.WireQuantity, "sum of the front cambers over their sizes")
def _camber_asymmetry(samples: wire.DriveSamples) -> wire.Floats:
    """Return the sum of both front cambers over their sizes: 0 where the wheels lean the same way outward."""
    left, right = samples.mean(samples.column("wheels.camber"))[:, :2].T
    with np.errstate(invalid="ignore"):
        return np.asarray(np.abs(left + right) / (np.abs(left) + np.abs(right)), dtype=np.float64)


@partial(wire.WireQuantity, "angle to the requested heading")
def _heading_after_teleport(samples: wire.DriveSamples) -> wire.Floats:
    errors = []
    for sample in samples.samples[len(samples.samples) // 2 :]:
        command = sample.controls.command
        if command is not None and command.teleport is not None:
            errors.append(abs(math.remainder(sample.state.yaw - command.teleport.yaw, 2.0 * math.pi)))
    return np.array(errors)


def _turn_on_the_spot(state: CarState) -> SimCommand:
    return SimCommand(teleport=Pose(state.x, state.y, state.z, state.yaw + TURNED_BY))


ASSUMPTIONS = (
    Assumption("assetto-steer-right", "steer of CarControls is positive to the right",
        "two programs that drove in the game agree",
        "the car leaves the road in the first bend",
        wire.SlopeCheck(wire.rate_of("yaw"), wire.mean_of("controls.steer"), lo=0.02)),
    Assumption("assetto-wheel-angle-right", "steer of CarData has the sign of that of CarControls",
        "no source has compared the two", "drivers that read the steering angle swing",
        wire.SlopeCheck(wire.mean_of("steering_wheel_angle"), wire.mean_of("controls.steer"), lo=1e-3)),
    Assumption("assetto-wheel-angle-degrees", "steer of CarData is in degrees of the steering wheel, not a share",
        "acpmf_physics has a share",
        "recordings show a steering wheel that hardly moves",
        wire.LevelCheck(wire.size_of("steering_wheel_angle"), 0.1, 15.0, wire.BENDS)),
    Assumption("assetto-world-left", "facing world +Z, the left of a car is +X",
        "sources disagree",
        "maps are mirrored; the car leaves its line",
        wire.SlopeCheck(wire.COURSE_TURN, wire.YAW_TURN, 0.3, 2.0)),
    Assumption("assetto-yaw-rate-left", "y of local_angular_velocity is positive in a left turn, in rad/s",
        "one program says so", "damping by yaw rate makes the car swing",
        wire.SlopeCheck(wire.mean_of("yaw_rate"), wire.rate_of("yaw"), 0.7, 1.3)),
    Assumption("assetto-car-frame-left", "x of the car frame is to the left", "inferred from the world's axes",
        "drivers correct a slide the wrong way",
        wire.SlopeCheck(wire.mean_of("velocity_y"), wire.LEFT_BY_PLACE, 0.3, 1.7)),
    Assumption("assetto-car-frame-forward", "z of the car frame is forward", "inferred from the world's axes",
        "the car seems to drive backwards",
        wire.SlopeCheck(wire.mean_of("velocity_x"), wire.FORWARD_BY_PLACE, 0.8, 1.2, (wire.START,))),
    Assumption("assetto-acceleration-left", "x of acc_g is positive in a left turn", "no source says it",
        "the estimate of grip is wrong",
        wire.SlopeCheck(wire.mean_of("acceleration_y"), wire.CENTRIPETAL, 0.3, 2.0)),
    Assumption("assetto-acceleration-forward", "z of acc_g is positive when the car gets faster",
        "no source says it", "learned cars have brakes for engines",
        wire.SlopeCheck(wire.mean_of("acceleration_x"), wire.rate_of("speed"), 0.5, 1.5, wire.SPEED_CHANGES)),
    Assumption("assetto-acceleration-gravity", "acc_g is without gravity", "no source says it",
        "a car at rest shows 1 g upwards", wire.LevelCheck(wire.mean_of("acceleration_z"), -3.0, 3.0, (wire.REST,))),
    Assumption("assetto-gear-codes", "gear is 0 in reverse, 1 in neutral, 2 in first",
        "one program has seen it", "the driver shifts one gear too far",
        wire.LevelCheck(wire.mean_of("gear"), 0.5, 1.5, (wire.STRAIGHT,))),
    Assumption("assetto-clutch-released", "clutch is 1 with the pedal released, 0 with it pressed",
        "documents contradict each other", "the engine revs and the car does not move",
        wire.LevelCheck(wire.mean_of("clutch"), 0.5, 1.0, (wire.REST,))),
    Assumption("assetto-packet-rate", "packet_id grows by one in each physics step of 1/333 s",
        "the rate is documented", "lap times are wrong by a factor",
        wire.LevelCheck(wire.rate_of("time", "clock"), 0.9, 1.1)),
    Assumption("assetto-wheel-order", "wheels are in the order front left, front right, rear left, rear right",
        "as on the game's other pages", "load and slip of the wrong side",
        wire.SlopeCheck(wire.right_less_left("wheels.angular_velocity"), wire.rate_of("yaw"), lo=0.5)),
    Assumption("assetto-pressure-psi", "pressure of a tyre is in psi above ambient",
        "inferred from the game's other pages", "pressures in recordings are no tyre's",
        wire.LevelCheck(wire.mean_of("wheels.pressure"), 7e4, 4.5e5, (wire.REST,))),
    Assumption("assetto-camber-outward", "camber_rad is positive when the top leans outward, on both sides",
        "not found", "camber of the left wheels has the wrong sign",
        wire.LevelCheck(_camber_asymmetry, 0.0, 0.5, (wire.REST,))),
    Assumption("assetto-slip-angle-left", "slip_angle_deg is positive when the contact patch moves to the left",
        "not found", "learned tyres push the car outward",
        wire.SlopeCheck(wire.mean_of("wheels.slip_angle"), wire.CENTRIPETAL, hi=-1e-5)),
    Assumption("assetto-handbrake-share", "handbrake is a number from 0 to 1 at byte 16",
        "the other page has a flag", "the handbrake is on or off only",
        wire.LevelCheck(wire.mean_of("handbrake"), 0.4, 0.6, (HANDBRAKE,))),
    Assumption("assetto-teleport-heading", "teleport_dir is where the nose points",
        "it was inverted in older patches", "cars stand the wrong way round after a teleport",
        wire.LevelCheck(_heading_after_teleport, 0.0, 0.2, (TELEPORT,))),
    Assumption("assetto-lap-progress", "spline_position, at byte 656, is the share of the lap, and grows",
        "a program found other numbers", "laps are not counted",
        wire.LevelCheck(wire.rate_of("lap_progress"), 1e-5, 0.1, (wire.STRAIGHT,))),
    Assumption("assetto-sim-state-version", "where SimState.v0 and .v1 both exist, the game obeys .v1", "not found",
        "`trailbrake sim assetto time-scale` has no effect",
        "the checks measure by the game's clock"),
    Assumption("assetto-line-colour", "colours of debug lines are 0xAABBGGRR", "not found", "red lines are blue",
        "only eyes can see it: `trailbrake drive --sim assetto --live --draw`"),
    Assumption("assetto-public-steer", "steer of CarPublic is in the degrees of CarData", "not found",
        "steering angles of other cars are wrong", "it needs a second car that is driven"),
    Assumption("assetto-switch-levels",
        "drs, kers and headlights are levels; the _up and _dn bytes act on their rising edge",
        "inferred from the paddles", "a setting moves by many steps, or flickers", "few cars have them"),
    Assumption("assetto-release", "the game takes the car back when CarControls is closed", "one program says so",
        "the car rolls on with the last pedals after a drive", "look at the car"),
)  # fmt: skip

VERIFY = VerifyTool(
    ASSUMPTIONS,
    steps=(
        VerifyStep(HANDBRAKE, "stand, half of the handbrake", 1.0, lambda state: Controls(brake=1.0, handbrake=0.5)),
        VerifyStep(TELEPORT, "turn the car on the spot", 1.5, lambda state: Controls(brake=1.0), _turn_on_the_spot),
    ),
)
