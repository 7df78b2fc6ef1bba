"""The path of laps without positions."""

import math

import numpy as np
import pytest
from helpers.lap_log_files import make_laps, write_motec_csv

from trailbrake.record.lap_logs import read_lap_log


def without_places(path):
    """Take the last two columns, the places, out of a table."""
    lines = [line if line.count(",") < 8 else ",".join(line.split(",")[:-2]) for line in path.read_text().splitlines()]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_laps_close_and_look_like_the_road(tmp_path):
    laps = make_laps(50.0, laps=2)
    found = read_lap_log(without_places(write_motec_csv(tmp_path / "a.csv", laps)))
    assert [lap.time_s for lap in found.laps] == pytest.approx(laps.lap_times, abs=0.01)
    assert any("x and y follow from speed and lateral acceleration" in note for note in found.about["log"]["notes"])
    rows = np.flatnonzero(np.isfinite(found.state["x"]) & (laps.lap == 1))
    mine = found.state["x"][rows] + 1j * found.state["y"][rows]
    truth = laps.x[rows] + 1j * laps.y[rows]
    # Heading and begin are not known: the best turn and shift.
    mine, truth = mine - mine.mean(), truth - truth.mean()
    turn = (truth * np.conj(mine)).sum()
    assert np.abs(mine * turn / abs(turn) - truth).max() < 3.0  # m, on a road of 1.2 km
    assert abs(found.state["x"][rows[-1]] - found.state["x"][rows[0]]) < 2.0


def test_what_does_not_close_gives_no_map(tmp_path):
    path = without_places(write_motec_csv(tmp_path / "a.csv", make_laps(50.0, laps=2)))
    path.write_text(path.read_text().replace('"G","G"', '"m/s^2","G"', 1))
    found = read_lap_log(path)
    assert np.isnan(found.state["x"]).all()
    assert any("do not close: there is no map" in note for note in found.about["log"]["notes"])
    assert len(found.laps) == 2
    assert math.isfinite(found.laps[0].time_s)


def test_a_table_of_ours_without_a_speed_has_no_path(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("time_s,velocity_x_mps,acceleration_x_mps2\n0,1,0\n1,1,0\n", encoding="utf-8")
    found = read_lap_log(path)
    assert np.isnan(found.state["x"]).all()
