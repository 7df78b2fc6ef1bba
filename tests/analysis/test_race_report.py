"""The sections of a report on the cars that a car drove among."""

import numpy as np
import pytest
from helpers.contact_scenes import T, ease, record_cars

from trailbrake.analysis.race_motion import open_race, read_race
from trailbrake.analysis.race_report import rank_cars, trace_race
from trailbrake.analysis.report import write_report
from trailbrake.record.recorder import Recorder
from trailbrake.record.recording_reader import Recording
from trailbrake.state import CarState, Controls


def test_the_report_shows_order_gaps_and_passes_of_this_car_among_the_others(tmp_path):
    recordings = record_cars(tmp_path, 100.0 + 30.0 * T, 90.0 + 30.0 * T + 20.0 * ease(2.0, 2.0))
    page = write_report(recordings[1]).read_text()
    assert "car 1 passes car 0" in page
    assert page.index("<tr class='focus'><td>1</td><td>1</td>") < page.index("<tr><td>2</td><td>0</td>")
    assert "car 1 in colour" in page


def test_a_pass_counts_once_a_length_ahead_for_two_seconds(tmp_path):
    ahead = 100.0 + 30.0 * T
    passer = ahead - 10.0 + 20.0 * ease(2.0, 2.0)  # level at 3 s
    beside = ahead - 10.0 + 12.0 * ease(1.0, 2.0) - 12.0 * ease(4.0, 2.0)  # 2 m ahead, and back
    brief = ahead - 10.0 + 18.0 * ease(1.0, 0.6) - 18.0 * ease(1.8, 0.6)  # 8 m ahead, for less than a second
    trace = trace_race(read_race(record_cars(tmp_path, ahead, passer, beside, brief)))
    (done,) = (it for it in trace.passes if {it.car, it.passed} == {0, 1})
    assert (done.car, done.passed) == (1, 0)
    assert done.time_s == pytest.approx(10.0 + 3.0, abs=0.11)
    assert done.s_m == pytest.approx(100.0 + 30.0 * 3.0, abs=4.0)
    assert not [it for it in trace.passes if {it.car, it.passed} in ({0, 2}, {0, 3})]


def test_a_gap_is_the_time_since_the_leader_was_there(tmp_path):
    recordings = record_cars(tmp_path, 100.0 + 25.0 * T, 50.0 + 25.0 * T)
    trace = trace_race(read_race(recordings))
    assert np.all(trace.gap[0] == 0.0)
    assert np.isnan(trace.gap[1][:15]).all()  # the leader had not been seen there
    np.testing.assert_allclose(trace.gap[1][25:], 2.0, atol=0.02)
    assert rank_cars(recordings, trace) == [0, 1]


def test_gaps_go_on_to_a_leader_whose_drive_has_ended(tmp_path):
    recordings = record_cars(tmp_path, 50.0 + 25.0 * T, 100.0 + 25.0 * T)
    race = read_race(recordings)
    ended = race.time > race.time[0] + 5.0
    race.cars[1].x[ended] = race.cars[1].y[ended] = np.nan
    trace = trace_race(race)
    np.testing.assert_allclose(trace.gap[0][25:], 2.0, atol=0.02)
    assert np.isnan(trace.gap[1][-1])


def test_a_car_that_is_lapped_is_passed_by_nobody(tmp_path):
    angles = [0.5 * T, 0.25 * T - 0.2]  # rad on a circle: car 0 comes round behind car 1 once more
    for car, angle in enumerate([3.0 * angles[0], 3.0 * angles[1]]):
        recorder = Recorder(tmp_path / f"ring{'_car1' if car else ''}.mcap")
        recorder.start({"sim": "test"})
        around = np.linspace(0.0, 2.0 * np.pi, 400, endpoint=False)
        centre, left, right = (np.stack([r * np.cos(around), r * np.sin(around)], 1) for r in (100.0, 94.0, 106.0))
        recorder.store_map(centre, left, right, True)
        for k, a in enumerate(angle):
            x, y = 100.0 * np.cos(a), 100.0 * np.sin(a)
            recorder.tick(CarState(time=k / 60.0, x=x, y=y, yaw=a + np.pi / 2.0, speed=30.0), Controls())
        recorder.close()
    trace = trace_race(read_race(open_race(Recording.open(tmp_path / "ring.mcap"))))
    assert trace.passes == []
    assert trace.distance[0, -1] - trace.distance[1, -1] == pytest.approx(300.0 * (0.25 * 7.0 + 0.2), rel=0.02)
