import math

import numpy as np
import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.errors import UsageError
from trailbrake.observe.features import Feature
from trailbrake.observe.state_observer import StateObserver
from trailbrake.observe.task_spec import TaskSpec
from trailbrake.sims import registry
from trailbrake.state import CarState, OtherCar, WheelState
from trailbrake.tracks.track_library import load_track

TRACK, CAR = load_track("pinegrove"), load_car("gt3")


def state_at(s, offset=0.0, turn=0.0, time=0.0, **fields):
    x, y, _, yaw = TRACK.road.points(s, offset)[0].tolist()
    wheels = [WheelState(combined_slip=0.1, load=3000.0, on_track=1.0) for _ in range(4)]
    motion = {"velocity_x": 30.0, "velocity_y": -0.5, "yaw_rate": 0.2, "acceleration_x": 1.0, "acceleration_y": 2.0}
    pedals = {"steering_wheel_angle": 0.3, "throttle": 0.4, "brake": 0.0, "engine_speed": 500.0, "gear": 3}
    yaw = math.remainder(yaw + turn, 2.0 * math.pi)
    return CarState(time=time, x=x, y=y, yaw=yaw, wheels=wheels, contacts=0.0, **(motion | pedals | fields))


def test_the_car_is_found_on_the_road_and_its_numbers_are_the_state_s():
    observer = StateObserver(TaskSpec(["lane", "motion", "pedals"]), TRACK.road, CAR)
    out = observer.observe(state_at(200.0, 1.5, 0.1))
    assert out.dtype == np.float32
    assert observer.feature_value(Feature.S) == pytest.approx(200.0, abs=1e-6)
    assert observer.feature_value(Feature.OFFSET) == pytest.approx(1.5, abs=1e-6)
    assert out[0] == pytest.approx(math.sin(0.1), abs=1e-4)
    assert out[5:10] == pytest.approx([30.0 / 40.0, -0.1, 0.2, 0.1, 0.2])
    lock = CAR.steering.max_angle * CAR.steering.ratio
    assert out[10:13] == pytest.approx([0.3 / lock, 0.4, 0.0])


def test_steps_are_judged_by_simulator_time():
    observer = StateObserver(TaskSpec(["lane"], ["progress"], ["off_track"]), TRACK.road, CAR)
    observer.observe(state_at(100.0, time=5.0))
    observer.observe(state_at(103.0, time=5.1))
    reward, ended = observer.compute_reward(time_limit=10.0)
    assert (reward, ended) == (pytest.approx(0.3, abs=1e-3), 0)
    observer.observe(state_at(103.0, time=15.1))
    assert observer.compute_reward(time_limit=10.0)[1] == -1
    observer.reset()
    observer.observe(state_at(400.0, time=16.0))
    assert observer.compute_reward()[0] == 0.0


def test_others_are_seen_in_the_car_s_axes():
    here = state_at(50.0)
    ahead = OtherCar(0, here.x + 10.0 * math.cos(here.yaw), here.y + 10.0 * math.sin(here.yaw), 0.0, here.yaw,
                     31.0 * math.cos(here.yaw), 31.0 * math.sin(here.yaw))  # fmt: skip
    here.others = [ahead]
    out = StateObserver(TaskSpec(["rivals"]), TRACK.road, CAR).observe(here)
    assert out[:7] == pytest.approx([1.0, 0.1, 0.0, 0.05, 0.025, 0.0, 1.0], abs=1e-5)
    assert not out[7:].any()


def test_controls_are_what_the_action_means_and_bad_ones_are_named():
    observer = StateObserver(TaskSpec(["asked"]), TRACK.road, CAR)
    controls = observer.decode_action(np.array([0.5, -0.25]))
    assert (controls.steer, controls.throttle, controls.brake) == (0.5, 0.0, 0.25)
    assert observer.observe(state_at(0.0)) == pytest.approx([0.5, 0.0, 0.25])
    three = StateObserver(TaskSpec(["lane"], action="steer_throttle_brake"), TRACK.road, CAR).decode_action(
        [-1.0, 0.3, 0.1]
    )
    assert (three.steer, three.throttle, three.brake) == (-1.0, 0.3, 0.1)
    for bad in ([0.0], [0.0, 1.1], [math.nan, 0.0]):
        with pytest.raises(UsageError, match=r"no such action.*2 numbers"):
            observer.decode_action(np.array(bad))


def test_what_a_simulator_does_not_tell_is_named_before_the_drive():
    supplies = registry.find("assetto").supplies
    every = ["motion", "pedals", "drivetrain", "tyres", "wheels_on_track", "lane", "pose", "bends", "edges", "rivals"]
    StateObserver(TaskSpec(every), TRACK.road, CAR, supplies)
    with pytest.raises(UsageError, match=r"does not supply.*wheels\.load"):
        StateObserver(TaskSpec(["tyres"]), TRACK.road, CAR, supplies - {"wheels.load"})
    with pytest.raises(UsageError, match="scan64"):
        StateObserver(TaskSpec(["scan64"]), TRACK.road, CAR)
