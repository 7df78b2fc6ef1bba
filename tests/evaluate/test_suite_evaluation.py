"""A suite of two seconds, driven, checked and checked against what has changed."""

import math

import msgspec
import pytest
from helpers.driver_files import write_driver

from trailbrake.errors import DataError, UsageError
from trailbrake.evaluate import suite_evaluation
from trailbrake.evaluate.cell_result import CellLap, CellResult
from trailbrake.evaluate.options import EvaluationOptions, EvaluationRunOptions
from trailbrake.evaluate.suite import Suite, SuiteCell, list_suite_cells, score_drivers
from trailbrake.evaluate.suite_evaluation import StoredRun, SuiteRun, compare_runs, digest_suite, evaluate_suite

SUITE = Suite(name="short", text="two seconds", sim="assetto", seed=0, laps=2, slowest_ratio=2.0,
              reference_command="none", cells=(SuiteCell(track="plain", car="gt3", reference_s=0.5),))  # fmt: skip


@pytest.fixture
def short_suite(monkeypatch):
    monkeypatch.setattr(suite_evaluation, "load_suite", lambda name: SUITE)


def make_run(result, driver="line_follow"):
    (item,) = list_suite_cells(SUITE, [driver])
    return SuiteRun(suite=SUITE.name, suite_sha256=digest_suite(SUITE), trailbrake="0", source="x",
                    scores=score_drivers(SUITE, {item.cell: result}), runs=[StoredRun(item.cell, result)])  # fmt: skip


def laps(*times):
    return CellResult(outcome="clean", laps=tuple(CellLap(k, time, True) for k, time in enumerate(times, 1)))


@pytest.mark.slow
def test_a_result_file_repeats_and_a_changed_one_does_not(short_suite, tmp_path):
    driver = write_driver(tmp_path / "half.py", "return Controls(throttle=0.5)")
    running = EvaluationRunOptions(out=tmp_path / "out", jobs=1)
    result = evaluate_suite("suite/short", EvaluationOptions(drivers=str(driver)), running, lambda text: None)
    (row,) = result["cells"]
    assert (row["outcome"], row["ended"]) == ("crash", "0 of 1 laps in 2 s")
    assert row["steps"] > 300
    (score,) = result["scores"]
    assert (score["crash_rate"], score["steps"]) == (1.0, row["steps"])
    assert score["processor_h"] > 0.0
    file = tmp_path / "out" / "suite.json"
    again = EvaluationRunOptions(out=tmp_path / "again", jobs=1, check=file)
    check = evaluate_suite("suite/short", EvaluationOptions(), again, lambda text: None)["check"]
    assert (check["repeats"], check["deviation_s"], check["same_code"], check["cells"]) == (True, 0.0, True, 1)
    assert not (tmp_path / "again" / "suite.json").exists()
    driver.write_text(driver.read_text().replace("0.5", "0.4"))
    with pytest.raises(DataError, match="has changed since then"):
        evaluate_suite("suite/short", EvaluationOptions(), again, lambda text: None)


def test_laps_further_apart_than_rounding_do_not_repeat():
    old = make_run(laps(60.0, 50.0))
    cell = old.runs[0].cell
    assert compare_runs(old, {cell: laps(60.0, 50.0005)})["repeats"]
    late = compare_runs(old, {cell: laps(60.0, 50.01)})
    assert (late["repeats"], late["deviation_s"]) == (False, pytest.approx(0.01))
    missing = compare_runs(old, {cell: laps(60.0)})
    assert missing["deviation_s"] == math.inf
    assert missing["differ"][0]["is"] == "clean, 1 laps"


def test_what_the_suite_decides_cannot_be_changed(short_suite, tmp_path):
    running = EvaluationRunOptions(out=tmp_path / "none")
    for options in (EvaluationOptions(cars="f1"), EvaluationOptions(laps=9), EvaluationOptions(sims="forza")):
        with pytest.raises(UsageError, match="suite decides"):
            evaluate_suite("suite/short", options, running, lambda text: None)
    with pytest.raises(UsageError, match="--files-only"):
        evaluate_suite("suite/short", EvaluationOptions(), EvaluationRunOptions(files_only=True), lambda text: None)
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"{", "not a result file"),
        (b"[" * 100_000, "not a result file"),
        (msgspec.json.encode(msgspec.structs.replace(make_run(laps(1.0)), suite="other")), "another suite"),
        (msgspec.json.encode(msgspec.structs.replace(make_run(laps(1.0)), suite_sha256="0" * 64)), "another suite"),
    ],
)
def test_a_file_that_cannot_be_checked_is_one_line(short_suite, tmp_path, data, words):
    path = tmp_path / "old.json"
    path.write_bytes(data)
    with pytest.raises(DataError, match=words) as caught:
        evaluate_suite("suite/short", EvaluationOptions(), EvaluationRunOptions(check=path), lambda text: None)
    assert "\n" not in str(caught.value)


def test_a_cell_that_the_suite_does_not_have_is_refused(short_suite, tmp_path):
    run = make_run(laps(1.0))
    other = msgspec.structs.replace(run.runs[0].cell, track="hartmoor")
    path = tmp_path / "old.json"
    path.write_bytes(msgspec.json.encode(msgspec.structs.replace(run, runs=[StoredRun(other, laps(1.0))])))
    with pytest.raises(DataError, match="does not have"):
        evaluate_suite("suite/short", EvaluationOptions(), EvaluationRunOptions(check=path), lambda text: None)
