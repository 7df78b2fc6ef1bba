import math

import numpy as np
import pytest
from helpers.picture_drives import record

from trailbrake.errors import DataError
from trailbrake.observe.image_crop import CropSpec
from trailbrake.record import Recording
from trailbrake.record.driving_log import export_driving_log
from trailbrake.train.dataset import balance_weights, gather_dataset, hold_out_parts, join_datasets, select_rows
from trailbrake.train.sources import Labels, find_sources

GLANCE = CropSpec(top=0.2, bottom=0.9, height=32, width=40)


def gathered(paths, **changes):
    options = {"most": 10_000, "smoothing": 0.0, "share": 0.2, "seed": 1, "say": lambda text: None}
    return gather_dataset(find_sources(paths), GLANCE, **options | changes)


def test_labels_belong_to_their_pictures(tmp_path):
    record(tmp_path / "a.mcap", 450, 0)
    record(tmp_path / "b.mcap", 450, 1)
    data = gathered([tmp_path])
    assert len(data) > 800
    assert data.pedal == pytest.approx(0.5)
    # The post's column, found in what is seen: the brightest one.
    column = data.pictures.sum(axis=(1, 3), dtype=np.int64).argmax(axis=1)
    assert np.abs((19.5 - column) / 17.0 * 0.8 - data.steer).max() < 0.08
    assert 0.1 < data.held.mean() < 0.3
    assert (data.weight[data.held] == 0.0).all()
    assert (data.weight[~data.held] > 0.0).all()
    # Nobody sees what lies within half a second of a part that is held out.
    for owner in (0, 1):
        rows = np.array([row for o, row in data.origins if o == owner])
        held = data.held[[o == owner for o, _ in data.origins]]
        gaps = np.abs(rows[held][:, None] - rows[~held][None, :])
        assert gaps.size == 0 or gaps.min() >= 12


def test_no_more_pictures_than_asked_for_and_rare_steers_stay(tmp_path):
    record(tmp_path / "a.mcap", 450)
    data = gathered([tmp_path], most=100)
    assert len(data) == 100
    again = gathered([tmp_path], most=100)
    assert data.origins == again.origins
    assert np.array_equal(data.pictures, again.pictures)


def test_damaged_pictures_are_counted_and_the_rest_is_learned_from(tmp_path):
    record(tmp_path / "a.mcap", 300)
    export_driving_log(Recording.open(tmp_path / "a.mcap"), tmp_path / "log")
    pictures = sorted((tmp_path / "log" / "IMG").iterdir())
    pictures[10].write_bytes(pictures[10].read_bytes()[:200])
    pictures[11].write_bytes(b"no picture")
    pictures[12].write_bytes(b"")
    pictures[13].unlink()
    with (tmp_path / "log" / "driving_log.csv").open("a") as log:
        log.write("broken,row\n")
    data = gathered([tmp_path / "log"], share=0.0)
    assert len(data) == 296
    assert data.skipped == {
        "with a damaged picture": 2, "with an empty picture": 1, "whose picture is missing": 1,
        "without a picture's name": 1,
    }  # fmt: skip


def test_too_little_is_refused_with_the_reasons(tmp_path):
    record(tmp_path / "a.mcap", 50)
    with pytest.raises(DataError, match="too few rows to learn from"):
        gathered([tmp_path])


def test_two_datasets_become_one(tmp_path):
    record(tmp_path / "a.mcap", 200, 0)
    record(tmp_path / "b.mcap", 200, 1)
    one, two = gathered([tmp_path / "a.mcap"], share=0.0), gathered([tmp_path / "b.mcap"], share=0.0)
    both = join_datasets(one, two)
    assert len(both) == 400
    assert both.origins[200] == (1, 0)
    assert both.names == one.names + two.names
    assert np.array_equal(both.pictures[200:], two.pictures)
    assert both.weight.mean() == pytest.approx(1.0)


def labels(n=500, **changes):
    columns = {
        "time": 0.04 * np.arange(n), "steer": np.full(n, 0.1), "pedal": np.ones(n), "speed": np.full(n, 1.5),
        "backs": np.zeros(n),
    }  # fmt: skip
    return Labels(**columns | changes)


def test_what_stood_backed_or_led_to_the_wall_is_not_learned_from():
    speed, backs = np.full(500, 1.5), np.zeros(500)
    speed[:20] = 0.0  # at the start: nothing led to it
    speed[300:310] = 0.0
    backs[310:320] = 1.0
    found = select_rows(labels(speed=speed, backs=backs), 0.0)
    assert found.reasons == {"no number": 0, "standing": 30, "backing": 10, "before a stop": 25}
    assert found.good[20:275].all()
    assert not found.good[275:320].any()  # one second of 0.04 s
    assert found.good[320:].all()


def test_an_expert_s_corrections_count_up_to_the_wall():
    speed = np.full(500, 1.5)
    speed[300:] = 0.0
    assert select_rows(labels(speed=speed, corrected=True), 0.0).good[:300].all()


def test_rows_without_numbers_are_not_used_and_harm_no_neighbour():
    steer = np.full(500, 0.1)
    steer[7], steer[9] = math.nan, 3.0
    found = select_rows(labels(steer=steer), 0.0)
    assert found.reasons["no number"] == 2
    assert np.isfinite(found.steer).all()


def test_keys_are_averaged_over_time_and_within_a_run_only():
    steer = np.tile([0.0, 1.0], 250)
    smooth = select_rows(labels(steer=steer), 0.4).steer
    assert smooth[20:480] == pytest.approx(0.5, abs=0.05)
    steer = np.repeat([-1.0, 1.0], 250)
    time = 0.04 * np.arange(500)
    time[250:] += 5.0
    assert np.abs(select_rows(labels(steer=steer, time=time), 0.4).steer).min() == 1.0


def test_runs_end_at_gaps_and_where_the_clock_goes_back_and_parts_never_span_them():
    time = np.concatenate([0.04 * np.arange(250), 0.04 * np.arange(200), 9.0 + 0.04 * np.arange(50)])
    found = select_rows(labels(time=time), 0.0)
    assert np.flatnonzero(np.diff(found.run)).tolist() == [249, 449]
    for part in np.unique(found.part):
        assert len(np.unique(found.run[found.part == part])) == 1
    assert found.edge.min() >= 0.0
    assert found.edge.max() <= 8.0


def test_without_any_time_rows_follow_each_other_at_the_recorder_s_rate():
    found = select_rows(labels(time=np.full(500, math.nan)), 0.0)
    assert found.run.max() == 0
    assert found.part.max() >= 3  # 33 s in parts of 8


def test_whole_parts_are_held_out():
    part = np.repeat(np.arange(40), 100)
    held = hold_out_parts(part, 0.1, np.random.default_rng(0))
    assert held.sum() == 400
    assert all(len(np.unique(held[part == p])) == 1 for p in range(40))
    assert not hold_out_parts(
        np.zeros(9, int), 0.5, np.random.default_rng(0)
    ).any()  # one part: all of it is learned from
    assert not hold_out_parts(part, 0.0, np.random.default_rng(0)).any()


def test_rare_steers_are_shown_more_often_by_the_root_of_how_rare_they_are():
    steer = np.concatenate([np.zeros(900), np.full(100, 0.8)])
    relative = balance_weights(steer)
    assert relative.mean() == pytest.approx(1.0)
    assert relative[-1] / relative[0] == pytest.approx(3.0)
