"""The file of what drivers have learned."""

import json
from dataclasses import replace

import msgspec
import pytest

from trailbrake.cars.car_library import load_car
from trailbrake.cli.drive_flags import DriveFlags
from trailbrake.drivers.cruise import Driver as Cruise
from trailbrake.drivers.line_follow import Driver
from trailbrake.driving.session.drive_session import drive
from trailbrake.driving.session.driver_memory import AUTO, DriverMemory, read_memory
from trailbrake.errors import DataError, UsageError
from trailbrake.planning.course import Course
from trailbrake.tracks.track_library import load_track


@pytest.fixture(scope="module")
def course():
    return Course(load_track("kartwerk"), load_car("gt3"))


@pytest.fixture
def options(tmp_path):
    path = str(tmp_path / "deep" / "memory.json")
    return DriveFlags(driver="line_follow", sim="assetto", car="gt3", track="kartwerk", memory=path)


def new_driver(course, learn=1.0):
    driver = Driver(learn=learn)
    driver.reset(course)
    return driver


def learned(course, options, factor=1.05):
    driver = new_driver(course)
    driver.plan.learning.factors[:] = factor
    assert DriverMemory(options.make_spec(), course, driver).store() == ""


def test_what_one_drive_stores_the_next_takes_up(course, options):
    learned(course, options)
    drivers = [new_driver(course) for _ in range(2)]  # of two cars
    said = DriverMemory(options.make_spec(), course, *drivers).recall()
    assert "taken up" in said
    assert all(driver.plan.learning.factors == pytest.approx(1.05) for driver in drivers)


def test_a_first_drive_has_nothing_to_take_up_and_writes_nothing(course, options, tmp_path):
    driver = new_driver(course)
    assert DriverMemory(options.make_spec(), course, driver).recall() == ""
    assert driver.plan.learning.factors == pytest.approx(1.0)
    assert list(tmp_path.iterdir()) == []


def test_entries_of_others_stay_and_one_s_own_is_replaced(course, options):
    for car in ("gt3", "hatchback", "gt3"):
        learned(course, replace(options, car=car), 1.02 if car == "gt3" else 0.9)
    entries = read_memory(DriverMemory(options.make_spec(), course, new_driver(course)).path)
    assert [entry.car for entry in entries] == ["hatchback", "gt3"]


def test_another_version_of_the_car_begins_anew(course, options):
    learned(course, options)
    car = msgspec.structs.replace(course.car, title="changed")
    driver = new_driver(course)
    said = DriverMemory(options.make_spec(), Course(course.track, car), driver).recall()
    assert "begun anew" in said
    assert driver.plan.learning.factors == pytest.approx(1.0)


@pytest.mark.parametrize(
    "text",
    ["", "no JSON", "[]", "{}", '{"format": "x", "version": 1, "entries": []}',
     '{"format": "trailbrake driver memory", "version": 2, "entries": []}',
     '{"format": "trailbrake driver memory", "version": 1, "entries": [1]}',
     '{"format": "trailbrake driver memory", "version": 1, "entries": [{"\\ud800": 1}]}'],
)  # fmt: skip
def test_other_files_are_refused_in_a_line_and_not_overwritten(course, options, tmp_path, text):
    path = tmp_path / "other.json"
    path.write_text(text)
    options = replace(options, memory=str(path))
    with pytest.raises(DataError) as error:
        DriverMemory(options.make_spec(), course, new_driver(course))
    assert "\n" not in str(error.value)
    assert path.read_text() == text


def test_an_entry_that_is_no_memory_of_the_driver_is_refused(course, options):
    learned(course, options)
    memory = DriverMemory(options.make_spec(), course, new_driver(course))
    content = json.loads(memory.path.read_text())
    content["entries"][0]["memory"]["grip"] = 7
    memory.path.write_text(json.dumps(content))
    with pytest.raises(DataError, match=r"memory\.json"):
        DriverMemory(options.make_spec(), course, new_driver(course)).recall()


def test_a_driver_that_learns_nothing_is_refused(course, options):
    with pytest.raises(UsageError, match="keeps no memory"):
        DriverMemory(replace(options, driver="cruise").make_spec(), course, Cruise())


def test_a_driver_whose_learning_is_off_is_refused(course, options):
    with pytest.raises(UsageError, match="learn=1"):
        DriverMemory(options.make_spec(), course, new_driver(course, learn=0.0))


def test_a_file_that_cannot_be_written_is_a_line(course, options, tmp_path):
    (tmp_path / "deep").write_text("a file where the folder should be")
    assert "not kept" in DriverMemory(options.make_spec(), course, new_driver(course)).store()


def test_auto_is_in_the_user_s_data_folder(course, options, monkeypatch, tmp_path):
    monkeypatch.setattr("platformdirs.user_data_dir", lambda *args, **more: str(tmp_path / "data"))
    memory = DriverMemory(replace(options, memory=AUTO).make_spec(), course, new_driver(course))
    assert memory.path == tmp_path / "data" / "driver_memory.json"


@pytest.mark.slow
def test_a_drive_keeps_its_learning_only_where_it_is_asked_to(tmp_path):
    given = DriveFlags(sim="forza", track="copperbowl", laps=0, seconds=1.0, gain=("learn=1",), report=False,
                       out=tmp_path / "out")  # fmt: skip
    assert drive(given.make_spec())["memory"] is None
    kept = replace(given, memory=str(tmp_path / "memory.json"), laps=1, seconds=0.0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]
    first = drive(kept.make_spec())
    second = drive(kept.make_spec())
    assert second["memory"] == str(tmp_path / "memory.json")
    assert second["laps"][0]["time_s"] < first["laps"][0]["time_s"]  # no caution any more
    assert read_memory(tmp_path / "memory.json")[0].memory["laps"] >= 1
