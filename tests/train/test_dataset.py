import numpy as np
import pytest
from helpers.picture_drives import record

from trailbrake.errors import DataError
from trailbrake.observe.image_crop import CropSpec
from trailbrake.record import Recording
from trailbrake.record.driving_log_export import export_driving_log
from trailbrake.train.dataset import gather_dataset, join_datasets
from trailbrake.train.sources import find_sources

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
