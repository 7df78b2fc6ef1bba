"""Cells follow the lines that this machine keeps, by name: they are part of what a result depends on."""

from pathlib import Path

from helpers.kept_line import CAR, TRACK, keep_line
from msgspec import structs

from trailbrake.evaluate.cell_drive import build_spec
from trailbrake.evaluate.cell_task import place_cell
from trailbrake.evaluate.kept_lines import follow_kept_lines
from trailbrake.evaluate.options import EvaluationOptions
from trailbrake.evaluate.plan import fingerprint_cell, list_cells, list_named_words
from trailbrake.tasks.sent_files import collect_files


def cells(**options):
    return list_cells(EvaluationOptions(tracks=TRACK, cars=CAR, **options))


def test_cells_of_drivers_that_follow_a_kept_line_name_it(tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_LINES", str(tmp_path))
    plain = cells(drivers="line_track,line_follow", reference_driver="line_track")
    assert follow_kept_lines(plain, print) == plain
    path = keep_line(1.0)
    track, follow = follow_kept_lines(plain, print)[:2]
    assert track.cell.line == str(path)
    assert build_spec(track.cell).first.line == str(path)
    assert follow.cell == plain[1].cell
    assert follow.reference == track.cell


def test_a_cell_without_a_line_looks_for_none(tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_LINES", str(tmp_path))
    (planned,) = cells(drivers="line_track")
    keep_line(1.0)
    assert not build_spec(planned.cell).first.cached_line


def test_another_line_is_another_cell(tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_LINES", str(tmp_path))
    plain = cells(drivers="line_track")
    keep_line(1.0)
    (one,) = follow_kept_lines(plain, print)
    before = fingerprint_cell(one.cell)
    assert before != fingerprint_cell(plain[0].cell)
    keep_line(1.5)
    (other,) = follow_kept_lines(plain, print)
    assert fingerprint_cell(other.cell) != before


def test_a_line_goes_along_to_another_machine(tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_LINES", str(tmp_path / "here"))
    path = keep_line(1.0)
    (planned,) = follow_kept_lines(cells(drivers="line_track"), print)
    files = collect_files(list_named_words(planned.cell))
    data = path.read_bytes()
    path.unlink()
    placed = place_cell(planned.cell, files, tmp_path / "there")
    assert (tmp_path / "there") in Path(placed.line).parents
    assert Path(placed.line).read_bytes() == data


def test_a_line_that_cannot_be_used_is_told_and_left_out(tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_LINES", str(tmp_path))
    keep_line(1.0).write_text("no line")
    said = []
    plain = cells(drivers="line_track")
    assert follow_kept_lines(plain, said.append) == plain
    assert "cached line" in said[0]
    unknown = [structs.replace(plain[0], cell=structs.replace(plain[0].cell, believed_car="unknown"))]
    assert follow_kept_lines(unknown, print) == unknown
