import math
import os

import pytest

from trailbrake.errors import UsageError
from trailbrake.train.rl.curves import FILE_NAME, CurveWriter, read_curves


def test_lines_come_back_and_those_after_the_checkpoint_are_dropped(tmp_path):
    writer = CurveWriter(tmp_path, 0)
    for k in range(1, 4):
        writer.add(k, {"speed": float(k), "lap_s/a": math.nan})
    writer.close()
    with (tmp_path / FILE_NAME).open("a") as file:
        file.write('{"iteration": 4, "spe')  # the program was killed here
    assert [row["iteration"] for row in read_curves(tmp_path / FILE_NAME)] == [1, 2, 3]
    writer = CurveWriter(tmp_path, 2)
    writer.add(3, {"speed": 30.0})
    writer.close()
    rows = read_curves(tmp_path / FILE_NAME)
    assert [row["speed"] for row in rows] == [1.0, 2.0, 30.0]
    assert rows[0]["lap_s/a"] is None


def test_what_is_no_line_of_curves_ends_them(tmp_path):
    for line in ("7", "[]", '{"speed": 1}', '{"iteration": "3"}', "[" * 100_000):
        (tmp_path / FILE_NAME).write_text(f'{{"iteration": 1}}\n{line}\n{{"iteration": 2}}\n')
        CurveWriter(tmp_path, 5).close()
        assert read_curves(tmp_path / FILE_NAME) == [{"iteration": 1}]


def test_curves_stay_where_their_new_file_cannot_be_written(tmp_path, monkeypatch):
    writer = CurveWriter(tmp_path, 0)
    writer.add(1, {"speed": 1.0})
    writer.close()

    def fill_disk(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fill_disk)
    with pytest.raises(UsageError, match="No space left on device"):
        CurveWriter(tmp_path, 1)
    assert [row["speed"] for row in read_curves(tmp_path / FILE_NAME)] == [1.0]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is full")
def test_a_full_disk_ends_no_learning_and_prints_nothing(tmp_path, capfd):
    writer = CurveWriter(tmp_path, 0)
    with open("/dev/full", "wb") as full:
        if writer.has_tensorboard:
            os.dup2(full.fileno(), writer._events._file.fileno())
        for k in range(1, 4):
            writer.add(k, {"speed": float(k)})
    writer.close()
    assert len(read_curves(tmp_path / FILE_NAME)) == 3
    assert capfd.readouterr() == ("", "")
