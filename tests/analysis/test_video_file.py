import numpy as np
import pytest
from PIL import Image

from trailbrake.analysis import video_file
from trailbrake.analysis.video_file import PNG_RATE, WEBM_RATE, choose_rate, write_video
from trailbrake.errors import UsageError


def make_pictures(count, side=32):
    for number in range(count):
        yield np.full((side, side, 3), (20 * number, 0, 255 - 20 * number), np.uint8)


def test_without_pyav_it_is_an_animated_png(tmp_path, monkeypatch):
    monkeypatch.setattr(video_file, "_import_av", lambda: None)
    assert choose_rate() == PNG_RATE
    path = write_video(tmp_path / "new" / "a.b.webm", make_pictures(6), PNG_RATE)
    assert path == tmp_path / "new" / "a.b.png"
    with Image.open(path) as picture:
        assert (picture.n_frames, picture.size, picture.info["duration"]) == (6, (16, 16), 200.0)
    assert [item.name for item in path.parent.iterdir()] == ["a.b.png"]


def test_with_pyav_it_is_a_webm(tmp_path):
    av = pytest.importorskip("av")
    assert choose_rate() == WEBM_RATE
    path = write_video(tmp_path / "a", make_pictures(10, 64), WEBM_RATE)
    assert path.suffix == ".webm"
    with av.open(str(path)) as container:
        frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    assert len(frames) == 10
    assert frames[9][32, 32, 0] > frames[0][32, 32, 0] + 100


def test_a_disk_that_refuses_is_one_line_and_leaves_no_part(tmp_path, monkeypatch):
    monkeypatch.setattr(video_file, "_import_av", lambda: None)
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot write the video"):
        write_video(tmp_path / "file" / "a", make_pictures(2), 5)

    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(video_file, "_write_animated_png", refuse)
    with pytest.raises(UsageError, match="No space left on device"):
        write_video(tmp_path / "a", make_pictures(2), 5)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
