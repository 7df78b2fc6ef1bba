import msgspec
import pytest

from trailbrake.errors import SimulatorError
from trailbrake.tasks.task_worker import TaskAnswer
from trailbrake.tuning.options import TuneOptions
from trailbrake.tuning.trial_task import TRIAL_TASK, TrialJob, TrialPool, run_trial_task


class StandIn:
    """A pool of another machine that answers in this process, the last task first."""

    is_remote = True

    def __init__(self, answer):
        self.answer, self.jobs = answer, []

    def run_tasks(self, function, arguments, stopped):
        assert function == TRIAL_TASK
        self.jobs = [msgspec.msgpack.decode(argument, type=TrialJob) for argument in arguments]
        for index in reversed(range(len(arguments))):
            yield index, self.answer(arguments[index])


def write_road(tmp_path):
    path = tmp_path / "short.toml"
    path.write_text("closed = false\n[[segment]]\nstraight = 30.0\n", "utf-8")
    return path


def test_costs_come_in_the_order_of_the_trials_and_files_go_with_them(tmp_path):
    track, driver = write_road(tmp_path), tmp_path / "mine.py"
    driver.write_text("x = 1", "utf-8")
    pool = StandIn(lambda argument: TaskAnswer(msgspec.msgpack.encode(
        msgspec.msgpack.decode(argument, type=TrialJob).values["speed"] * 2.0)))  # fmt: skip
    options = TuneOptions(driver=f"{driver}:Mine", track=str(track))
    trials = TrialPool(options, pool, lambda: False)
    assert trials.drive_trials([{"speed": 3.0}, {"speed": 5.0}]) == [6.0, 10.0]
    assert pool.jobs[0].files == {str(driver): b"x = 1", str(track): track.read_bytes()}


def test_a_trial_that_fails_ends_the_search_with_its_reason():
    trials = TrialPool(TuneOptions(), StandIn(lambda argument: TaskAnswer(error="no world")), lambda: False)
    with pytest.raises(SimulatorError, match="a trial failed: no world"):
        trials.drive_trials([{}])


@pytest.mark.slow
def test_a_trial_drives_with_the_files_that_were_sent_with_it(tmp_path):
    track = write_road(tmp_path)
    job = TrialJob(
        sim="forza", driver="cruise", track="/elsewhere/short.toml", cars="hatchback", keep_to="middle", only="speed",
        config="", host=(), files={"/elsewhere/short.toml": track.read_bytes()}, values={"speed": 10.0},
    )  # fmt: skip
    slow = msgspec.structs.replace(job, values={"speed": 5.0})
    costs = [msgspec.msgpack.decode(run_trial_task(msgspec.msgpack.encode(one))) for one in (job, slow, job)]
    assert 0.0 < costs[0] < costs[1]
    assert costs[2] == costs[0]
