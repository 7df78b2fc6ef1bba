"""Closed-loop goldens of the test manoeuvres: a few figures each, that 5 % of any gain moves.

After a change that is meant to change how they drive, look at the differences and write new ones:
`PYTHONPATH=tests python tests/drivers/test_golden_manoeuvres.py`.
"""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from helpers.goldens import find_differences
from helpers.manoeuvres import manoeuvre

from trailbrake.cars.car_library import load_car
from trailbrake.control.vehicle import lane_keeping, speed_control
from trailbrake.drivers import double_lane_change
from trailbrake.drivers.loading.driver_registry import builtin_driver_class
from trailbrake.drivers.originals import expo_demos, stock_block
from trailbrake.planning.lane_change import iso_3888_1, lane_clearances

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "manoeuvres.json"
# Rounding on another processor moves these by less than a millionth; 5 % of a gain by ten times as much as this.
TOLERANCE = 1e-4

pytestmark = pytest.mark.slow


def figures(drive, *times):
    """Return x, y, yaw and speed at `times` (s)."""
    return {
        f"{name}_{time:g}": float(np.interp(time, drive["time"], drive[name]))
        for time in times
        for name in ("x", "y", "yaw", "speed")
    }


def speed(name):
    """From 19 m/s up to the speed: the limit, the way in, the hold."""
    return figures(manoeuvre(builtin_driver_class(name)(speed=20.0), 3.0, speed=19.0), 0.5, 1.5, 3.0)


def heading(name):
    """A turn of 10 degrees at a held speed."""
    driver = builtin_driver_class(name)(heading=math.radians(10.0), speed=20.0)
    return figures(manoeuvre(driver, 3.5, speed=20.0), 1.0, 2.0, 3.5)


def stock(name):
    """The stock block from its band on."""
    return figures(manoeuvre(builtin_driver_class(name)(), 3.0, track="plain", speed=19.0), 1.0, 3.0)


def lane_change(name):
    """How far from the cones, and where between them."""
    end = double_lane_change.CONES_START + 130.0
    drive = manoeuvre(builtin_driver_class(name)(), 25.0, until=lambda state: state.x > end)
    car = load_car("hatchback")
    room = lane_clearances(
        iso_3888_1(car.body.width, double_lane_change.CONES_START), car, drive["x"], drive["y"], drive["yaw"]
    )
    return {f"room_{k}": float(value) for k, value in enumerate(room)}


def lane_change_demo(name):
    """The first swerve."""
    drive = manoeuvre(builtin_driver_class(name)(), 12.0, until=lambda state: state.x > 90.0)
    return {"reaches": float(drive["y"].max()), "yaw": float(drive["yaw"].max()), **figures(drive, 8.0)}


def stop(name):
    """Where and how it stands."""
    drive = manoeuvre(
        builtin_driver_class(name)(), 22.0, y=1.0, until=lambda state: state.x > 200.0 and state.speed < 1.0
    )
    return {**figures(drive, 4.0, 8.0), "stands": float(drive["x"][-1]), "beside": float(drive["y"][-1])}


def vectoring(name):
    """The first bend of the oval."""
    return figures(manoeuvre(builtin_driver_class(name)(), 9.0, track="copperbowl"), 4.0, 9.0)


CASES = {
    "speed_hold": speed,
    "speed_hold_torque": speed,
    "heading_hold": heading,
    "heading_hold_torque": heading,
    "speed_hold_seed": stock,
    "speed_hold_torque_seed": stock,
    "heading_hold_seed": stock,
    "double_lane_change": lane_change,
    "double_lane_change_seed": lane_change_demo,
    "brake_test": stop,
    "brake_test_seed": stop,
    "torque_vectoring_seed": vectoring,
}
GAINS = [
    ("speed_hold", speed_control, "PEDAL_GAIN"),
    ("speed_hold", speed_control, "PEDAL_INTEGRAL_GAIN"),
    ("speed_hold_torque", speed_control, "TORQUE_GAIN"),
    ("speed_hold_torque", speed_control, "TORQUE_INTEGRAL_GAIN"),
    ("heading_hold", lane_keeping, "PROPORTIONAL_GAIN"),
    ("heading_hold", lane_keeping, "INTEGRAL_GAIN"),
    ("heading_hold_torque", lane_keeping, "MAX_STEER_SPEED_SQUARED"),
    ("brake_test", lane_keeping, "LOOK_AHEAD_TIME"),
    ("speed_hold_seed", stock_block, "STEER_STEP"),
    ("heading_hold_seed", stock_block, "STEER_STEP"),
    ("double_lane_change", double_lane_change, "ROOM_SHARE"),
    ("double_lane_change_seed", expo_demos, "STEER_GAIN"),
    ("torque_vectoring_seed", expo_demos, "TORQUE"),
    ("torque_vectoring_seed", expo_demos, "STEER_SHARE"),
]


def golden(name):
    return json.loads(GOLDEN.read_text())["manoeuvres"][name]


@pytest.mark.parametrize("name", CASES)
def test_it_drives_as_it_did(name):
    assert find_differences(CASES[name](name), golden(name), TOLERANCE) == []


@pytest.mark.parametrize(("name", "module", "gain"), GAINS, ids=[f"{name}-{gain}" for name, _, gain in GAINS])
def test_five_per_cent_of_a_gain_would_be_noticed(name, module, gain, monkeypatch):
    monkeypatch.setattr(module, gain, 1.05 * getattr(module, gain))
    assert find_differences(CASES[name](name), golden(name), TOLERANCE)


def test_goldens_are_there_for_every_case():
    kept = json.loads(GOLDEN.read_text())
    assert set(kept["manoeuvres"]) == set(CASES)
    assert Path(__file__).name in kept["made_by"]


if __name__ == "__main__":
    kept = {name: {k: round(v, 7) for k, v in measure(name).items()} for name, measure in CASES.items()}
    content = {"made_by": "python tests/drivers/test_golden_manoeuvres.py", "manoeuvres": kept}
    GOLDEN.write_text(json.dumps(content, indent=1) + "\n")
