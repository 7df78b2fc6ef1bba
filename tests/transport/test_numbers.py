import math

import pytest

from trailbrake.errors import WireError
from trailbrake.transport import numbers


@pytest.mark.parametrize(
    ("text", "value"),
    [("0.5", 0.5), ("0,5000", 0.5), ("-0,0000", 0.0), ("1,234.5", 1234.5), ("1.234,5", 1234.5), (" 2 ", 2.0),
     ("1.083751E-06", 1.083751e-6), (0.25, 0.25), (3, 3.0)],
)  # fmt: skip
def test_numbers_of_all_locales(text, value):
    assert numbers.number(text, "speed") == value


@pytest.mark.parametrize("value", [None, "", "fast", "nan", "inf", math.inf, math.nan, True, [], {}, "1:2", 10**400])
def test_what_is_no_number_is_named(value):
    with pytest.raises(WireError, match="speed: not a number"):
        numbers.number(value, "speed")


def test_lists_of_numbers_and_objects():
    assert numbers.numbers([1, "2,5", -3.0], "ptsx") == [1.0, 2.5, -3.0]
    for bad in ("1,2", None, {"0": 1}, [1, None]):
        with pytest.raises(WireError, match=r"^ptsx: not a"):
            numbers.numbers(bad, "ptsx")
    assert numbers.data_of({"a": 1}, "telemetry") == {"a": 1}
    with pytest.raises(WireError, match=r"^telemetry: not an object, got \[1\]"):
        numbers.data_of([1], "telemetry")


def test_within():
    assert [numbers.within(x, 2.0) for x in (-5.0, -1.0, 3.0)] == [-2.0, -1.0, 2.0]
