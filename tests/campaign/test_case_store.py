import pytest

from trailbrake.campaign import case_store
from trailbrake.campaign.case_store import CaseStore, fingerprint_case
from trailbrake.errors import UsageError
from trailbrake.evaluate.cell_result import CellResult

RESULT = CellResult(outcome="clean", mean_speed_mps=31.0)


def make_store(folder, **how):
    return CaseStore(folder / "cases", CellResult, **how)


def test_a_result_is_found_again_by_its_case_alone(tmp_path):
    make_store(tmp_path).store_result(fingerprint_case(("gt3", 1)), ("gt3", 1), RESULT)
    store = make_store(tmp_path)
    assert store.read_result(fingerprint_case(("gt3", 1))) == RESULT
    assert store.read_result(fingerprint_case(("gt3", 2))) is None
    assert len(list((tmp_path / "cases").iterdir())) == 1


def test_a_changed_file_makes_another_case(tmp_path):
    car = tmp_path / "car.toml"
    car.write_text("a = 1")
    before = fingerprint_case("one", [str(car), "gt3"])
    assert fingerprint_case("one", [str(car)]) == before
    car.write_text("a = 2")
    assert fingerprint_case("one", [str(car)]) != before


def test_results_of_other_code_count_only_if_wanted(tmp_path, monkeypatch):
    make_store(tmp_path).store_result("a" * 64, "case", RESULT)
    monkeypatch.setattr(case_store, "hash_source", lambda: "another")
    assert make_store(tmp_path).read_result("a" * 64) is None
    assert make_store(tmp_path, any_source=True).read_result("a" * 64) == RESULT


@pytest.mark.parametrize(
    "spoil",
    [lambda data: data[:-20], lambda data: b'{"more":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
     lambda data: data.replace(b'"clean"', b"5"), lambda data: b"[]"],
)  # fmt: skip
def test_a_spoilt_file_is_no_result(tmp_path, spoil):
    store = make_store(tmp_path)
    store.store_result("a" * 64, "case", RESULT)
    (path,) = (tmp_path / "cases").iterdir()
    path.write_bytes(spoil(path.read_bytes()))
    assert store.read_result("a" * 64) is None


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path):
    (tmp_path / "cases").write_text("")
    with pytest.raises(UsageError, match="cannot make the folder"):
        make_store(tmp_path)
