import math

import numpy as np
import pytest
from helpers.race_policies import OBSERVE, follow_plan

from trailbrake.cars.car_library import load_car
from trailbrake.cli.drive_flags import DriveFlags
from trailbrake.drivers.loading import policy
from trailbrake.drivers.loading.check import check_driver
from trailbrake.drivers.loading.driver_registry import load_driver
from trailbrake.drivers.loading.race_policy import Driver, write_race_policy
from trailbrake.driving.session.drive_session import drive
from trailbrake.errors import DataError, UsageError
from trailbrake.observe.state_observer import StateObserver
from trailbrake.observe.task_spec import TaskSpec
from trailbrake.planning.course import Course, tabulate_plan
from trailbrake.sims import registry
from trailbrake.state import CarState
from trailbrake.tracks.track_library import load_track

COURSE = Course(load_track("pinegrove"), load_car("gt3"))


@pytest.fixture
def file(tmp_path):
    write_race_policy(tmp_path / "mine.npz", follow_plan())
    return tmp_path / "mine.npz"


def state_at(s, time, speed=20.0):
    x, y, _, yaw = COURSE.track.road.points(s)[0].tolist()
    return CarState(
        time=time, x=x, y=y, yaw=yaw, speed=speed, velocity_x=speed, velocity_y=0.0, yaw_rate=0.0, acceleration_x=0.0,
        acceleration_y=0.0, gear=3,
    )  # fmt: skip


def test_it_observes_what_learners_observe_and_holds_a_command_for_its_period(file):
    driver = load_driver(f"policy:{file}")
    assert isinstance(driver, Driver)
    driver.reset(COURSE)
    observer = StateObserver(TaskSpec(OBSERVE), COURSE.track.road, COURSE.car, plan=tabulate_plan(COURSE))
    mine, commands, period = follow_plan(), np.zeros(2), 0.003
    held = None
    for tick in range(40):
        state = state_at(0.06 * tick, tick * period)
        controls = driver.act(state, period if tick else 0.0)
        if tick % 16 == 0:  # 0.048 s
            commands = mine.compute_commands(observer.observe(state), commands)
            observer.decode_action(commands)
            held = (commands[0], max(commands[1], 0.0), max(-commands[1], 0.0))
        assert (controls.steer, controls.throttle, controls.brake) == held
        assert controls.gear is None


@pytest.mark.parametrize("on_kerbs", [False, True])
def test_it_observes_the_kind_of_line_that_it_learned_with(tmp_path, on_kerbs):
    write_race_policy(tmp_path / "mine.npz", follow_plan(on_kerbs=on_kerbs))
    driver = load_driver(f"policy:{tmp_path / 'mine.npz'}")
    assert driver.uses_kerbs is on_kerbs
    driver.reset(COURSE)
    state = state_at(30.0, 0.0)
    controls = driver.act(state, 0.0)
    plan = tabulate_plan(COURSE.with_kerbs() if on_kerbs else COURSE)
    observer = StateObserver(TaskSpec(OBSERVE), COURSE.track.road, COURSE.car, plan=plan)
    commands = follow_plan().compute_commands(observer.observe(state), np.zeros(2))
    assert controls.steer == commands[0]
    assert controls.throttle == max(commands[1], 0.0)


def test_it_follows_the_rules_of_drivers_and_begins_anew_after_a_reset(file):
    assert check_driver(f"policy:{file}") == []
    driver = load_driver(f"policy:{file}")
    answers = []
    for _ in range(2):
        driver.reset(COURSE)
        answers.append([driver.act(state_at(100.0 + tick, 0.048 * tick), 0.048 * bool(tick)) for tick in range(5)])
    assert answers[0] == answers[1]


def test_what_is_no_policy_is_refused(tmp_path):
    (tmp_path / "a.npz").write_bytes(b"PK nothing")
    with pytest.raises(DataError, match="not a policy"):
        policy.load_policy_driver(tmp_path / "a.npz")


def test_a_policy_that_observes_another_car_s_plan_needs_no_car_file(tmp_path):
    write_race_policy(tmp_path / "any.npz", follow_plan(plan_car="hatchback"))
    driver = load_driver(f"policy:{tmp_path / 'any.npz'}")
    assert {"track"} == driver.COURSE_NEEDS
    answers = []
    for car in (None, COURSE.car):
        driver.reset(Course(COURSE.track, car))
        answers.append(driver.act(state_at(30.0, 0.0), 0.0))
    own = Course(COURSE.track, load_car("hatchback"))
    observer = StateObserver(TaskSpec(OBSERVE), own.track.road, own.car, plan=tabulate_plan(own))
    commands = follow_plan().compute_commands(observer.observe(state_at(30.0, 0.0)), np.zeros(2))
    assert answers[0] == answers[1]
    assert answers[0].steer == commands[0]


def test_a_policy_that_is_shown_a_slower_plan_brakes_for_it(tmp_path):
    answers = []
    for share in (1.0, 0.5):
        write_race_policy(tmp_path / "mine.npz", follow_plan(plan_share=share))
        driver = load_driver(f"policy:{tmp_path / 'mine.npz'}")
        assert driver.policy.plan_share == share
        driver.reset(COURSE)
        answers.append(driver.act(state_at(100.0, 0.0, speed=25.0), 0.0))
    assert answers[1].steer == answers[0].steer
    assert answers[1].throttle - answers[1].brake < answers[0].throttle - answers[0].brake
    for wrong, words in ({"plan_share": 0.0}, "share of the plan"), ({"plan_car": "../car.toml"}, "plan of a car"):
        write_race_policy(tmp_path / "mine.npz", follow_plan(**wrong))
        with pytest.raises(DataError, match=words):
            load_driver(f"policy:{tmp_path / 'mine.npz'}")


def test_the_policy_that_comes_with_the_package_is_found_by_its_name(tmp_path, monkeypatch):
    assert check_driver("policy:any") == []
    driver = load_driver("policy:any")
    assert {"track"} == driver.COURSE_NEEDS
    assert all(registry.find(sim).supplies >= driver.NEEDS for sim in ("assetto", "forza", "beamng"))
    monkeypatch.chdir(tmp_path)
    write_race_policy(tmp_path / "any.npz", follow_plan())
    assert {"track", "car"} == load_driver("policy:any.npz").COURSE_NEEDS  # a file of that name is a file
    with pytest.raises(UsageError, match="cannot read the policy"):
        load_driver("policy:all")


@pytest.mark.slow
def test_a_policy_drives_a_clean_lap_through_a_wire(file, tmp_path):
    result = drive(
        DriveFlags(
            sim="forza", driver=f"policy:{file}", track="pinegrove", laps=1, out=tmp_path, report=False
        ).make_spec()
    )
    laps = result["laps"]
    assert len(laps) == 1
    assert laps[0]["valid"]
    assert math.isfinite(laps[0]["time_s"])
    assert laps[0]["time_s"] < 75.0


@pytest.mark.slow
@pytest.mark.parametrize("sim", ["assetto", "forza", "beamng"])
def test_it_drives_a_car_that_it_does_not_know_through_the_fast_wires(sim, tmp_path):
    spec = DriveFlags(sim=sim, track="pinegrove", car="unknown", world=["car=random:7"], laps=0, seconds=15.0,
                      out=tmp_path, report=False).make_spec()  # fmt: skip
    summary = drive(spec)
    assert (summary["ended"], summary["off_track_s"], summary["contacts"]) == ("done", 0.0, 0)
    assert summary["mean_speed_mps"] > 15.0
