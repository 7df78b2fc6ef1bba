import math

from trailbrake.evaluate.cell_result import CellLap, CellResult
from trailbrake.evaluate.evaluation import GROUP_KEYS, build_rows
from trailbrake.evaluate.evaluation_page import write_page
from trailbrake.evaluate.options import EvaluationOptions
from trailbrake.evaluate.plan import list_cells
from trailbrake.evaluate.statistics import summarize_rows

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
