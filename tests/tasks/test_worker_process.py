import sys

import pytest
from helpers.task_module import write_task_module

from trailbrake.tasks.task_worker import TaskAnswer, TaskCall
from trailbrake.tasks.worker_process import WorkerProcess


@pytest.fixture
def make_worker(tmp_path, monkeypatch):
    write_task_module(tmp_path, monkeypatch)
    made = []

    def make(patience=60.0):
        made.append(WorkerProcess(tmp_path / "log", patience))
        return made[-1]

    yield make
    for worker in made:
        worker.close()


def test_a_task_is_answered_and_what_it_prints_goes_to_the_log(make_worker, tmp_path):
    worker = make_worker()
    assert worker.run_task(TaskCall("task_module:shout", b"ab")) == TaskAnswer(b"AB")
    assert "said ab" in (tmp_path / "log").read_text()
    large = b"x" * 300_000  # more than a pipe holds
    assert worker.run_task(TaskCall("task_module:shout", large)) == TaskAnswer(large.upper())


def test_what_a_task_raises_is_its_answer_and_the_process_goes_on(make_worker):
    worker = make_worker()
    refused = worker.run_task(TaskCall("task_module:refuse", b"x"))
    assert refused.error == "--x: no such thing"
    broken = worker.run_task(TaskCall("task_module:fail", b"x"))
    assert broken.error.startswith("ZeroDivisionError: ")
    numbers = [worker.run_task(TaskCall("task_module:process_number", b"")).value for _ in range(2)]
    assert numbers[0] == numbers[1]


def test_a_process_that_ends_costs_its_task_alone(make_worker):
    worker = make_worker()
    first = worker.run_task(TaskCall("task_module:process_number", b"")).value
    dead = worker.run_task(TaskCall("task_module:end_process", b""))
    assert "exit code 7; see log" in dead.error
    assert worker.run_task(TaskCall("task_module:process_number", b"")).value not in (b"", first)


def test_a_task_that_takes_too_long_is_given_up_and_the_next_worker_is_a_new_one(make_worker):
    worker = make_worker(patience=0.02)
    for _ in range(2):
        assert worker.run_task(TaskCall("task_module:hang", b"")).error == "no result within 0.02 s of wall time"


def test_a_closed_worker_has_no_result(make_worker):
    worker = make_worker()
    worker.close()
    assert worker.run_task(TaskCall("task_module:shout", b"x")) is None


def test_the_tasks_run_under_this_interpreter(make_worker):
    assert make_worker().run_task(TaskCall("task_module:interpreter", b"")).value.decode() == sys.executable
