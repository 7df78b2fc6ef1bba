from types import SimpleNamespace

import numpy as np
from helpers.synthetic_drives import record_drive

from trailbrake.analysis.drive_picture import draw_recording
from trailbrake.record import Recording


def test_the_best_lap_is_drawn_with_its_speed(tmp_path):
    recording = Recording.open(record_drive(tmp_path / "a.mcap", rate=40.0).path)
    picture = draw_recording(recording)
    best = recording.laps.best()
    assert f"path of lap {best.number}" in picture
    assert f"speed of lap {best.number}, km/h over s" in picture
    path = picture.split('class="one" points="')[1].split('"')[0].split()
    assert 100 < len(path) <= 1201
    places = np.array([point.split(",") for point in path], float)
    assert places.min() >= 0.0
    assert places.max() <= 250.0


def test_nothing_is_drawn_of_nothing():
    class Empty:
        laps, road_map = (), None

        def __len__(self):
            return 3

        def read_rows(self, rows, columns, signals):
            return SimpleNamespace(state={name: np.full(3, np.nan) for name in columns})

    assert draw_recording(Empty()) == ""
