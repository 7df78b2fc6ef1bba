from pathlib import Path

import pytest

from trailbrake.errors import UsageError
from trailbrake.evaluate.options import EvaluationOptions
from trailbrake.evaluate.plan import Cell, fingerprint_cell, list_cells

CELL = Cell(sim="assetto", track="hartmoor", car="gt3", driver="line_follow")


def test_every_combination_is_a_cell_once():
    options = EvaluationOptions(
        sims="assetto,forza", cars="random:0-2", tracks="hartmoor,gen:1", drivers="line_follow,lane_keep", seeds="0-1,1"
    )
    planned = list_cells(options)
    assert len(planned) == len({item.cell for item in planned}) == 2 * 3 * 2 * 2 * 2
    assert all((item.role, item.reference, item.baseline) == ("judged", None, None) for item in planned)
    assert planned[0].cell.seconds == 900.0


def test_what_a_driver_believes_is_compared_with_the_truth_and_a_condition_with_none():
    options = EvaluationOptions(
        cars="random:3:gt3", believed_car="files/{sim}_{car}.toml", condition=("none", "rain_after=2,rain_seconds=5")
    )
    by_role = {}
    for item in list_cells(options):
        by_role.setdefault(item.role, []).append(item)
    dry, wet = by_role["judged"]
    assert dry.cell.believed_car == "files/assetto_random_3_gt3.toml"
    assert wet.cell.condition == ("rain_after=2", "rain_seconds=5")
    assert (dry.baseline, wet.baseline) == (None, dry.cell)
    assert {item.cell for item in by_role["reference"]} == {dry.reference, wet.reference}
    assert dry.reference.believed_car == ""
    assert wet.reference.condition == wet.cell.condition
    assert "baseline" not in by_role  # it is one of those that are judged


def test_a_baseline_is_driven_where_the_options_do_not_list_it():
    roles = [item.role for item in list_cells(EvaluationOptions(condition=("grip=0.9",)))]
    assert roles == ["judged", "baseline"]


def test_a_reference_may_be_another_driver_with_other_host_options():
    options = EvaluationOptions(
        drivers="lane_keep", host=("steering=pad",), gain=("speed=12",),
        reference_driver="line_follow", reference_host=("steering=linear",),
    )  # fmt: skip
    judged, reference = list_cells(options)
    assert judged.reference == reference.cell
    assert (reference.cell.driver, reference.cell.host, reference.cell.gain) == (
        "line_follow", ("steering=linear",), (),
    )  # fmt: skip


@pytest.mark.parametrize("values", [{"laps": 0}, {"seconds": -1.0}, {"seeds": "x"}, {"cars": "random:0-99999",
                                    "tracks": "gen:0-9"}])  # fmt: skip
def test_bad_options_are_refused(values):
    with pytest.raises(UsageError):
        list_cells(EvaluationOptions(**values))


def test_a_fingerprint_changes_with_the_cell_and_with_every_file_that_it_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = ("a.toml", "d.py", "x.toml")

    def fingerprint(changed="", **values):
        for name in files:
            Path(name).write_text(name + "!" * (name == changed), "utf-8")
        cell = Cell(sim="assetto", track="gen:1", car="random:5:a.toml", driver="d.py:Best", believed_car="x.toml",
                    **values)  # fmt: skip
        return fingerprint_cell(cell)

    prints = [fingerprint(), fingerprint(laps=4), fingerprint(seed=1), *(fingerprint(name) for name in files)]
    assert len(set(prints)) == len(prints)
    assert fingerprint() == fingerprint()
