"""Heats that run elsewhere: what is sent with them, what comes back, and that it is what this machine finds."""

from pathlib import Path

import msgspec
import pytest
from race.test_heat_supervisor import heat

from trailbrake.errors import SimulatorError, UsageError
from trailbrake.race.entry_result import lost_result
from trailbrake.race.heat_supervisor import HeatOutcome, supervise_heat
from trailbrake.race.heat_task import (
    HEAT_TASK,
    HeatReturn,
    HeatSending,
    is_portable,
    place_heat,
    run_heat_task,
    run_heats_on_pool,
    store_return,
)  # fmt: skip
from trailbrake.tasks.task_worker import TaskAnswer


class StandIn:
    is_remote = True

    def __init__(self, answer):
        self.answer, self.sent = answer, []

    def run_tasks(self, function, arguments, stopped):
        assert function == HEAT_TASK
        self.sent = [msgspec.msgpack.decode(argument, type=HeatSending) for argument in arguments]
        for index in reversed(range(len(arguments))):
            yield index, self.answer(arguments[index])


def result(**files):
    return msgspec.structs.replace(lost_result("e0", "quick"), **files)


def test_files_go_with_a_heat_and_what_comes_of_it_lies_here(tmp_path):
    returned = HeatReturn(HeatOutcome([result(recording="a.mcap")], "a.log"), {"a.mcap": b"1", "a.log": b"2"})
    pool = StandIn(lambda argument: TaskAnswer(msgspec.msgpack.encode(returned)))
    ((index, outcome),) = run_heats_on_pool(
        [heat(tmp_path, "mine.py:Goes")], tmp_path / "out", True, pool, lambda: False
    )
    assert pool.sent[0].files == {str(tmp_path / "mine.py"): (tmp_path / "mine.py").read_bytes()}
    assert (index, Path(outcome.results[0].recording).read_bytes(), Path(outcome.log).read_bytes()) == (0, b"1", b"2")
    assert Path(outcome.log).parent == (tmp_path / "out").resolve()


def test_a_heat_names_the_files_that_were_sent(tmp_path):
    sent = HeatSending(heat=heat(tmp_path, "mine.py:Goes", "wall_follow", track="/elsewhere/oval.toml"), report=False,
                       files={"/elsewhere/oval.toml": b"x"})  # fmt: skip
    placed = place_heat(sent, tmp_path / "placed")
    assert Path(placed.track).read_bytes() == b"x"
    assert placed.grid == sent.heat.grid


def test_programs_stay_here(tmp_path):
    assert is_portable(heat(tmp_path, "wall_follow"))
    assert not is_portable(heat(tmp_path, "bot --port {port}"))


def test_a_heat_that_could_not_be_run_is_one_line(tmp_path):
    pool = StandIn(lambda argument: TaskAnswer(error="no space"))
    with pytest.raises(SimulatorError, match="race 1: a heat could not be run, got no space"):
        list(run_heats_on_pool([heat(tmp_path, "wall_follow")], tmp_path, True, pool, lambda: False))


def test_what_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / "taken").touch()
    with pytest.raises(UsageError, match="cannot write what came of a heat"):
        store_return(HeatReturn(HeatOutcome([result()], ""), {}), tmp_path / "taken")


@pytest.mark.slow
def test_a_task_finds_what_this_machine_finds(tmp_path):
    one = heat(tmp_path, "mine.py:Goes")
    here = supervise_heat(one, tmp_path, tmp_path / "out", True, lambda: False)
    driver = str(tmp_path / "mine.py")
    sent = HeatSending(heat=one, report=True, files={driver: Path(driver).read_bytes()})
    Path(driver).unlink()
    returned = msgspec.msgpack.decode(run_heat_task(msgspec.msgpack.encode(sent)), type=HeatReturn)
    there = store_return(returned, tmp_path / "out")
    assert there.results[0].digest == here.results[0].digest
    assert there.results[0].laps == here.results[0].laps
    assert Path(there.results[0].recording).name == Path(here.results[0].recording).stem + "-2.mcap"
    assert Path(there.results[0].report).is_file()
