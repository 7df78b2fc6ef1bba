import msgspec

from trailbrake.evaluate.cell_result import CellLap, CellResult, failed_result


def test_a_result_survives_its_file():
    result = CellResult(outcome="off", laps=(CellLap(1, 61.5, False, "contact", 0.5, 1),), mean_speed_mps=None)
    assert msgspec.json.decode(msgspec.json.encode(result), type=CellResult) == result


def test_a_cell_that_could_not_be_driven_says_why():
    assert (failed_result("no file", 2.0).outcome, failed_result("no file").ended) == ("error", "no file")
