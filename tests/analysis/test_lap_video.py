import numpy as np
import pytest
from helpers.roads import circle, straight
from PIL import Image

from trailbrake.analysis import video_file
from trailbrake.analysis.lap_video import LAST_S, select_best_lap, write_lap_video
from trailbrake.analysis.map_frames import DrivenPath
from trailbrake.errors import DataError

ROAD = circle(100.0).road


def drive_circle(*seconds_per_lap, start=0.75):
    """A path from a part of a lap through whole laps, each at its own pace."""
    time, turns = [0.0], [start]
    for seconds in seconds_per_lap:
        steps = int(seconds / 0.1)
        time += [time[-1] + 0.1 * (k + 1) for k in range(steps)]
        turns += [turns[-1] + (k + 1) / steps for k in range(steps)]
    angle = 2.0 * np.pi * np.array(turns)
    speed = np.full(len(time), 30.0)
    return DrivenPath(np.array(time), 100.0 * np.sin(angle), -100.0 * np.cos(angle), angle, speed)


def test_the_quickest_lap_from_line_to_line_is_chosen():
    path = drive_circle(30.0, 20.0, 25.0)
    lap = select_best_lap(ROAD, path)
    assert path.time[lap.stop - 1] - path.time[lap.start] == pytest.approx(0.75 * 20.0 + 0.25 * 30.0, abs=11.0)
    s = ROAD.locate_many(np.stack([path.x, path.y], axis=1))[lap, 0]
    assert s[0] < 0.05 * ROAD.length
    assert s[-2] > 0.95 * ROAD.length


def test_without_a_lap_the_end_is_shown():
    path = drive_circle(500.0, start=0.01)
    lap = select_best_lap(ROAD, DrivenPath(*(column[:4000] for column in path)))
    assert (lap.stop, path.time[lap.stop - 1] - path.time[lap.start]) == (4000, pytest.approx(LAST_S, abs=0.2))
    open_road = straight(500.0).road
    x = np.linspace(0.0, 500.0, 51)
    assert select_best_lap(open_road, DrivenPath(x / 50.0, x, 0.0 * x, 0.0 * x, 0.0 * x + 50.0)) == slice(0, 51)


def test_a_lap_becomes_a_video(tmp_path, monkeypatch):
    monkeypatch.setattr(video_file, "_import_av", lambda: None)
    path = drive_circle(3.0, 2.0)
    video = write_lap_video(tmp_path / "videos" / "lap", ROAD, path, "a circle")
    with Image.open(video) as picture:
        assert 8 <= picture.n_frames <= 16


def test_nothing_to_show_is_one_line(tmp_path):
    path = DrivenPath(*(np.zeros(1) for _ in range(5)))
    with pytest.raises(DataError, match="a circle: no drive to show"):
        write_lap_video(tmp_path / "lap", ROAD, path, "a circle")
