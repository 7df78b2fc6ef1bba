"""A car learned over the wire: the file can be driven, and numbers are near those of the world's car."""

from pathlib import Path

import numpy as np
import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.errors import DataError, UsageError
from trailbrake.run.learn_car import describe_road_limits, learn_car_file
from trailbrake.run.options import LearnCarOptions
from trailbrake.sims.registry import find
from trailbrake.tracks.road import Road
from trailbrake.tracks.track_library import load_track


def test_a_road_too_short_or_too_narrow_is_said_before_the_drive():
    def straight(length, half):
        count = int(length / 2.0) + 1
        x = 2.0 * np.arange(count)
        return Road.from_columns(2.0, False, x, 0.0 * x, 0.0 * x, 0.0 * x, width_left=half, width_right=half)

    assert describe_road_limits(straight(2000.0, 4.0)) == ()
    assert "the road ends after 300 m" in describe_road_limits(straight(300.0, 4.0))[0]
    assert "the road is 3.0 m wide" in describe_road_limits(straight(2000.0, 1.5))[0]
    assert describe_road_limits(load_track("kartwerk").road) == ()


@pytest.mark.slow
def test_a_short_test_drive_gives_a_car_file_and_a_report(tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_RECORDINGS", str(tmp_path))
    out = tmp_path / "mine.toml"
    options = LearnCarOptions(
        sim="forza", track="pinegrove", car="gt3", seconds=100.0, programme=100.0, laps=0, out=out
    )
    result = learn_car_file(find("forza"), options)
    assert result["verification"]["drives"][-1]["outcome"] == "clean"
    assert load_car(out).uncertainty.verified_laps == 2
    again = learn_car_file(
        find("forza"), LearnCarOptions(source=tuple(map(Path, result["recordings"])), out=tmp_path / "again.toml")
    )
    # From the same drive, and no laps with the file: what is written after laps is what stayed on the road.
    learned, truth = load_car(again["car"]), load_car("gt3")
    assert learned.uncertainty.verified_laps == 0
    assert load_car(out).tyre_front.mu_y <= learned.tyre_front.mu_y
    assert learned.steering.max_angle / learned.body.wheelbase == pytest.approx(
        truth.steering.max_angle / truth.body.wheelbase, rel=0.06
    )
    assert learned.body.wheelbase == pytest.approx(truth.body.wheelbase, rel=0.05)
    assert learned.tyre_rear.radius == pytest.approx(truth.tyre_rear.radius, rel=0.01)
    assert learned.gearbox.overall_ratio(1) == pytest.approx(truth.gearbox.overall_ratio(1), rel=0.01)
    assert learned.drive.layout == "rwd"
    force = result["values"]["brakes.force_over_mass"]["value"]
    # A third of the usual programme has few brakings of each strength.
    assert force == pytest.approx(truth.full_brake_force / truth.body.mass, rel=0.15)
    assert result["values"]["body.mass"]["source"] == "identified"
    assert learned.body.mass == pytest.approx(truth.body.mass, rel=0.1)
    page = (tmp_path / "mine.html").read_text(encoding="utf-8")
    assert page.count("<svg") >= 4
    assert "steering.max_angle" in page


def test_what_cannot_be_learned_is_said(tmp_path):
    with pytest.raises(UsageError, match="cannot read the recording"):
        learn_car_file(find("forza"), LearnCarOptions(source=(tmp_path / "none.mcap",)))
    other = tmp_path / "other.mcap"
    other.write_text("no recording")
    with pytest.raises(DataError, match="not a recording"):
        learn_car_file(find("forza"), LearnCarOptions(source=(other,)))
    with pytest.raises(UsageError, match="driver car_test needs what udacity_pid does not supply"):
        learn_car_file(find("udacity_pid"), LearnCarOptions(sim="udacity_pid").with_defaults())
