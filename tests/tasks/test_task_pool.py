import pytest
from helpers.task_module import write_task_module

from trailbrake.tasks.task_pool import LocalPool, count_jobs, open_pool
from trailbrake.tasks.task_worker import TaskAnswer

ARGUMENTS = [bytes([65 + k % 26]) * (k + 1) for k in range(12)]


@pytest.fixture
def open_local(tmp_path, monkeypatch):
    write_task_module(tmp_path, monkeypatch)
    return lambda jobs: open_pool("", jobs, 60.0, lambda job: tmp_path / f"log-{job}", lambda text: None)


def test_each_task_is_answered_once_by_one_process_or_several(open_local):
    seen = []
    for jobs in (1, 3):
        with open_local(jobs) as pool:
            assert not pool.is_remote
            seen.append(sorted(pool.run_tasks("base64:b64encode", ARGUMENTS), key=lambda item: item[0]))
    assert seen[0] == seen[1]
    assert [index for index, _ in seen[0]] == list(range(len(ARGUMENTS)))
    assert seen[0][2] == (2, TaskAnswer(b"Q0ND"))


def test_processes_serve_one_run_after_the_other(open_local):
    with open_local(1) as pool:
        first, second = (list(pool.run_tasks("task_module:process_number", [b""])) for _ in range(2))
        assert first == second
        assert list(pool.run_tasks("task_module:shout", [])) == []


def test_a_stop_ends_what_runs(open_local):
    with open_local(2) as pool, pytest.raises(KeyboardInterrupt):
        list(pool.run_tasks("task_module:hang", [b"", b""], lambda: True))


def test_a_run_that_is_abandoned_ends_its_processes(open_local):
    with open_local(1) as pool:
        run = pool.run_tasks("task_module:shout", [b"a", b"b", b"c"])
        assert next(run) == (0, TaskAnswer(b"A"))
        run.close()
        assert pool.run_tasks("task_module:shout", [b"a"]) is not None  # a closed pool starts nothing


def test_a_fault_of_ours_ends_the_run(tmp_path):
    pool = LocalPool(1, 60.0, lambda job: tmp_path / "missing" / "log")
    with pytest.raises(FileNotFoundError):
        list(pool.run_tasks("base64:b64encode", [b""]))


def test_jobs_left_out_take_half_of_the_cores(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 8)
    assert (count_jobs(0), count_jobs(3)) == (4, 3)
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    assert count_jobs(0) == 1
