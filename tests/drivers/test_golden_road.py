"""Closed-loop goldens of the drivers that keep a lane, a speed or a distance: where they are at a few moments.

The world is driven directly; what simulators with a line of their own supply is computed from the road. After a change
that is meant to change how they drive, look at the differences and write new figures:
`PYTHONPATH=tests python tests/drivers/test_golden_road.py`.
"""

import dataclasses
import json
import math
from pathlib import Path

import numpy as np
import pytest
from helpers.goldens import find_differences
from helpers.manoeuvres import course_of, fill_line, manoeuvre

from trailbrake.control.vehicle import manual_input, speed_control
from trailbrake.control.vehicle.line_tracking import TrackingGain
from trailbrake.control.vehicle.manual_input import ManualInput
from trailbrake.drivers import line_track
from trailbrake.drivers.loading.driver_registry import builtin_driver_class
from trailbrake.drivers.originals import cruise_seed, curvature_cut_seed, lane_keep_seed
from trailbrake.sims.udacity import spec as udacity
from trailbrake.state import OtherCar

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "road.json"
# m, rad and m/s. Rounding on another processor moves these by less than a millionth; 5 % of a gain by more than this.
TOLERANCE = 1e-4
MOMENTS = (0.25, 0.5, 0.75, 0.99)  # shares of a scene

pytestmark = pytest.mark.slow


@dataclasses.dataclass(frozen=True)
class Scene:
    """One short drive: `at` is (m along pinegrove, m left of the middle), `speed` a rolling start (m/s)."""

    seconds: float
    speed: float
    at: tuple = (0.0, 0.0)
    gains: dict = dataclasses.field(default_factory=dict)  # other than the defaults, so that all of them act
    period: float = 0.01
    car: str = "gt3"
    camera: bool = False


SLOW_CAMERA = {"period": 0.04, "camera": True, "car": "hatchback"}
SCENES = {
    "cruise": [Scene(3.0, 22.0)],
    "cruise_seed": [Scene(4.0, 19.0)],
    "lane_keep": [Scene(4.0, 17.0, (290.0, 1.0)), Scene(2.0, 22.0, (150.0, 0.5))],
    "lane_keep_seed": [Scene(3.0, 17.0, (220.0, 0.3))],
    # Its speed begins at the floor and rises slowly: at its quickest it meets a bend and the most in seconds.
    "curvature_cut": [
        Scene(4.0, 6.0, (345.0, 3.0), {"rise": 2.0, "floor": 6.0}),
        Scene(5.0, 12.0, (290.0, 1.0), {"rise": 2.0, "floor": 13.0}),
        Scene(3.0, 7.0, (100.0, 0.2), {"rise": 2.0, "floor": 6.0, "speed": 8.0}),
        Scene(3.0, 8.0, (100.0, 0.2), {"rise": 2.0, "floor": 6.0, "expected": 20.0}),
    ],
    "curvature_cut_seed": [Scene(1.5, 33.0, (60.0, 0.3)), Scene(2.0, 12.0, (705.0, 0.3))],
    "lane_pid": [Scene(5.0, 13.0, (360.0, 1.5))],
    "car_test": [Scene(4.0, 5.0, (200.0, 0.5))],
    "survey": [Scene(5.0, 8.5, (200.0, 0.5))],
    "line_track": [Scene(4.0, 30.0, (165.0, 0.3))],
    "waypoint_follow": [Scene(5.0, 14.0, (290.0, 1.0)), Scene(2.0, 5.0, (290.0, 1.0))],
    "road_sight": [Scene(3.0, 11.0, (200.0, 1.0), **SLOW_CAMERA)],
}
AMONG_OTHERS = ("convoy", "lane_switch", "race_line")
DRIVERS = [*SCENES, *AMONG_OTHERS, "manual"]


def figures(drive, number=0):
    """Return x, y, yaw and speed at MOMENTS of a drive."""
    time = drive["time"]
    moments = {share: time[0] + share * (time[-1] - time[0]) for share in MOMENTS}
    return {
        f"{number}_{name}_{share:g}": float(np.interp(at, time, drive[name]))
        for share, at in moments.items()
        for name in ("x", "y", "yaw", "speed")
    }


def play(scene, driver, complete=fill_line):
    """Drive a scene."""
    return manoeuvre(
        driver, scene.seconds, track="pinegrove", car=scene.car, speed=scene.speed, at=scene.at, period=scene.period,
        camera=udacity.CAMERA if scene.camera else None, complete=complete,
    )  # fmt: skip


def by_scenes(name, gain=""):
    """Return the figures of a driver's scenes, with a gain 5 % higher than it is there."""
    cls, found = builtin_driver_class(name), {}
    for number, scene in enumerate(SCENES[name]):
        values = scene.gains
        if gain:
            usual = {field.name: field.default for field in dataclasses.fields(cls.Gains)}
            values = values | {gain: 1.05 * (usual | values)[gain]}
        driver = cls(cls.Gains(**values)) if values else cls()
        found |= figures(play(scene, driver), number)
    return found


def behind_another_car(name):
    """Return the figures of a driver that comes up to a car that is slow and slower still, on the line ahead of it."""
    line = course_of("pinegrove", "gt3").line

    def complete(state, road):
        s = 125.0 + 12.0 * state.time - 0.6 * state.time**2
        x, y, z, yaw = line.points(s)[0].tolist()
        speed = 12.0 - 1.2 * state.time
        state.others = [OtherCar(1, x, y, z, yaw, speed * math.cos(yaw), speed * math.sin(yaw), speed, 0.0)]

    return figures(play(Scene(5.0, 20.0, (80.0, 0.0)), builtin_driver_class(name)(), complete))


KEYS = [  # (until, what is pressed)
    (0.6, ManualInput(steer=1.0, throttle=1.0)),
    (1.0, ManualInput()),
    (1.6, ManualInput(steer=-1.0, brake=1.0)),
    (2.6, ManualInput(brake=1.0)),
]
STICK = [(1.0, ManualInput(steer=0.2, brake=0.205, keys=False)), (1.8, ManualInput(steer=0.8, brake=1.0, keys=False))]


def by_hand():
    """`manual`: keys at speed, and a stick that stops a slow car and backs it."""
    found = {}
    for number, (speed, script) in enumerate([(14.0, KEYS), (0.578, STICK)]):
        driver, clock = builtin_driver_class("manual")(), {}

        def complete(state, road, clock=clock):
            clock["now"] = state.time

        def hands(clock=clock, script=script):
            return next((wish for until, wish in script if clock["now"] < until), None)

        driver.hands = hands
        found |= figures(play(Scene(script[-1][0] + 0.4, speed, (100.0, 0.0)), driver, complete), number)
    return found


def measured(name):
    """Return all figures of a driver."""
    if name in AMONG_OTHERS:
        return behind_another_car(name)
    return by_hand() if name == "manual" else by_scenes(name)


DECLARED = [
    (name, field.name)
    for name in SCENES
    if hasattr(builtin_driver_class(name), "Gains")
    for field in dataclasses.fields(builtin_driver_class(name).Gains)
]
CONSTANTS = [
    ("convoy", speed_control, "STANDSTILL_GAP"),
    ("convoy", speed_control, "TIME_HEADWAY"),
    ("convoy", speed_control, "ASSUMED_DECELERATION"),
    ("convoy", speed_control, "BRAKE_GAIN"),
    ("manual", manual_input, "MAX_LATERAL_ACCELERATION"),
    ("manual", manual_input, "SLIP_ALLOWANCE"),
    ("manual", manual_input, "STEER_RATE"),
    ("manual", manual_input, "STEER_RETURN_RATE"),
    ("manual", manual_input, "PEDAL_PRESS_RATE"),
    ("manual", manual_input, "PEDAL_RELEASE_RATE"),
    ("manual", manual_input, "STANDSTILL_SPEED"),
    ("manual", manual_input, "REVERSE_HOLD_TIME"),
    ("manual", manual_input, "PRESSED_PEDAL"),
    ("cruise_seed", cruise_seed, "SPEED"),
    ("lane_keep_seed", lane_keep_seed, "SPEED"),
    ("lane_keep_seed", lane_keep_seed, "LINE_STEPS"),
    ("curvature_cut_seed", curvature_cut_seed, "SPEED"),
    ("curvature_cut_seed", curvature_cut_seed, "LINE_STEPS"),
    ("curvature_cut_seed", curvature_cut_seed, "CUT_RADIUS"),
]


def golden(name):
    return json.loads(GOLDEN.read_text())["drivers"][name]


@pytest.mark.parametrize("name", DRIVERS)
def test_it_drives_as_it_did(name):
    assert find_differences(measured(name), golden(name), TOLERANCE) == []


@pytest.mark.parametrize(("name", "gain"), DECLARED)
def test_five_per_cent_of_a_declared_gain_would_be_noticed(name, gain):
    assert find_differences(by_scenes(name, gain), golden(name), TOLERANCE)


@pytest.mark.parametrize(("name", "module", "gain"), CONSTANTS, ids=[f"{name}-{gain}" for name, _, gain in CONSTANTS])
def test_five_per_cent_of_a_constant_would_be_noticed(name, module, gain, monkeypatch):
    monkeypatch.setattr(module, gain, 1.05 * getattr(module, gain))
    assert find_differences(measured(name), golden(name), TOLERANCE)


@pytest.mark.parametrize("gain", ["STEER", "LOOK_AHEAD", "YAW_DAMPING", "STEER_LEAD", "SPEED_LEAD", "SPEED"])
def test_five_per_cent_of_a_gain_of_the_tracking_law_would_be_noticed(gain, monkeypatch):
    gains = list(line_track.DEFAULT_GAINS)
    gains[TrackingGain[gain]] *= 1.05
    monkeypatch.setattr(line_track, "DEFAULT_GAINS", tuple(gains))
    assert find_differences(measured("line_track"), golden("line_track"), TOLERANCE)


def test_goldens_are_there_for_every_case():
    kept = json.loads(GOLDEN.read_text())
    assert set(kept["drivers"]) == set(DRIVERS)
    assert Path(__file__).name in kept["made_by"]


if __name__ == "__main__":
    kept = {name: {k: round(v, 7) for k, v in measured(name).items()} for name in DRIVERS}
    content = {"made_by": "python tests/drivers/test_golden_road.py", "drivers": kept}
    GOLDEN.write_text(json.dumps(content, indent=1) + "\n")
