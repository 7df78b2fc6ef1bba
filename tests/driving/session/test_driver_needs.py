"""Whether a driver and a simulator go together."""

import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.drivers.loading.driver_registry import load_driver
from trailbrake.driving.session.driver_needs import check_course_needs, check_driver_needs
from trailbrake.driving.session.session_detection import make_unknown_course
from trailbrake.errors import UsageError
from trailbrake.planning.course import Course, UnmappedCourse
from trailbrake.sims.registry import find
from trailbrake.tracks.track_library import load_track


class Driver:
    NEEDS = frozenset({"x", "yaw"})
    reset = act = print


def test_a_driver_goes_with_a_simulator_that_supplies_what_it_needs():
    check_driver_needs(Driver(), "own", find("assetto"))


def test_a_missing_field_is_named():
    class Seeing(Driver):
        NEEDS = frozenset({"x", "image"})

    with pytest.raises(UsageError, match="assetto does not supply: image; add --camera window:TITLE, or in the"):
        check_driver_needs(Seeing(), "own", find("assetto"))


@pytest.mark.parametrize("driver", ["line_follow", "convoy", "double_lane_change", "brake_test"])
@pytest.mark.parametrize("sim", ["forza", "beamng"])
def test_a_driver_that_plans_on_a_road_is_refused_without_one_and_the_line_says_what_to_do(sim, driver):
    course = make_unknown_course(find(sim), None)
    with pytest.raises(UsageError) as caught:
        check_course_needs(load_driver(driver), driver, find(sim), course)
    line = str(caught.value)
    assert line.startswith(f"drive: {driver} plans on a road, and the road is not known")
    assert f"--sim {sim} --live" in line
    assert "--track MAP.csv" in line
    assert "speed_hold" in line.split("needs no road: ")[1]
    assert "\n" not in line


def test_drivers_that_the_hint_names_are_those_that_the_simulator_can_run():
    hints = {sim: make_unknown_course(find(sim), None).hint for sim in ("forza", "beamng")}
    named = {sim: hint.split("needs no road: ")[1].split(", ") for sim, hint in hints.items()}
    assert {"lane_keep", "curvature_cut"} <= set(named["forza"])
    assert "heading_hold_torque" not in named["forza"]
    assert "heading_hold_torque" in named["beamng"]
    for sim, drivers in named.items():
        for name in drivers:
            check_driver_needs(load_driver(name), name, find(sim))
            check_course_needs(load_driver(name), name, find(sim), make_unknown_course(find(sim), None))


def test_a_driver_that_plans_with_a_car_is_refused_without_one():
    driver, sim, track = load_driver("line_follow"), find("forza"), load_track("kartwerk")
    check_course_needs(driver, "line_follow", sim, Course(track, load_car("kart")))
    check_course_needs(load_driver("brake_test"), "brake_test", sim, Course(track, None))
    with pytest.raises(UsageError, match="forza does not name its car; name the nearest one by --car"):
        check_course_needs(driver, "line_follow", sim, Course(track, None))


def test_a_driver_without_a_declaration_gets_the_same_advice_from_the_course():
    course = make_unknown_course(find("forza"), None)
    for read in ("track", "line", "profile", "envelope"):
        with pytest.raises(UsageError, match=r"the road is not known.*trailbrake learn --sim forza --live"):
            getattr(course, read)
    with pytest.raises(UsageError, match="does not supply the car's position"):
        _ = UnmappedCourse().track
