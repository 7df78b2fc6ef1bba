import math

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
