"""A recording cut into laps on one grid of distances; test_report draws the rest of its cases."""

import numpy as np
import pytest
from helpers.synthetic_drives import LENGTH, LapDone, edges, state_at

from trailbrake.analysis.lap_traces import trace_laps
from trailbrake.record import Recorder, Recording
from trailbrake.state import CarState, Controls


def test_a_restart_begins_a_new_count_of_laps(tmp_path):
    recorder = Recorder(tmp_path / "a.mcap")
    for session in range(2):
        for i in range(400):
            recorder.tick(state_at(i * 0.1, i * 3.0, 30.0, 0.0, i * 0.1, i), Controls())
            if i == 300:
                recorder.store_lap(LapDone(1, 30.0 - session, True, ()))
    recorder.close()
    shown = trace_laps(Recording.open(recorder.path))
    assert [(lap.number, lap.time_s, lap.finished) for lap in shown.laps] == [
        (1, 30.0, True), (1, 29.0, True), (2, pytest.approx(9.8, abs=0.2), False)
    ]  # fmt: skip
    assert np.nanmax(shown.laps[1].channels["time"]) == pytest.approx(29.0, abs=0.15)


def test_the_bends_of_a_lap_are_those_of_the_road_with_or_without_a_yaw_rate(tmp_path):
    found = []
    for known in (True, False):
        recorder = Recorder(tmp_path / f"{known}.mcap")
        for i in range(600):
            angle = 20.0 / 50.0 * i / 60.0
            state = CarState(time=i / 60.0, x=50.0 * np.cos(angle), y=50.0 * np.sin(angle), speed=20.0)
            state.yaw_rate = 20.0 / 50.0 if known else np.nan
            recorder.tick(state, Controls())
        recorder.close()
        (lap,) = trace_laps(Recording.open(recorder.path)).laps
        found.append(lap.channels["curvature"])
    assert found[0] == pytest.approx(np.full(len(found[0]), 1 / 50.0))
    assert found[1][12:-12] == pytest.approx(found[0][12:-12], rel=0.02)


def test_laps_that_begin_elsewhere_on_the_line(tmp_path):
    recorder = Recorder(tmp_path / "a.mcap")
    centre = edges(0.0)
    recorder.store_plan(np.arange(len(centre)) * 5.0, centre[:, 0], centre[:, 1], np.full(len(centre), 45.0))
    for i in range(900):
        recorder.tick(state_at(i * 0.05, 700.0 + LENGTH * i / 900, 45.0, 0.0, i * 0.05, i), Controls())
    recorder.store_lap(LapDone(1, 45.0, True, ()))
    recorder.close()
    shown = trace_laps(Recording.open(recorder.path))
    channels = shown.laps[0].channels
    assert np.isfinite(channels["speed"]).mean() > 0.99
    for axis in "xy":
        gap = np.abs(channels[axis] - shown.plan[axis])
        assert np.nanmax(gap) < 3.0
