"""Drivers of a drive: by name, or an object or a class of the user's own."""

import pytest

import trailbrake
from trailbrake import Controls
from trailbrake.driving.session.driver_choice import make_drivers, name_driver
from trailbrake.driving.spec import make_spec
from trailbrake.errors import TrailbrakeError, UsageError


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
