import math

import numpy as np
import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.observe.derived_features import record_command, reset_features
from trailbrake.observe.features import FEATURES, REMEMBERED, REPEATS, Feature
from trailbrake.observe.felt_features import BANDS, STEPS, USUAL_GAIN, remember_step
from trailbrake.observe.parts import PARTS
from trailbrake.observe.state_observer import StateObserver
from trailbrake.observe.task_spec import TaskSpec
from trailbrake.sims import registry
from trailbrake.state import CarState
from trailbrake.tracks.track_library import load_track

DT = 0.05


class Drive:
    """A car whose motion and commands are given, step by step."""

    def __init__(self):
        self.seen = np.zeros((Feature.COUNT, 1))
        reset_features(self.seen, np.zeros(1, np.int64))
        self.steps = 0

    def step(self, count=1, steer=0.0, pedal=0.0, **rows):
        for _ in range(count):
            record_command(self.seen, 0, steer, max(pedal, 0.0), max(-pedal, 0.0))
            for name, value in rows.items():
                self.seen[Feature[name]] = value
            self.seen[Feature.TIME] = self.steps * DT
            remember_step(self.seen, DT if self.steps else 0.0, 0, 1)
            self.steps += 1
        return self

    def read(self, feature):
        return self.seen[feature : feature + REPEATS.get(feature, 1), 0].tolist()


def test_greatest_accelerations_are_kept_by_band_of_speed():
    drive = Drive().step(20, VELOCITY_X=20.0, ACCELERATION_Y=-9.0, ACCELERATION_X=3.0)
    drive.step(20, VELOCITY_X=60.0, ACCELERATION_Y=0.0, ACCELERATION_X=-20.0)
    lateral, braking, forward = map(drive.read, (Feature.FELT_LATERAL, Feature.FELT_BRAKING, Feature.FELT_DRIVE))
    assert lateral[0] == pytest.approx(9.0, rel=0.01)
    assert lateral[1] == 0.0
    assert braking[2] == pytest.approx(20.0, rel=0.01)
    assert braking[0] == 0.0
    assert forward[0] == pytest.approx(3.0, rel=0.01)
    drive.step(2, ACCELERATION_X=60.0)  # a blow of a tenth of a second is no grip
    assert drive.read(Feature.FELT_DRIVE)[2] < 40.0
    assert len(lateral) == BANDS


def test_what_was_felt_fades_in_minutes():
    drive = Drive().step(20, VELOCITY_X=20.0, ACCELERATION_Y=9.0)
    drive.step(round(300.0 / DT), ACCELERATION_Y=0.0)
    assert drive.read(Feature.FELT_LATERAL)[0] == pytest.approx(9.0 / math.e, rel=0.03)


def test_the_steer_s_effect_is_learned_in_gentle_bends_and_a_slide_is_a_miss():
    drive = Drive().step(1, VELOCITY_X=15.0)
    assert drive.read(Feature.FELT_STEER_GAIN) == [pytest.approx(USUAL_GAIN)]
    rng = np.random.default_rng(3)
    for steer in rng.uniform(-0.2, 0.2, 400):
        drive.step(2, steer=steer, YAW_RATE=0.1 * steer * 15.0, ACCELERATION_Y=0.1 * steer * 225.0)
    (gain,) = drive.read(Feature.FELT_STEER_GAIN)
    assert gain == pytest.approx(0.1, rel=0.6)  # the command before is often another one
    drive = Drive().step(400, steer=0.1, VELOCITY_X=15.0, YAW_RATE=0.1 * 0.1 * 15.0, ACCELERATION_Y=2.0)
    assert drive.read(Feature.FELT_STEER_GAIN) == [pytest.approx(0.1, rel=0.01)]
    assert drive.read(Feature.FELT_YAW_MISS) == [pytest.approx(0.0, abs=0.01)]
    drive.step(40, steer=0.3, YAW_RATE=0.15, ACCELERATION_Y=9.0)  # understeer beyond gentle bends teaches nothing
    assert drive.read(Feature.FELT_STEER_GAIN) == [pytest.approx(0.1, rel=0.01)]
    assert drive.read(Feature.FELT_YAW_MISS)[0] == pytest.approx(0.15 - 0.1 * 0.3 * 15.0, rel=0.02)


def test_the_last_steps_are_kept_newest_first():
    drive = Drive()
    for k in range(1, 6):
        drive.step(steer=0.1 * k, pedal=-0.1 * k, YAW_RATE=float(k), ACCELERATION_X=10.0 * k, ACCELERATION_Y=-1.0 * k)
    assert drive.read(Feature.RECENT_STEER) == pytest.approx([0.4, 0.3, 0.2])
    assert drive.read(Feature.RECENT_PEDAL) == pytest.approx([-0.4, -0.3, -0.2])
    assert drive.read(Feature.RECENT_YAW_RATE) == [4.0, 3.0, 2.0]
    assert drive.read(Feature.RECENT_LONGITUDINAL) == [40.0, 30.0, 20.0]
    assert drive.read(Feature.RECENT_LATERAL) == [-4.0, -3.0, -2.0]
    assert len(drive.read(Feature.RECENT_STEER)) == STEPS


def test_every_fast_wire_supplies_what_is_remembered_and_it_begins_with_an_episode():
    needs = frozenset().union(*(FEATURES[feature].needs for feature in REMEMBERED))
    assert all(needs <= registry.find(name).supplies for name in ("assetto", "forza", "beamng"))
    task = TaskSpec(["felt", "recent"])
    assert task.tables.remembers
    assert not TaskSpec(["motion"]).tables.remembers
    assert task.number_names[0] == "felt.felt_lateral_1"
    track = load_track("pinegrove")
    observer = StateObserver(task, track.road, load_car("gt3"))
    x, y, _, yaw = track.road.points(100.0, 0.0)[0].tolist()
    moving = {"x": x, "y": y, "yaw": yaw, "velocity_x": 30.0, "velocity_y": 0.0, "yaw_rate": 0.0}
    first = observer.observe(CarState(time=0.0, acceleration_x=-9.0, acceleration_y=0.0, **moving))
    assert first[: 3 * BANDS].tolist() == [0.0] * 9
    for k in range(1, 20):
        seen = observer.observe(CarState(time=DT * k, acceleration_x=-9.0, acceleration_y=0.0, **moving))
    place = PARTS["felt"].feature_rows.index((Feature.FELT_BRAKING + 1, 10.0))
    assert seen[place] == pytest.approx(0.9, rel=0.01)
    observer.reset()
    again = observer.observe(CarState(time=9.0, acceleration_x=-9.0, acceleration_y=0.0, **moving))
    assert again == pytest.approx(first)
