import math
import os

import pytest

from trailbrake.errors import UsageError
from trailbrake.train.rl.curves import FILE_NAME, MOST_POINTS, CurveWriter, read_curves, write_curves_page


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


def make_rows(count):
    rows = []
    for k in range(1, count + 1):
        row = {"iteration": k, "steps": 1e6 * k, "wall_s": 60.0 * k, "cpu_s": 30.0 * k, "speed": 10.0 + k,
               "reward": None, "crashes_per_km": 1.0 / k, "world_share": 0.2, "actor_share": 0.1}  # fmt: skip
        if k % 2 == 0:
            row |= {"score": 100.0 - k, "crashes": 1, "lap_s/<oval>": 60.0 - k, "lap_s/b": None}
        rows.append(row)
    return rows


def test_the_page_has_the_laps_and_ranks_what_was_judged(tmp_path):
    page = write_curves_page(tmp_path / "curves.html", "a<b", make_rows(6)).read_text("utf-8")
    assert "a&lt;b: how it learned to drive" in page
    assert "6 iterations, 6.0 M steps, 6.0 min, 3.0 min of processor time" in page
    assert "<oval>" not in page
    best, worst = page.index("<td>54.00</td>"), page.index("<td>58.00</td>")
    assert best < worst
    assert "nan" not in page
    assert page.count("<svg") == 7


def test_long_runs_are_averaged(tmp_path):
    page = write_curves_page(tmp_path / "curves.html", "a", make_rows(5 * MOST_POINTS)).read_text("utf-8")
    longest = max(len(part.split('"', 1)[0].split()) for part in page.split('points="')[1:])
    assert longest == MOST_POINTS


@pytest.mark.parametrize("rows", [[], [{"iteration": 1}], [{"iteration": 1, "steps": "x", "score": math.nan}]])
def test_what_is_missing_is_left_out(tmp_path, rows):
    page = write_curves_page(tmp_path / "curves.html", "a", rows).read_text("utf-8")
    assert "How it went" in page
    assert "No policy that was judged has driven a lap yet." in page
    assert page.count("<svg") == 6  # no empty chart of laps


def test_a_page_that_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / "taken").touch()
    with pytest.raises(UsageError, match="cannot write the page"):
        write_curves_page(tmp_path / "taken" / "curves.html", "a", [])
