"""Drivers come back onto the road from bad places, through real wires; `experiments/bad_poses.py` has more places."""

import pytest
from bad_poses import BadPose, draw_poses, run_poses

pytestmark = pytest.mark.slow

LIMIT_S = 30.0


def poses(track, car, count, seed=0):
    return draw_poses(count, seed, tracks=(track,), cars=(car,))


@pytest.mark.parametrize(
    ("sim", "driver", "drawn"),
    [
        ("assetto", "line_follow", poses("pinegrove", "gt3", 5)),
        ("assetto", "line_follow", poses("kartwerk", "f1", 2, seed=3)),
        ("forza", "lane_keep", poses("pinegrove", "hatchback", 3)),
        ("forza", "curvature_cut", poses("pinegrove", "hatchback", 1, seed=5)),
        # This wire has no gears: its wheels are driven backwards by torques.
        ("beamng", "line_follow", [BadPose(0, "nose", "pinegrove", "hatchback", 0.5, 1.0, 1.6)]),
    ],
    ids=["assetto", "walls at the edge", "forza", "forza, faster", "beamng"],
)
def test_they_come_back(sim, driver, drawn):
    late = [outcome for outcome in run_poses(drawn, driver, sim) if not outcome.seconds <= LIMIT_S]
    assert not late


def test_a_car_that_cannot_get_out_is_put_back_by_the_simulator(monkeypatch):
    from trailbrake.control.vehicle import recovery

    monkeypatch.setattr(recovery.RoadRecovery, "_compute_pedals", lambda self, car, error, dt: (0.0, 1.0))
    (outcome,) = run_poses([BadPose(0, "nose", "pinegrove", "gt3", 0.5, 1.0, 1.6)])
    assert outcome.was_placed
    assert outcome.seconds <= LIMIT_S
