"""The limits of a car without the slip of the body, of laps planned at a share of a known car's grip."""

import numpy as np
import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.cars.ggv_envelope import compute_figures
from trailbrake.errors import DataError
from trailbrake.learning.identification.class_priors import CLASSES, make_prior_car
from trailbrake.learning.identification.drive_table import make_table
from trailbrake.learning.identification.learned_car import learn_car
from trailbrake.learning.identification.shown_limits import find_friction, find_shown_limits, measure_use
from trailbrake.planning.course import Course
from trailbrake.state.tables import CONTROL_COLUMNS, STATE_COLUMNS
from trailbrake.tracks.road_columns import RoadColumn
from trailbrake.tracks.track_library import load_track


def drive_planned(name, share, track="pinegrove", rate=10.0):
    """Return three laps of a car of the library at a share of its grip, as a GPS receiver has them."""
    course = Course(load_track(track), load_car(name))
    line = course.line
    profile = course.plan_speeds(line, start=-1.0, margin=share)
    steps = line.spacing / np.maximum(0.5 * (profile.speed + np.roll(profile.speed, -1)), 0.1)
    clock = np.concatenate([[0.0], np.cumsum(steps)])
    time = np.arange(0.0, 3.0 * clock[-1], 1.0 / rate)
    known = {"speed": profile.speed, "acceleration_x": profile.acceleration,
             "acceleration_y": profile.speed**2 * line.column(RoadColumn.CURVATURE)}  # fmt: skip
    state = {column.name: np.full(len(time), np.nan) for column in STATE_COLUMNS}
    state |= {key: np.interp(time % clock[-1], clock, np.append(each, each[0])) for key, each in known.items()}
    state["time"] = time
    return make_table(state, {column.name: np.full(len(time), np.nan) for column in CONTROL_COLUMNS})


def test_a_drive_without_slip_and_yaw_rate_is_a_table_of_speed_and_forces():
    table = drive_planned("gt3", 0.9)
    assert len(table) > 1000  # steps of 0.1 s are no gaps
    assert table.vx.max() > 40.0
    assert np.isnan(table.vy).all()


@pytest.mark.parametrize(("name", "kind"), [("hatchback", "road"), ("f1", "formula"), ("kart", "kart")])
def test_grip_brakes_and_engine_are_those_of_the_car(name, kind):
    learned = learn_car(drive_planned(name, 0.92, "kartwerk" if name == "kart" else "pinegrove"))
    assert learned.kind.name == kind
    assert learned.tyres is None
    truth, found = compute_figures(load_car(name)), compute_figures(learned.car)
    doubt = learned.car.uncertainty
    assert abs(found.braking / truth.braking - 1.0) < 0.3  # downforce and friction are told apart roughly
    speeds = (truth.drive > 0.0) & (np.arange(len(truth.drive)) >= 3)  # below, the tyres limit
    reached = speeds & (found.drive > 0.0)
    assert np.median(np.abs(found.drive[reached] / truth.drive[reached] - 1.0)) < 1.96 * doubt.drive_force
    assert learned.used == (1.0, 1.0)


def test_nearly_all_that_was_driven_is_within_the_limits_and_some_margin_is_left():
    table = drive_planned("gt3", 0.92)
    car, found = find_shown_limits(table, make_prior_car(CLASSES[1]))
    use = measure_use(table.take(table.vx > 5.0), car)
    assert np.percentile(use, 98.0) == pytest.approx(1.0 / 1.06, abs=0.06)
    low, high = found.grip.interval
    assert low < found.grip.value / 1.06 < high  # never narrower than what was seen
    assert found.top_speed == pytest.approx(table.vx.max())


def test_downforce_shows_in_the_forces_over_speed():
    usual = make_prior_car(CLASSES[0])
    loads = [find_friction(drive_planned(name, 0.95), usual).load for name in ("hatchback", "f1")]
    assert loads[0] + 0.3 < loads[1]


def test_a_car_that_hardly_moved_shows_nothing():
    table = drive_planned("hatchback", 0.9)
    with pytest.raises(DataError, match="driving faster than 5 m/s"):
        find_friction(table.take(table.vx < 1.0), make_prior_car(CLASSES[0]))
