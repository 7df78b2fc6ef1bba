"""Drivers of a drive: by name, or an object or a class of the user's own; whether they go with a simulator."""

import pytest

import trailbrake
from trailbrake import Controls
from trailbrake.cars.car_library import load_car
from trailbrake.drivers import convoy
from trailbrake.drivers.loading.driver_registry import load_driver
from trailbrake.driving.session import driver_choice
from trailbrake.driving.session.driver_choice import check_course_needs, check_driver_needs, make_drivers, name_driver
from trailbrake.driving.session.resolved_drive import make_unknown_course
from trailbrake.driving.spec import make_spec, parse_spec
from trailbrake.errors import TrailbrakeError, UsageError
from trailbrake.planning.course import Course, UnmappedCourse
from trailbrake.sims.registry import find
from trailbrake.tracks.track_library import load_track


class Coasts:
    NEEDS = frozenset({"speed"})

    def __init__(self, throttle=0.2):
        self.throttle = throttle

    def reset(self, course):
        pass

    def act(self, state, dt):
        return Controls(throttle=self.throttle)


def test_an_object_drives_one_car_and_a_class_any_number():
    own = Coasts(0.3)
    assert make_drivers(make_spec(), own) == [own]
    made = make_drivers(make_spec(cars=2), Coasts)
    assert [type(driver) for driver in made] == [Coasts, Coasts]
    assert made[0] is not made[1]
    assert (name_driver(own), name_driver(Coasts), name_driver(None)) == ("Coasts", "Coasts", None)


def test_each_car_of_a_spec_has_its_own_driver():
    cars = [{"driver": "race_line", "gain": ["pace=0.9"]}, {"driver": "race_line"}, {"driver": "convoy"}]
    made = make_drivers(parse_spec({"site": {"kind": "embedded"}, "cars": cars}, "spec"))
    assert [driver.pace for driver in made[:2]] == [0.9, 1.0]
    assert type(made[2]) is convoy.Driver


@pytest.mark.parametrize(
    ("names", "own", "said"),
    [
        ({"cars": 2}, Coasts(), "cars: one object drives one car"),
        ({"gain": {"k": 1}}, Coasts(), "give them to its constructor"),
        ({}, object(), "the driver has no reset"),
    ],
)
def test_what_cannot_be_driven_is_one_line(names, own, said):
    with pytest.raises(TrailbrakeError, match=said):
        make_drivers(make_spec(**names), own)


def test_a_class_of_a_notebook_is_driven(tmp_path):
    found = trailbrake.drive(driver=Coasts(), track="kartwerk", car="kart", laps=0, seconds=1.0, report=False,
                             out=tmp_path)  # fmt: skip
    assert (found["driver"], found["ended"], found.laps) == ("Coasts", "done", [])
    assert found.recording.path.is_file()
    assert found.to_pandas()["time"].iloc[-1] == pytest.approx(1.0, abs=0.02)
    assert "Coasts, kart, kartwerk" in found._repr_html_()


@pytest.mark.parametrize(
    ("names", "said"),
    [({"trakc": "oval"}, "did you mean track"), ({"laps": "two"}, "no drive: Expected `int`, got `str`"),
     ({"laps": -1}, "no drive: Expected `int` >= 0"), ({"track": 5}, "Expected `str`"), ({"cars": 0}, "needs a car")],
)  # fmt: skip
def test_wrong_names_are_one_line(names, said):
    with pytest.raises(TrailbrakeError, match=said) as caught:
        trailbrake.drive(**names)
    assert "\n" not in str(caught.value)


def test_a_spec_has_no_names_beside_it():
    with pytest.raises(UsageError, match="a spec and names beside it"):
        trailbrake.drive(make_spec(), track="oval")
    with pytest.raises(UsageError, match="a spec and names beside it"):
        trailbrake.drive(make_spec(), driver=Coasts())


def test_tab_knows_the_public_names():
    assert {"drive", "connect", "load_track"} <= set(dir(trailbrake))
    assert not {"Any", "TYPE_CHECKING", "register_when_imported"} & set(dir(trailbrake))


class Located:
    NEEDS = frozenset({"x", "yaw"})
    reset = act = print


def test_a_driver_goes_with_a_simulator_that_supplies_what_it_needs():
    check_driver_needs(Located(), "own", find("assetto"))


def test_a_missing_field_is_named():
    class Seeing(Located):
        NEEDS = frozenset({"x", "image"})

    with pytest.raises(UsageError, match="assetto does not supply: image; add --camera window:TITLE, or in the"):
        check_driver_needs(Seeing(), "own", find("assetto"))
    check_driver_needs(Seeing(), "own", find("assetto"), camera="window:x")


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


def test_a_driver_that_a_rehearsal_changes_begins_a_drive_as_with_kept_kernels(monkeypatch):
    class Counts:
        NEEDS = frozenset({"speed"})

        def reset(self, course):
            self.asked = 0

        def act(self, state, dt):
            self.asked += 1
            return Controls()

        rehearse = act

    monkeypatch.setattr(driver_choice, "CACHE_IS_COLD", True)
    course, driver = Course(load_track("pinegrove"), load_car("gt3")), Counts()
    driver_choice.reset_drivers([driver], "counts", course, lambda line: None)
    assert driver.asked == 0
