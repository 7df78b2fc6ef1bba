from dataclasses import dataclass

import pytest
from helpers.driver_files import write_driver

from trailbrake.cars.car_library import load_car
from trailbrake.cli.drive_flags import DriveFlags
from trailbrake.drivers.loading.driver_registry import load_driver
from trailbrake.driving.session.drive_inputs import (
    DriveContents,
    check_inputs,
    describe_inputs,
    hash_inputs,
    read_contents,
)
from trailbrake.driving.session.driver_memory import DriverMemory
from trailbrake.driving.session.line_choice import MINIMUM_TIME, ChosenLine, unpack_content
from trailbrake.errors import DataError
from trailbrake.planning.course import Course
from trailbrake.tracks.track_library import load_track


@dataclass
class Made:
    """A drive's parts."""

    spec: object
    course: Course
    driver: object

    def describe(self, line=None, memory=None):
        return describe_inputs(hash_inputs(self.spec, self.course, self.driver), line or ChosenLine(), memory)

    def check(self, inputs):
        check_inputs(read_contents(inputs, "run"), self.spec, hash_inputs(self.spec, self.course, self.driver))


def make(car="kart", track="kartwerk", **options):
    spec = DriveFlags(track=track, car=car, **options).make_spec()
    course = Course(load_track(track), load_car(car))
    driver = load_driver(spec.first.driver)
    return Made(spec, course, driver)


def test_the_same_drive_has_the_same_inputs_and_another_one_is_named(tmp_path):
    file = tmp_path / "mine.py"
    write_driver(file)
    before = make(driver=str(file))
    inputs = before.describe()
    assert set(inputs["sha256"]) == {"driver", "car", "track"}
    make(driver=str(file)).check(inputs)
    write_driver(file, "return Controls()  # changed")
    with pytest.raises(DataError, match=r"mine\.py: the driver has changed since that drive.*--driver"):
        make(driver=str(file)).check(inputs)


def test_a_car_file_that_has_changed_is_named():
    before = make(driver="cruise")
    inputs = before.describe()
    inputs["sha256"]["car"] = "0" * 64
    with pytest.raises(DataError, match="kart: the car has changed since that drive"):
        before.check(inputs)


def test_line_and_memory_are_kept_as_they_were_at_the_start(tmp_path):
    path = str(tmp_path / "memory.json")
    made = make(driver="line_follow", memory=path)
    made.driver = load_driver("line_follow", None, ("learn=1",))
    made.driver.reset(made.course)
    assert DriverMemory(made.spec, made.course, made.driver).store() == ""
    memory = DriverMemory(made.spec, made.course, made.driver)
    inputs = made.describe(ChosenLine(MINIMUM_TIME, tmp_path / "line.csv", b"the line"), memory)
    contents = read_contents(inputs, "run")
    assert contents.line[0] == MINIMUM_TIME
    assert unpack_content(contents.line[1]) == b"the line"
    assert contents.memory == memory.found
    again = DriverMemory(made.spec, made.course, made.driver, replayed=True, entry=contents.memory)
    assert "taken up" in again.recall()
    before = (tmp_path / "memory.json").read_bytes()
    assert again.store() == ""
    assert (tmp_path / "memory.json").read_bytes() == before, "a drive that is driven again leaves the file alone"


@pytest.mark.parametrize(
    "inputs",
    [None, {}, {"contents": {}, "sha256": {}}, {"contents": {"line": [1, 2]}, "sha256": {}},
     {"contents": {"line": ["own", ""], "memory": 5}, "sha256": {}}],
)  # fmt: skip
def test_damaged_inputs_are_one_line(inputs):
    with pytest.raises(DataError):
        read_contents(inputs, "run")
    assert DriveContents().sha256 == {}
