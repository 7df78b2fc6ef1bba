import copy
import dataclasses
import math
import pickle

import pytest

from trailbrake.state import CarState, Controls, OtherCar, WheelState, WheelTorque
from trailbrake.state.controls import SETTINGS, settings_of
from trailbrake.state.fields import Quantity, of, quantity, record

DECLARED = (CarState, WheelState, OtherCar, Controls, WheelTorque)


@dataclasses.dataclass(slots=True)
class Sample:
    plain: int = 3
    length: float = quantity("m", "a length", lo=0.0, hi=5.0, frame="world")
    share: float = quantity("1", "a share", default=0.5)


def test_of_returns_the_declared_fields_in_order_and_nothing_else():
    declared = of(Sample)
    assert list(declared) == ["length", "share"]
    assert declared["length"] == Quantity("m", "a length", 0.0, 5.0, "world")


def test_a_field_is_not_supplied_until_somebody_supplies_it():
    sample = Sample()
    assert math.isnan(sample.length)
    assert sample.share == 0.5


def test_without_bounds_a_quantity_is_unbounded():
    share = of(Sample)["share"]
    assert (share.lo, share.hi, share.frame) == (-math.inf, math.inf, "")


@pytest.mark.parametrize("cls", DECLARED)
def test_every_float_of_the_state_is_declared(cls):
    floats = [f.name for f in dataclasses.fields(cls) if f.type in (float, "float")]
    assert floats == list(of(cls))


@pytest.mark.parametrize("cls", DECLARED)
def test_declarations_make_sense(cls):
    for name, q in of(cls).items():
        assert q.unit, name
        assert q.meaning, name
        assert q.meaning[-1] != ".", name
        assert q.lo < q.hi, name
        assert q.frame in ("", "world", "body"), name


@pytest.mark.parametrize("cls", [CarState, WheelState, OtherCar])
def test_a_simulator_that_says_nothing_supplies_nothing(cls):
    made_by_the_link = {"age"}
    fresh = cls()
    assert all(math.isnan(getattr(fresh, name)) for name in of(cls) if name not in made_by_the_link)


def test_controls_that_say_nothing_do_nothing():
    optional = {"drs", "boost", *SETTINGS}
    assert all(getattr(Controls(), name) == 0.0 for name in set(of(Controls)) - optional)
    assert all(math.isnan(getattr(Controls(), name)) for name in optional)
    assert Controls().gear is None
    assert Controls().wheels is None


@pytest.mark.parametrize("cls", DECLARED)
def test_a_misspelled_field_is_an_error(cls):
    with pytest.raises(AttributeError):
        cls().sped = 1.0


def test_settings_are_read_in_the_order_of_their_fields():
    assert SETTINGS[0] == "brake_bias"
    wish = Controls(**{name: i / 10 for i, name in enumerate(SETTINGS)})
    assert settings_of(wish) == (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
    assert all(math.isnan(value) for value in settings_of(Controls()))


@record
class Made:
    """A record."""

    zebra: int = 3
    apple: float = quantity("m", "a length")
    parts: list[int] = dataclasses.field(default_factory=list)


def test_a_record_is_a_dataclass_to_whoever_asks():
    made = Made(1, 2.0)
    assert repr(made) == "Made(zebra=1, apple=2.0, parts=[])"
    assert [f.name for f in dataclasses.fields(Made)] == ["zebra", "apple", "parts"]
    assert dataclasses.replace(made, zebra=5) == Made(5, 2.0) != made
    assert dataclasses.asdict(made) == {"zebra": 1, "apple": 2.0, "parts": []}
    assert pickle.loads(pickle.dumps(made)) == copy.deepcopy(made) == made
    assert Made().parts is not Made().parts
    assert Made.__doc__ == "A record."
    assert list(of(Made)) == ["apple"]
    with pytest.raises(AttributeError, match="colour"):
        made.colour = 1
    with pytest.raises(TypeError, match="colour"):
        Made(colour=1)
