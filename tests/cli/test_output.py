import json
import math
import re

import pytest

from trailbrake.cli.output import format_camera, print_json, print_notice, print_table


def test_json_is_one_line_and_has_null_for_what_is_not_there(capsys):
    print_json({"a": math.nan, "b": [1, math.inf, (2.5, None)], "c": {"d": -math.inf, "e": "ü\n"}, "f": True})
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    assert json.loads(out) == {"a": None, "b": [1, None, [2.5, None]], "c": {"d": None, "e": "ü\n"}, "f": True}


def test_a_row_stays_on_one_line_in_a_pipe(capsys):
    print_table("Title", ["name", "value"], [["first", "x" * 120], ["[second]", "[bold]2"]])
    out, err = capsys.readouterr()
    lines = [line.strip() for line in out.splitlines()]
    assert lines[0] == "Title"
    assert any(line.startswith("first") and line.endswith("x" * 120) for line in lines)
    assert any(line.startswith("[second]") and line.endswith("[bold]2") for line in lines)
    assert err == ""


def test_a_camera_says_how_fresh_its_pictures_were():
    figures = {"pictures": 300, "rate_hz": 29.7, "age_p50_ms": 20.4, "age_p99_ms": 41.0, "trouble": ""}
    assert format_camera(figures) == "300 pictures, 30 a second; 20 ms old when read, 99 % under 41 ms"
    assert format_camera(figures | {"trouble": "Terminal covers it"}).endswith("; Terminal covers it")
    assert format_camera({"pictures": 12}) == "12 pictures"


def test_names_in_tables_and_notices_cannot_steer_a_terminal(capsys):
    print_table("a \x1b[2J title", ["entry"], [["\x1b]0;owned\x07"]])
    print_notice("car \x9b31m")
    said = capsys.readouterr()
    assert "?]0;owned?" in said.out
    assert said.err == "car ?31m\n"
    assert not {"\x1b", "\x9b", "\x07"} & {*said.out, *said.err}


def test_lines_are_wrapped_on_a_terminal_and_left_whole_in_a_pipe(monkeypatch, capsys):
    text, path = " ".join(["word"] * 60), "/" + "x" * 90
    print_notice(text)
    assert capsys.readouterr().err == f"{text}\n"
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    print_notice(f"{text} {path}")
    lines = capsys.readouterr().err.splitlines()
    assert max(map(len, lines[:-1])) < 80
    assert "".join(lines).replace(" ", "") == "word" * 60 + path
    assert lines[-1].strip() == path, "a path is copied whole"


HEADER = ["sim", "track", "car", "driver", "believes", "condition", "laps", "best", "ratio", "lost", "off", "outcome"]
CELLS = [
    ["assetto", track, "hatchback", "line_follow", "the truth", condition, "2 of 2", "1:08.123", "+0.52 %", "+0.31 s",
     "0, 0.0 s", "clean"]
    for track in ("pinegrove", "hartmoor") for condition in ("dry", "wet=0.5")
]  # fmt: skip


def lines_at_80(monkeypatch, capsys, rows):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    print_table("Cells", HEADER, rows)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out).splitlines()
    assert max(map(len, lines[1:])) <= 80
    return lines


def test_on_a_narrow_terminal_equal_columns_are_said_once(monkeypatch, capsys):
    lines = lines_at_80(monkeypatch, capsys, CELLS)
    assert lines[:3] == [
        "Cells", "all: car hatchback; driver line_follow; believes the truth; laps 2 of 2;",
        "  best 1:08.123; ratio +0.52 %; lost +0.31 s; off 0, 0.0 s; outcome clean",
    ]  # fmt: skip
    assert [line.split() for line in lines[3:5]] == [["sim", "track", "condition"], ["assetto", "pinegrove", "dry"]]
    assert len(lines) == 8


def test_on_a_narrow_terminal_rows_that_differ_are_paragraphs_of_whole_words(monkeypatch, capsys):
    rows = [[cell + "x" * k for cell in row] for k, row in enumerate(CELLS)]
    lines = lines_at_80(monkeypatch, capsys, rows)
    assert lines[0] == "Cells"
    assert lines[1].startswith("assetto: track pinegrove; car hatchback; driver line_follow;")
    assert sum(line.startswith("assetto") for line in lines) == 4
    said = " ".join(" ".join(lines[1:]).split())
    assert all(cell in said for row in rows for cell in row)


def test_on_a_narrow_terminal_rows_of_many_lines_are_paragraphs(monkeypatch, capsys):
    rows = [[f"car {k}", *[f"{k} word " * 6] * 5, *[str(k)] * 6] for k in range(3)]
    lines = lines_at_80(monkeypatch, capsys, rows)
    assert [line.split(":")[0] for line in lines if line.startswith("car")] == ["car 0", "car 1", "car 2"]


@pytest.mark.parametrize("width", range(26, 38))
def test_on_a_narrow_terminal_sentences_stand_alone_and_units_beside_their_numbers(monkeypatch, capsys, width):
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    rows = [["first", "Holds 20 m/s, and does not steer.", "1790 kg", "speed, x, y, yaw, yaw_rate, velocity_x"]]
    print_table("Drivers (or FILE.py of your own, or a policy)", ["name", "about", "mass", "needs"], rows)
    out = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
    assert max(map(len, out.splitlines())) <= width
    assert "1790 kg" in out
    assert "20 m/s" in out
    said = "first: Holds 20 m/s, and does not steer; mass 1790 kg; needs speed, x, y, yaw, yaw_rate, velocity_x"
    assert said in " ".join(out.split())
