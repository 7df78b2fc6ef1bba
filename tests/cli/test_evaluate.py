import json

import pytest

from trailbrake.cli.main import run_command_line

LAP = {"number": 2, "time_s": 61.25, "valid": True, "reason": "", "off_track_s": 0.0, "contacts": 0}
ROW = {
    "sim": "forza", "track": "hartmoor", "car": "random:1", "driver": "line_follow", "believes": "another car",
    "believed_car": "x.toml", "believed_track": "", "condition": "none", "role": "judged", "laps": [LAP],
    "best_s": 61.25, "ratio": 1.031, "speed_ratio": 0.97, "time_lost_s": float("nan"), "off_track_count": 0,
    "off_track_s": 0.0, "stuck_s": 0.0, "contacts": 0, "mean_progress_mps": None, "outcome": "clean", "ended": "",
}  # fmt: skip


@pytest.fixture
def judged(monkeypatch, tmp_path):
    """Replace the drives by a row; return the list of options that the verb hands on."""
    from trailbrake.evaluate import evaluation
    from trailbrake.evaluate.cell_result import summarize_rows

    calls = []

    def evaluate(options, running, say, show_share):
        calls.append((options, running))
        row = dict(ROW, outcome="error" if options.drivers == "broken" else "clean")
        return {"folder": str(tmp_path), "drove": 1, "kept": 0, "wall_s": 1.0, "cells": [row],
                "summary": summarize_rows([row], evaluation.GROUP_KEYS), "car_files": [], "coverage": {},
                "page": "evaluation.html"}  # fmt: skip

    monkeypatch.setattr(evaluation, "evaluate", evaluate)
    return calls


def test_a_table_is_printed_and_the_page_named(judged, capsys, tmp_path):
    flags = ["--cars", "random:1", "--condition", "rain_after=2", "--condition", "none", "--jobs", "2"]
    assert run_command_line(["evaluate", *flags]) == 0
    options, running = judged[0]
    assert (options.cars, options.condition, running.jobs) == ("random:1", ("rain_after=2", "none"), 2)
    out = capsys.readouterr().out
    assert "+3.10 %" in out
    assert "1:01.250" in out
    assert "evaluation.html" in out


def test_json_has_null_for_what_is_not_there_and_an_error_is_exit_code_1(judged, capsys):
    assert run_command_line(["evaluate", "--drivers", "broken", "--json"]) == 1
    values = json.loads(capsys.readouterr().out)
    assert values["cells"][0]["time_lost_s"] is None
    assert values["summary"][0]["error"] == 1
