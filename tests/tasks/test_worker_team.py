import pytest
from helpers.task_module import write_task_module

from trailbrake.errors import SimulatorError
from trailbrake.tasks.task_worker import TaskAnswer
from trailbrake.tasks.worker_team import LocalTeam, WorkerLostError, check_answers


@pytest.fixture
def team(tmp_path, monkeypatch):
    write_task_module(tmp_path, monkeypatch)
    team = LocalTeam(2, 60.0, lambda number: tmp_path / f"worker-{number}.log")
    yield team
    team.close()


def test_workers_are_called_together_keep_their_processes_and_start_again(team):
    numbers = team.call_each("task_module:process_number", [b"", b""])
    assert len(set(numbers)) == 2
    assert team.call_each("task_module:process_number", [b"", b""]) == numbers
    assert team.call_each("task_module:shout", [b"a", b"b"]) == [b"A", b"B"]
    team.restart()
    assert not set(team.call_each("task_module:process_number", [b"", b""])) & set(numbers)


def test_a_worker_that_dies_is_lost_and_what_one_raises_is_one_line(team):
    with pytest.raises(WorkerLostError, match=r"worker 1 of 2 was lost: its process ended .* exit code 7"):
        team.call_each("task_module:end_process", [b"", b""])
    with pytest.raises(SimulatorError, match=r"worker 1 of 2: .*no such thing"):
        team.call_each("task_module:refuse", [b"here", b"there"])


def test_a_call_that_does_not_end_is_a_lost_worker(tmp_path, monkeypatch):
    write_task_module(tmp_path, monkeypatch)
    team = LocalTeam(1, 0.5, lambda number: tmp_path / "log")
    with pytest.raises(WorkerLostError, match=r"no result within 0.5 s"):
        team.call_each("task_module:hang", [b""])
    team.close()


def test_a_loss_is_named_before_the_errors_that_follow_from_it():
    broken = TaskAnswer(error="RuntimeError: connection reset")
    with pytest.raises(WorkerLostError, match=r"worker 2 of 2 was lost$"):
        check_answers([broken, None])
    with pytest.raises(SimulatorError, match="connection reset"):
        check_answers([broken, TaskAnswer(b"1")])
    assert check_answers([TaskAnswer(b"1"), TaskAnswer(b"2")]) == [b"1", b"2"]
