import math

import miniature_drives as rows
import numpy as np
import pytest
from miniature_drives import CountedDrive

from trailbrake.world.miniature.track import HalfColumn, RoadHalf
from trailbrake.world.miniature.track_library import load_miniature_track
from trailbrake.world.miniature.world import MiniatureWorld


def counted(laps, driven, contacts=0, wanted=3):
    return CountedDrive("d", "oval", "B", wanted, laps, driven, contacts, 0.0, 0.0, 2, 2)


def test_a_start_from_rest_costs_about_a_second_by_small_steps_too():
    v = x = t = 0.0
    while v < 2.0:
        v += (1.14 - 0.18 * v) * 1e-4
        x, t = x + v * 1e-4, t + 1e-4
    assert rows.launch_loss() == pytest.approx(t - x / 2.0, abs=1e-3)


def test_clean_is_all_laps_and_no_contact():
    assert counted((30.0, 29.0, 29.0), (58.0, 58.0, 58.0)).is_clean
    assert not counted((30.0, 29.0), (58.0, 58.0)).is_clean
    assert not counted((30.0, 29.0, 29.0), (58.0, 58.0, 58.0), contacts=1).is_clean


def test_the_best_lap_is_held_against_its_own_line_and_the_launch_only_where_it_started():
    assert counted((31.0, 29.0, 29.5), (58.0, 57.0, 58.0)).ratio_to_ideal == pytest.approx(29.0 / 28.5)
    assert counted((30.0,), (58.0,), wanted=1).ratio_to_ideal == pytest.approx(30.0 / (29.0 + rows.launch_loss()))


def test_an_agent_is_told_what_the_wire_carries_and_no_more():
    truth = MiniatureWorld(load_miniature_track("oval"), "B", (), rows.PERIOD).car_state(0)
    told = rows.pass_through_wire(truth, 7)
    assert (told.sequence, told.time, told.speed, told.lap) == (7, 0.0, 0.0, 1.0)
    assert math.isnan(told.x)
    assert math.isnan(told.lap_progress)
    drawn, seen = truth.image.pixels.astype(int), told.image.pixels.astype(int)
    assert seen.shape == drawn.shape
    assert 0.0 < np.abs(drawn - seen).mean() < 6.0  # a JPEG of it, and not another picture


def test_the_half_is_the_one_whose_middle_is_nearest():
    track = load_miniature_track("clover")
    fork = track.forks[0]
    for side in RoadHalf:
        table = track.halves[side]
        k = int(np.searchsorted(table[:, HalfColumn.ROAD_S], 0.5 * (fork.start + fork.end)))
        assert rows.find_half(track, table[k, HalfColumn.X], table[k, HalfColumn.Y]) == side


@pytest.mark.slow
def test_a_drive_is_counted(monkeypatch):
    monkeypatch.setattr(rows, "PATIENCE", 1.2)
    one = rows.drive_laps("wall_follow_seed", "oval", "B", 1)
    assert one.is_clean
    assert one.lap_times == (pytest.approx(32.2, abs=0.5),)  # 62 m at 2 m/s, and a start from rest
    assert one.stuck_s == 0.0
