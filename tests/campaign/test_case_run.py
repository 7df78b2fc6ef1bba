"""Cases without a result are run, and each result is stored when it is there."""

from contextlib import contextmanager

import pytest

from trailbrake.campaign import case_run
from trailbrake.campaign.case_run import (
    CampaignListener,
    CampaignOptions,
    CaseStore,
    CaseTask,
    fingerprint_case,
    run_cases,
)
from trailbrake.errors import UsageError
from trailbrake.evaluate.cell_result import CellResult
from trailbrake.tasks.task_worker import TaskAnswer

TASK = CaseTask[int, int](
    "module:square", "squares", fingerprint_case, lambda case, is_remote: b"%d" % case,
    lambda case, answer: -1 if answer.error else int(answer.value), lambda case, result: f"{case} -> {result}",
    lambda result: result < 0,
)  # fmt: skip
RESULT = CellResult(outcome="clean", mean_progress_mps=31.0)


@pytest.fixture
def pool(monkeypatch):
    """Run tasks here: they square, 3 fails, and after 7 a stop is requested. Return what has been run."""
    ran = []

    class Pool:
        is_remote = False

        def run_tasks(self, function, arguments, stopped):
            assert function == TASK.function
            for index, argument in enumerate(arguments):
                ran.append(int(argument))
                yield (
                    index,
                    TaskAnswer(error="it broke") if argument == b"3" else TaskAnswer(b"%d" % int(argument) ** 2),
                )
                if argument == b"7":
                    raise KeyboardInterrupt

    @contextmanager
    def open_pool(on, jobs, patience, log_path, say):
        yield Pool()

    monkeypatch.setattr(case_run, "open_pool", open_pool)
    return ran


def run(folder, cases, said=None, **how):
    said = [] if said is None else said
    shares = []
    listener = CampaignListener(said.append, shares.append)
    driven = run_cases(cases, TASK, CaseStore(folder, int), folder, options=CampaignOptions(**how), listener=listener)
    assert shares == sorted(shares)
    return driven


def test_what_has_a_result_is_not_run_and_failures_are_run_again(tmp_path, pool):
    said = []
    first = run(tmp_path, [1, 2, 3], said)
    assert (first.results, first.ran, first.kept) == ([1, 4, -1], 3, 0)
    assert said == [f"3 squares, 3 to run, results in {tmp_path}", "1/3 1 -> 1", "2/3 2 -> 4", "3/3 3 -> -1"]
    second = run(tmp_path, [5, 3, 2])
    assert (second.results, second.ran, second.kept) == ([25, -1, 4], 2, 1)
    assert pool == [1, 2, 3, 5, 3]


def test_again_runs_all_of_them(tmp_path, pool):
    run(tmp_path, [1, 2])
    assert run(tmp_path, [1, 2], again=True).ran == 2
    assert pool == [1, 2, 1, 2]


def test_a_campaign_that_was_stopped_resumes(tmp_path, pool):
    said = []
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, [6, 7, 8], said)
    assert said[-1] == "2 of 3 squares are finished; the same command resumes"
    assert run(tmp_path, [6, 7, 8]).results == [36, 49, 64]
    assert pool == [6, 7, 8]


@pytest.mark.parametrize("wrong", [{"jobs": -1}, {"patience": 0.0}, {"patience": float("nan")}])
def test_wrong_numbers_are_one_line(tmp_path, pool, wrong):
    with pytest.raises(UsageError, match="--jobs, --patience"):
        run(tmp_path, [1], **wrong)


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
    monkeypatch.setattr(case_run, "hash_source", lambda: "another")
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


def test_all_results_of_a_folder_are_listed_without_what_is_none(tmp_path):
    store = CaseStore(tmp_path, int)
    for case in (1, 2):
        store.store_result(fingerprint_case(case), case, 10 * case)
    (tmp_path / "a.json").write_text("{")
    assert sorted(store.list_results()) == [10, 20]
