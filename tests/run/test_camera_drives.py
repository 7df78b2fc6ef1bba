"""Whole drives by the camera, through the wire, in both looks."""

import pytest

from trailbrake.run.options import DriveOptions
from trailbrake.run.session import drive

# s of the first lap, from rest; lockstep repeats to the bit, and another library may round a picture otherwise.
GOLDEN = {
    ("lane_sign", "B"): 28.32,
    ("lane_sign", "A"): 28.35,
    ("wall_follow", "B"): 31.36,
    ("wall_follow", "A"): 31.33,
}


@pytest.mark.slow
@pytest.mark.parametrize(("driver", "look"), list(GOLDEN))
def test_a_clean_lap_by_pictures_alone(driver, look, tmp_path):
    summary = drive(
        DriveOptions(sim="trend", driver=driver, track="clover", laps=1, out=tmp_path, host=(f"look={look}",))
    )
    assert summary["ended"] == "done"
    assert summary["contacts"] == 0
    assert [lap["valid"] for lap in summary["laps"]] == [True]
    assert summary["laps"][0]["time_s"] == pytest.approx(GOLDEN[driver, look], abs=0.4)
    assert summary["max_abs_lateral_error_m"] != summary["max_abs_lateral_error_m"]  # no line, no number
    assert summary["report"] is not None
    assert "lap" in (tmp_path / summary["report"]).read_text(encoding="utf-8")


def test_nobody_named_somebody_who_sees_drives(tmp_path):
    summary = drive(DriveOptions(sim="trend", seconds=0.2, laps=1, out=tmp_path, report=False))
    assert summary["driver"] == "lane_sign"
    assert summary["ended"] == "0.2 s driven" or summary["loop"]["ticks"] >= 4
