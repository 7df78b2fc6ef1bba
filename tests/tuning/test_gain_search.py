"""What a trial of a search for gains costs."""

import msgspec
import pytest

from trailbrake.driving.road_monitor import RoadMonitor
from trailbrake.errors import SimulatorError
from trailbrake.state import CarState
from trailbrake.tasks.task_worker import TaskAnswer
from trailbrake.tracks.road import Road
from trailbrake.tuning.gain_search import (
    NEAR_EDGE_COST,
    TRIAL_GOAL,
    TRIAL_TASK,
    TrialJob,
    TrialPool,
    measure_outcome,
    run_trial_task,
)
from trailbrake.tuning.options import TuneOptions


def straight(length=200.0, closed=False):
    n = int(length) + 1
    return Road.from_columns(1.0, closed, [float(k) for k in range(n)], [0.0] * n, [0.0] * n, [0.0] * n,
                             width_left=4.0, width_right=4.0)  # fmt: skip


def watched(places, dt=0.1, half_width=0.0):
    """Return the verdict on a drive through `places`, and its outcome."""
    monitor, verdict = RoadMonitor(straight(), half_width=half_width), None
    for k, (x, y) in enumerate(places):
        monitor.observe_state(CarState(time=5.0 + k * dt, x=x, y=y))
        verdict = TRIAL_GOAL.judge(monitor)
        if verdict is not None:
            break
    return verdict, measure_outcome(monitor, free_edge=half_width > 0.0)


def test_a_drive_to_the_end_costs_its_time():
    verdict, outcome = watched([(float(x), 0.0) for x in range(200)])
    assert (verdict, outcome.driven) == ("", 1.0)
    assert outcome.cost == outcome.time == pytest.approx(18.5)  # 185 m of 200: the end is left out


def test_coming_near_the_edge_costs():
    _, outcome = watched([(float(x), 3.0 if x == 50 else 0.0) for x in range(200)])
    assert outcome.edge == 0.75
    assert outcome.cost == pytest.approx(outcome.time + 0.1 * NEAR_EDGE_COST)


def test_a_car_that_may_use_all_the_road_pays_from_its_side_on_the_edge_on():
    near = [(float(x), 3.0 if x == 50 else 0.0) for x in range(200)]
    _, free = watched(near, half_width=1.0)
    assert free.cost == free.time
    _, outcome = watched([(x, y + 0.5) for x, y in near], half_width=1.0)  # two wheels off
    assert outcome.cost == pytest.approx(outcome.time + 0.125 * NEAR_EDGE_COST)


def test_leaving_the_road_or_standing_ends_it_and_costs_what_is_left():
    verdict, outcome = watched([(float(x), 4.1 if x >= 100 else 0.0) for x in range(200)])
    assert verdict.startswith("off the road")
    assert outcome.time == pytest.approx(10.15, abs=0.06)
    assert outcome.cost > 10.1 + 83.0 / 3.0
    verdict, outcome = watched([(min(float(x), 20.0), 0.0) for x in range(400)])
    assert verdict.startswith("stood still")
    assert outcome.driven < 0.2


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
