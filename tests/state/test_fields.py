import copy
import dataclasses
import math
import pickle

import pytest

from trailbrake.state import CarState, Controls, OtherCar, WheelState, WheelTorque
from trailbrake.state.fields import Quantity, declared_quantities, quantity, slotted_record

DECLARED = (CarState, WheelState, OtherCar, Controls, WheelTorque)


@dataclasses.dataclass(slots=True)
class Sample:
    plain: int = 3
    length: float = quantity("m", "a length", lo=0.0, hi=5.0, frame="world")
    share: float = quantity("1", "a share", default=0.5)


def test_of_returns_the_declared_fields_in_order_and_nothing_else():
    declared = declared_quantities(Sample)
    assert list(declared) == ["length", "share"]
    assert declared["length"] == Quantity("m", "a length", 0.0, 5.0, "world")


def test_a_field_is_not_supplied_by_default():
    sample = Sample()
    assert math.isnan(sample.length)
    assert sample.share == 0.5


def test_without_bounds_a_quantity_is_unbounded():
    share = declared_quantities(Sample)["share"]
    assert (share.lo, share.hi, share.frame) == (-math.inf, math.inf, "")


@pytest.mark.parametrize("cls", DECLARED)
def test_every_float_of_the_state_is_declared(cls):
    floats = [f.name for f in dataclasses.fields(cls) if f.type in (float, "float")]
    assert floats == list(declared_quantities(cls))


@pytest.mark.parametrize("cls", DECLARED)
def test_declarations_make_sense(cls):
    for name, q in declared_quantities(cls).items():
        assert q.unit, name
        assert q.meaning, name
        assert q.meaning[-1] != ".", name
        assert q.lo < q.hi, name
        assert q.frame in ("", "world", "body"), name


@pytest.mark.parametrize("cls", DECLARED)
def test_a_misspelled_field_is_an_error(cls):
    with pytest.raises(AttributeError):
        cls().sped = 1.0


@slotted_record
class Made:
    """A record."""

    zebra: int = 3
    apple: float = quantity("m", "a length")
    parts: list[int] = dataclasses.field(default_factory=list)


def test_a_record_works_as_a_dataclass():
    made = Made(1, 2.0)
    assert repr(made) == "Made(zebra=1, apple=2.0, parts=[])"
    assert [f.name for f in dataclasses.fields(Made)] == ["zebra", "apple", "parts"]
    assert dataclasses.replace(made, zebra=5) == Made(5, 2.0) != made
    assert dataclasses.asdict(made) == {"zebra": 1, "apple": 2.0, "parts": []}
    assert pickle.loads(pickle.dumps(made)) == copy.deepcopy(made) == made
    assert Made().parts is not Made().parts
    assert Made.__doc__ == "A record."
    assert list(declared_quantities(Made)) == ["apple"]
    with pytest.raises(AttributeError, match="colour"):
        made.colour = 1
    with pytest.raises(TypeError, match="colour"):
        Made(colour=1)
