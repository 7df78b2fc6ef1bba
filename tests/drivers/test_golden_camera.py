"""Closed-loop goldens of the camera drivers: where they are on the way through a fork, which 5 % of any gain moves.

The world's own pictures, without JPEG: what another library makes of one is no business of a gain. After a change that
is meant to change how they drive: `PYTHONPATH=tests python tests/drivers/test_golden_camera.py`.
"""

import json
from pathlib import Path

import pytest
from helpers.goldens import find_differences

from trailbrake.control.minicar import free_space, sign_memory, wall_avoidance
from trailbrake.drivers.loading.driver_registry import builtin_driver_class
from trailbrake.drivers.originals import wall_follow_seed
from trailbrake.planning.course import UnmappedCourse
from trailbrake.state import Pose, SimCommand
from trailbrake.world.miniature.track_library import load_miniature_track
from trailbrake.world.miniature.world import MiniatureWorld

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "camera.json"
# m and rad. Rounding on another processor changes a pixel at the most; 5 % of a gain moves the car by millimetres.
TOLERANCE = 2e-4
PERIOD = 0.04
# Track, m along it, m left of the middle of the road, and the ticks after which it is looked at: a fork's sign and a
# U-turn by its shorter way.
SCENES = {"clover": (22.1, 0.39, (60, 100))}

pytestmark = pytest.mark.slow
_worlds = {}


def figures(name):
    """Return where the car is at a few moments."""
    found = {}
    for track, (s, offset, looks) in SCENES.items():
        if track not in _worlds:
            _worlds[track] = MiniatureWorld(load_miniature_track(track), "B", (), PERIOD)
        world, driver = _worlds[track], builtin_driver_class(name)()
        world.reset(0)
        x, y, yaw = world.track.pose_at(s, offset)
        world.execute_command(0, SimCommand(teleport=Pose(x, y, 0.0, yaw)))
        driver.reset(UnmappedCourse())
        for k in range(1, looks[-1] + 1):
            world.step([driver.act(world.car_state(0), PERIOD if k > 1 else 0.0)])
            if k in looks:
                state = world.car_state(0)
                found |= {f"{track}_{what}_{k}": float(getattr(state, what)) for what in ("x", "y", "yaw")}
    return found


DRIVERS = ("lane_sign", "wall_follow", "wall_follow_seed")
# What steers. The clearances of arcs and how long points are kept only forbid arcs, which are 1.5 degrees apart.
GAINS = [
    ("wall_follow", wall_avoidance, "AIM_LIMITS"),
    ("wall_follow", wall_avoidance, "CLEARANCE"),
    ("wall_follow", wall_avoidance, "HALF_FIELD_OF_VIEW"),
    ("wall_follow", free_space, "DEEP_SHARE"),
    ("lane_sign", wall_avoidance, "AIM_LIMITS"),
    ("lane_sign", wall_avoidance, "CLEARANCE"),
    ("lane_sign", free_space, "PASSAGE_DEPTH"),
    ("lane_sign", sign_memory, "DECISION_DISTANCE"),
    ("wall_follow_seed", wall_follow_seed, "MAX_ANGLE"),
]


def more(gain):
    """Return a gain, or all of its parts, 5 % higher."""
    return tuple(1.05 * part for part in gain) if isinstance(gain, tuple) else 1.05 * gain


def golden(name):
    return json.loads(GOLDEN.read_text())["drivers"][name]


@pytest.mark.parametrize("name", DRIVERS)
def test_it_drives_as_it_did(name):
    assert find_differences(figures(name), golden(name), TOLERANCE) == []


@pytest.mark.parametrize(("name", "module", "gain"), GAINS, ids=[f"{name}-{gain}" for name, _, gain in GAINS])
def test_five_per_cent_of_a_gain_would_be_noticed(name, module, gain, monkeypatch):
    monkeypatch.setattr(module, gain, more(getattr(module, gain)))
    assert find_differences(figures(name), golden(name), TOLERANCE)


if __name__ == "__main__":
    kept = {name: {k: round(v, 6) for k, v in figures(name).items()} for name in DRIVERS}
    GOLDEN.write_text(
        json.dumps({"made_by": "python tests/drivers/test_golden_camera.py", "drivers": kept}, indent=1) + "\n"
    )
