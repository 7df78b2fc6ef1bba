import math
from contextlib import closing

import pytest
from helpers.browser import Browser, find
from helpers.html_page import Page

from trailbrake.evaluate.cell_result import CellLap, CellResult, summarize_rows
from trailbrake.evaluate.evaluation import GROUP_KEYS, build_rows
from trailbrake.evaluate.evaluation_page import build_lap_table, write_page, write_suite_page
from trailbrake.evaluate.options import EvaluationOptions
from trailbrake.evaluate.plan import list_cells
from trailbrake.evaluate.suite import list_suite_cells, load_suite, score_drivers

ERRORS = {"file": "<i>.toml", "car": "random:1", "lateral_grip": 0.031, "braking": -0.02, "drive_force": 0.01,
          "downforce": 0.0, "steer_angle": 0.0, "delay_s": 0.004, "within": {"braking": False}}  # fmt: skip


def test_a_page_shows_every_cell_and_escapes_names(tmp_path):
    planned = list_cells(EvaluationOptions(believed_car="<b>.toml", cars="random:1-2", condition=("none", "grip=0.9")))
    laps = (CellLap(1, 61.0, True), CellLap(2, 55.5, True), CellLap(3, 54.0, False, "contact"))
    results = {item.cell: CellResult(outcome="crash", ended="stuck <here>", laps=laps) for item in planned}
    rows = build_rows(planned, results)
    assert any(math.isfinite(row["ratio"]) for row in rows)
    page = write_page({"folder": str(tmp_path), "cells": rows, "summary": summarize_rows(rows, GROUP_KEYS),
                       "car_files": [ERRORS]})  # fmt: skip
    text = page.read_text()
    assert text.count("stuck &lt;here&gt;") == len(planned)
    assert "<b>.toml" not in text
    assert "<i>.toml" not in text
    assert "+3.1 %<" in text
    assert "-2.0 %*" in text  # outside of the file's interval
    assert "55.500" in text
    assert "http" not in text.replace("http-equiv", "")


def make_plain_page(tmp_path, options):
    planned = list_cells(options)
    laps = (CellLap(1, 61.0, True), CellLap(2, 55.5, True))
    results = {item.cell: CellResult(outcome="clean", laps=laps) for item in planned}
    rows = build_rows(planned, results)
    return write_page({"folder": str(tmp_path), "cells": rows, "summary": summarize_rows(rows, GROUP_KEYS),
                       "car_files": []})  # fmt: skip


def test_the_outcome_comes_first_and_no_column_is_dead(tmp_path):
    page = Page(make_plain_page(tmp_path, EvaluationOptions(cars="gt3,kart", drivers="line_follow")).read_text())
    summary, cells = page.cells.index("driver"), page.cells.index("outcome")
    assert summary < cells
    dead = {"ratio", "time lost", "stuck for", "contacts", "condition", "wire", "believes", "error", "least", "most"}
    assert dead & {*page.cells} == set()
    assert page.cells[cells + 1 : cells + 4] == ["car", "track", "driver"]
    assert "2 cells: 2 clean" in page.text
    assert "off: all were driven" in page.text


@pytest.mark.slow
@pytest.mark.skipif(find() is None, reason="no Chromium here")
def test_no_column_is_cut_on_a_desktop(tmp_path):
    conditions = ("none", "grip=0.9", "rain_after=2")
    options = EvaluationOptions(cars="gt3,random:1", drivers="line_follow,line_track", condition=conditions)
    page = make_plain_page(tmp_path, options)
    with closing(Browser(tmp_path / "browser")) as tab:
        tab.size(1280, 900)
        tab.open(page.as_uri())
        tab.wait("document.querySelectorAll('.scroll').length > 1")
        assert tab.evaluate("[...document.querySelectorAll('.scroll')].every((e) => e.scrollWidth <= e.clientWidth)")


def test_a_page_has_scores_and_cells_and_escapes_names(tmp_path):
    suite = load_suite("race-v1")
    planned = list_suite_cells(suite, ["<b>.py", "line_follow"])
    laps = (CellLap(1, 61.0, True), CellLap(2, 55.5, True))
    results = {item.cell: CellResult(outcome="clean", laps=laps, steps=12345) for item in planned}
    page = write_suite_page({
        "folder": str(tmp_path), "suite": suite.name, "text": suite.text, "scores": score_drivers(suite, results),
        "cells": build_rows(planned, results),
    })  # fmt: skip
    text = page.read_text()
    assert "<b>.py" not in text
    assert text.count("&lt;b&gt;.py") == 2 + len(suite.cells)  # scores, head of the best laps, cells
    assert text.count("123450") == 2  # steps of each driver
    assert "http" not in text.replace("http-equiv", "")


def test_the_fastest_lap_of_each_cell_is_marked_unless_its_driver_crashed():
    suite = load_suite("race-v1")
    drivers = ["quick", "slow", "reckless"]
    planned = list_suite_cells(suite, drivers)
    best = {"quick": 51.25, "slow": 52.5, "reckless": 50.0}
    results = {
        item.cell: CellResult(outcome="crash" if item.cell.driver == "reckless" else "clean",
                              laps=(CellLap(1, 60.0, True), CellLap(2, best[item.cell.driver], True)))
        for item in planned
    }  # fmt: skip
    rows = build_rows(planned, results)
    missing = next(row for row in rows if row["driver"] == "slow")
    text = build_lap_table([row for row in rows if row is not missing], drivers)
    assert text.count("<tr>") == 1 + len(suite.cells)
    assert text.count("<td class='best'>51.250<small>") == len(suite.cells)
    assert text.count("<td class='out'>50.000<small>") == len(suite.cells)
    assert text.count("52.500") == len(suite.cells) - 1
    assert text.count("<td class=''>-</td>") == 1
