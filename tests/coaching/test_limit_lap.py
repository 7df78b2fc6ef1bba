import dataclasses

import numpy as np
import pytest
from helpers.coached_laps import make_laps, make_place
from msgspec.structs import replace

from trailbrake.cars.learned import Uncertainty
from trailbrake.coaching.ghost_laps import Place
from trailbrake.coaching.learned_place import LearnedPlace
from trailbrake.coaching.limit_lap import find_limit_lap, measure_deviation
from trailbrake.errors import DataError

DOUBT = Uncertainty(source="made", lateral_grip=0.03, braking=0.03, drive_force=0.03, downforce=0.03, steer_angle=0.1,
                    delay=0.01)  # fmt: skip


def find(ideal_s, shown=1.0, doubt=DOUBT):
    course, common = make_place()
    learned = LearnedPlace(Place("pinegrove", "gt3", course), doubt, shown, ())
    return find_limit_lap(learned, common, ideal_s, lambda text: None, drive=False)


def test_the_doubt_is_what_the_lap_takes_longer_with_that_much_less_grip_and_engine():
    course, _ = make_place()
    usual, weak = course.profile.lap_time, course.plan_speeds(course.line, start=-1.0, margin=0.97 * 0.97).lap_time
    grip = replace(DOUBT, drive_force=0.0)
    assert measure_deviation(course, grip, 1.0) == pytest.approx(weak - usual, rel=1e-6)
    assert measure_deviation(course, DOUBT, 1.0) > measure_deviation(course, grip, 1.0)


def test_tyres_that_never_showed_their_peak_leave_a_wider_interval():
    widths = [limit.most_s - limit.least_s for limit in (find(99.0, shown) for shown in (1.0, 0.8, 0.5, float("nan")))]
    assert widths[0] < widths[1] < widths[2] <= widths[3]


def test_the_limit_is_no_slower_than_what_the_person_has_done():
    free = find(99.0)
    assert free.least_s < free.time_s < free.most_s
    assert free.describe_interval().endswith("with a chance of 95 %")
    done = find(free.time_s - 0.2)
    assert done.time_s == done.most_s == free.time_s - 0.2
    assert done.least_s < done.time_s


def test_a_lap_that_is_surely_slower_than_the_person_is_no_limit():
    free = find(99.0)
    with pytest.raises(DataError, match="the limit is not known, expected a lap as quick as yours"):
        find(free.least_s - 0.1)


def test_a_lap_that_is_far_slower_than_the_person_is_no_limit_however_doubtful_the_car_is():
    doubt = replace(DOUBT, lateral_grip=0.4, drive_force=0.4)
    free = find(99.0, doubt=doubt)
    assert free.least_s < 0.8 * free.time_s
    with pytest.raises(DataError, match="the limit is not known, expected a lap as quick as yours"):
        find(0.9 * free.time_s, doubt=doubt)


def test_a_named_car_is_not_doubted():
    limit = find(99.0, doubt=None)
    assert limit.least_s == limit.time_s == limit.most_s
    assert "not driven" in limit.made_by
    assert "the car that you named" in limit.describe_interval()
    assert make_laps(np.random.default_rng(0), laps=1)[0].time_s > limit.time_s


def find_driven(monkeypatch, drive):
    course, common = make_place()
    monkeypatch.setattr("trailbrake.coaching.limit_lap.drive_at_limit", drive)
    monkeypatch.setattr("trailbrake.coaching.limit_lap.plan_limit_course", lambda *_: (course, "the default line"))
    learned = LearnedPlace(Place("pinegrove", "gt3", course), DOUBT, 1.0, ())
    return find_limit_lap(learned, common, 99.0, lambda text: None, drive=True)


def test_a_car_that_does_not_get_round_has_a_planned_limit_and_the_page_says_why(monkeypatch):
    def roll_over(*_):
        raise DataError("the learned car did not get round", expected="5 laps", got="rolled over in lap 1")

    limit = find_driven(monkeypatch, roll_over)
    assert not limit.is_driven
    assert limit.made_by == (
        "planned on the default line; the learned car did not get round, expected 5 laps, got rolled over in lap 1"
    )


@pytest.mark.parametrize(("share", "is_driven"), [(1.005, True), (1.1, False)])
def test_what_the_driver_does_not_master_is_no_limit(monkeypatch, share, is_driven):
    """A learned car that slid for five laps had a limit 10 % slower than the true one, and a sure one."""
    planned = find(99.0)
    lap = dataclasses.replace(planned.lap, time_s=share * planned.time_s)
    limit = find_driven(monkeypatch, lambda *_: lap)
    assert limit.is_driven == is_driven
    assert limit.time_s == (lap.time_s if is_driven else planned.time_s)
    assert ("does not master" in limit.made_by) != is_driven
