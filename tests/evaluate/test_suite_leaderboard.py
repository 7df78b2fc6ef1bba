import json

import msgspec
import pytest

from trailbrake.cli.main import run_command_line
from trailbrake.errors import DataError, UsageError
from trailbrake.evaluate import suite_evaluation
from trailbrake.evaluate.cell_result import CellLap, CellResult
from trailbrake.evaluate.suite import Suite, SuiteCell, list_suite_cells, score_drivers
from trailbrake.evaluate.suite_evaluation import StoredRun, SuiteRun, digest_suite, rank_suite_runs

SUITE = Suite(name="short", text="two seconds", sim="assetto", seed=0, laps=2, slowest_ratio=2.0,
              reference_command="none", cells=(SuiteCell(track="plain", car="gt3", reference_s=50.0),))  # fmt: skip


@pytest.fixture(autouse=True)
def short_suite(monkeypatch):
    monkeypatch.setattr(suite_evaluation, "load_suite", lambda name: SUITE)


def write_run(folder, **best_laps):
    runs = []
    for driver, best in best_laps.items():
        (item,) = list_suite_cells(SUITE, [driver])
        laps = (CellLap(1, best + 5.0, True), CellLap(2, best, True))
        runs.append(StoredRun(item.cell, CellResult(outcome="clean", laps=laps)))
    scores = score_drivers(SUITE, {run.cell: run.result for run in runs})
    folder.mkdir()
    run = SuiteRun(suite=SUITE.name, suite_sha256=digest_suite(SUITE), trailbrake="1", source="x", scores=scores,
                   runs=runs)  # fmt: skip
    (folder / "suite.json").write_bytes(msgspec.json.encode(run))
    return folder / "suite.json"


def test_drivers_of_several_files_are_in_one_order(tmp_path):
    paths = [write_run(tmp_path / "ours", a=52.0, same=53.0), write_run(tmp_path / "theirs", b=51.0, same=54.0)]
    result = rank_suite_runs("short", [*paths, paths[0]], tmp_path / "board")
    assert [score["driver"] for score in result["scores"]] == ["b", "a", "same (ours)", "same (theirs)"]
    assert [score["ratio_mean"] for score in result["scores"]] == pytest.approx([1.02, 1.04, 1.06, 1.08])
    assert result["scores"][0]["result"] == str(paths[1])
    assert sorted(row["driver"] for row in result["cells"]) == ["a", "b", "same (ours)", "same (theirs)"]
    assert "same (theirs)" in (tmp_path / "board" / "suite.html").read_text()


def test_the_command_prints_it_and_drives_nothing(tmp_path, capsys):
    path = write_run(tmp_path / "ours", a=52.0)
    command = ["evaluate", "suite/short", "--board", str(path), "--out", str(tmp_path / "board")]
    assert run_command_line(command) == 0
    assert "+4.00 %" in capsys.readouterr().out
    assert run_command_line([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["scores"][0]["driver"] == "a"
    assert run_command_line(["evaluate", "--board", str(path)]) == 2
    assert "only results of a suite are checked and ranked" in capsys.readouterr().err


def test_files_that_are_none_are_one_line(tmp_path):
    path = write_run(tmp_path / "ours", a=52.0)
    with pytest.raises(UsageError, match="cannot read the result file"):
        rank_suite_runs("short", [tmp_path / "none.json"], tmp_path)
    path.write_text(path.read_text()[:50])
    with pytest.raises(DataError, match="not a result file of a suite"):
        rank_suite_runs("short", [path], tmp_path)
