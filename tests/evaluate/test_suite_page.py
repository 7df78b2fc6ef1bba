from trailbrake.evaluate.cell_result import CellLap, CellResult
from trailbrake.evaluate.evaluation import build_rows
from trailbrake.evaluate.suite import list_suite_cells, load_suite, score_drivers
from trailbrake.evaluate.suite_page import write_suite_page


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
    assert text.count("&lt;b&gt;.py") == 1 + len(suite.cells)
    assert text.count("123450") == 2  # steps of each driver
    assert "http" not in text.replace("http-equiv", "")
