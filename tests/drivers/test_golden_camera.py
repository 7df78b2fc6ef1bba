"""Closed-loop goldens of the camera drivers: where they are on the way through a fork, which 5 % of any gain moves.

The world's own pictures, without JPEG: what another library makes of one is no business of a gain. After a change that
is meant to change how they drive: `python tests/drivers/test_golden_camera.py`.
"""

import json
from pathlib import Path

import pytest

from trailbrake.control import opening, road_signs, roam
from trailbrake.drivers.load import driver_class
from trailbrake.planning.course import Unmapped
from trailbrake.state import SimCommand
from trailbrake.state.controls import Pose
from trailbrake.tracks.miniature.load import load
from trailbrake.world.miniature import MiniatureWorld

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "camera.json"
# m and rad. Rounding on another processor changes a pixel at the most; 5 % of a gain moves the car by millimetres.
TOLERANCE = 2e-4
PERIOD = 0.04
# Track, m along it, m left of the middle of the road, and the ticks after which it is looked at: a fork's sign and a
# U-turn by its shorter way.
SCENES = {"clover": (22.0, 0.39, (60, 100))}

pytestmark = pytest.mark.slow
_worlds = {}


def figures(name):
    """Return where the car is at a few moments."""
    found = {}
    for track, (s, offset, looks) in SCENES.items():
        if track not in _worlds:
            _worlds[track] = MiniatureWorld(load(track), "B", (), PERIOD)
        world, driver = _worlds[track], driver_class(name)()
        world.reset(0)
        x, y, yaw = world.track.place(s, offset)
        world.command(0, SimCommand(teleport=Pose(x, y, 0.0, yaw)))
        driver.reset(Unmapped())
        for k in range(1, looks[-1] + 1):
            world.step([driver.act(world.state(0), PERIOD if k > 1 else 0.0)])
            if k in looks:
                state = world.state(0)
                found |= {f"{track}_{what}_{k}": float(getattr(state, what)) for what in ("x", "y", "yaw")}
    return found


DRIVERS = ("lane_sign", "wall_follow")
# What steers. CLOSE, AHEAD, HIDDEN and KEPT_WAY only forbid arcs, which are 1.5 degrees apart.
GAINS = [
    ("wall_follow", roam, "AIM"),
    ("wall_follow", roam, "CLEARANCE"),
    ("wall_follow", roam, "VIEW"),
    ("wall_follow", opening, "ENOUGH"),
    ("lane_sign", roam, "AIM"),
    ("lane_sign", roam, "CLEARANCE"),
    ("lane_sign", opening, "PASSAGE"),
    ("lane_sign", road_signs, "TAKEN"),
]


def more(gain):
    """Return a gain, or all of its parts, 5 % higher."""
    return tuple(1.05 * part for part in gain) if isinstance(gain, tuple) else 1.05 * gain


def differences(now, kept):
    """Return what is beyond the tolerance, in words."""
    return [f"{key}: {now[key]} instead of {kept[key]}" for key in kept if not abs(now[key] - kept[key]) <= TOLERANCE]


def golden(name):
    return json.loads(GOLDEN.read_text())["drivers"][name]


@pytest.mark.parametrize("name", DRIVERS)
def test_it_drives_as_it_did(name):
    assert differences(figures(name), golden(name)) == []


@pytest.mark.parametrize(("name", "module", "gain"), GAINS, ids=[f"{name}-{gain}" for name, _, gain in GAINS])
def test_five_per_cent_of_a_gain_would_be_noticed(name, module, gain, monkeypatch):
    monkeypatch.setattr(module, gain, more(getattr(module, gain)))
    assert differences(figures(name), golden(name))


if __name__ == "__main__":
    kept = {name: {k: round(v, 6) for k, v in figures(name).items()} for name in DRIVERS}
    GOLDEN.write_text(
        json.dumps({"made_by": "python tests/drivers/test_golden_camera.py", "drivers": kept}, indent=1) + "\n"
    )
