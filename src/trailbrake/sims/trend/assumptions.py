"""What our code takes for granted of Formula Trend's messages, and how `verify trend` decides it.

Source: protocol page formula-trend: what is inferred, measured on recordings of others, or not found. The wire has no
place and no heading, so that little can be decided of how the car turns.
"""

from functools import partial

import numpy as np

from trailbrake import wire_checks as wire
from trailbrake.sims.trend import spec
from trailbrake.simulator_tools import Assumption, VerifyStep, VerifyTool
from trailbrake.state import Controls, SimCommand

PULSE, SLOW_PULSE, PULSE_BRAKE, RESTART = "pulse", "slow pulse", "pulse brake", "restart"
SKY_ROWS = 40  # from the top of a picture
COLOURED = 5.0  # of 255, between red and blue: less is grey or white
STEER = 0.1


@partial(wire.WireQuantity, "blue less red of the sky")
def _blue_less_red(samples: wire.DriveSamples) -> wire.Floats:
    """Return blue less red of the sky, of every tenth sample; NaN where it has no colour, as in look A."""
    values = []
    for sample in samples.samples[::10]:
        if sample.state.image is not None:
            red, _, blue = sample.state.image.pixels[:SKY_ROWS].reshape(-1, 3).mean(axis=0)
            values.append(float(blue) - float(red))
    found = np.array(values)
    return np.where(np.abs(found) > COLOURED, found, np.nan)


@partial(wire.WireQuantity, "width of the picture")
def _picture_width(samples: wire.DriveSamples) -> wire.Floats:
    return np.array([float(s.state.image.pixels.shape[1]) for s in samples.samples[::10] if s.state.image is not None])


ASSUMPTIONS = (
    Assumption("trend-steer-right", "steering_angle is positive to the right in both directions",
        "by people's recordings", "reports show a mirrored steer",
        wire.SlopeCheck(wire.mean_of("steer"), wire.mean_of("controls.steer"), lo=1e-3)),
    Assumption("trend-steer-degrees", "steering_angle is in degrees, 40 at most",
        "its relatives use a share", "the car hardly steers",
        wire.LevelCheck(wire.size_of("steer"), 0.5 * STEER, 1.5 * STEER, wire.BENDS)),
    Assumption("trend-speed-unit", "speed is in m/s", "its relatives send mph", "cars brake for bends much too late",
        wire.LevelCheck(wire.rate_of("speed"), 0.5, 1.6, (PULSE,))),
    Assumption("trend-pedal-saturates", "a throttle of a few hundredths drives nearly as well as a whole one",
        "by recordings of two versions", "the car does not move at small throttles",
        wire.LevelCheck(wire.rate_of("speed"), 0.5, 2.5, (SLOW_PULSE,))),
    Assumption("trend-pedal-brakes", "a throttle below 0 brakes a car that rolls, by about 2 m/s^2",
        "one program's comment", "the car does not stop before bends",
        wire.LevelCheck(wire.rate_of("speed"), -8.0, -0.7, (PULSE_BRAKE,))),
    Assumption("trend-brakes-echo", "brakes is 0 while nothing brakes", "not described",
        "reports show a brake all the time", wire.LevelCheck(wire.mean_of("brake"), 0.0, 0.1, (PULSE,))),
    Assumption("trend-clock-seconds", "time is in s", "one program accepts h:mm:ss too",
        "lap times are wrong by a factor",
        wire.LevelCheck(wire.rate_of("time", "clock"), 0.2, 5.0, (wire.START, *wire.BENDS))),
    Assumption("trend-status-running", "status is 0 while the race runs", "the other values are not found",
        "drives end at once", wire.LevelCheck(wire.mean_of("phase"), 0.0, 0.0)),
    Assumption("trend-lap-one", "lap is 1 in the first lap", "early versions send none",
        "one lap too many is counted", wire.LevelCheck(wire.mean_of("lap"), 1.0, 1.0, (RESTART,))),
    Assumption("trend-restart-clock", "the event restart sets clock and lap back", "read in published samples",
        "the next drive begins in the middle of a lap",
        wire.LevelCheck(wire.mean_of("time"), 0.0, 3.0, (RESTART,))),
    Assumption("trend-picture-rgb", "the picture is an ordinary JPEG: red, green, blue",
        "published programs swap the colours", "red lanes are not found",
        wire.LevelCheck(_blue_less_red, COLOURED, 255.0)),
    Assumption("trend-picture-size", "the picture is 320 pixels wide", "by recordings of two versions",
        "drivers look at the wrong rows", wire.LevelCheck(_picture_width, spec.IMAGE_SIZE[1], spec.IMAGE_SIZE[1])),
    Assumption("trend-steer-turns", "a positive steering_angle turns the car to the right", "as trend-steer-right",
        "the car leaves the road in the first bend",
        "look at the car in `bend to the left`"),
    Assumption("trend-text-values", "the simulator reads a steer only where its values are texts",
        "read in a relative's code", "none: we send texts", "the simulator would fall silent"),
    Assumption("trend-status-others", "a status other than 0 is the end of the race", "not found",
        "the car stops in the race", "it needs the end of a race"),
    Assumption("trend-one-answer", "one telemetry follows each command, and one more each opening of the connection",
        "read in the official samples", "answers come late by a picture or more",
        "`trailbrake record --sim trend --raw` shows them"),
    Assumption("trend-camera-place", "the camera is 0.05 m above the road, without pitch, 60.5 degrees wide",
        "measured on pictures", "distances are wrong by a factor",
        "it needs a road of known width"),
)  # fmt: skip

VERIFY = VerifyTool(
    ASSUMPTIONS,
    pace=0.6,
    throttle=0.35,
    steer=STEER,
    place="the start of a track, with a straight of 10 m ahead",
    steps=(
        VerifyStep(
            RESTART, "back to the start", 2.0, lambda state: Controls(brake=1.0), lambda state: SimCommand(restart=True)
        ),
        VerifyStep(PULSE, "more than a second of throttle", 1.4, lambda state: Controls(throttle=0.35)),
        VerifyStep(PULSE_BRAKE, "brake hard for a moment", 0.8, lambda state: Controls(brake=1.0)),
        VerifyStep(wire.REST, "stand", 1.5, lambda state: Controls(brake=1.0)),
        VerifyStep(SLOW_PULSE, "a second of a little throttle", 1.0, lambda state: Controls(throttle=0.06)),
        VerifyStep(wire.BRAKE, "brake to rest", 2.0, lambda state: Controls(brake=0.5)),
    ),
)
