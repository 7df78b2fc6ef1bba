import math

import pytest

from trailbrake.errors import WireError
from trailbrake.transport import json_values


@pytest.mark.parametrize(
    ("text", "value"),
    [("0.5", 0.5), ("0,5000", 0.5), ("-0,0000", 0.0), ("1,234.5", 1234.5), ("1.234,5", 1234.5), (" 2 ", 2.0),
     ("1.083751E-06", 1.083751e-6), (0.25, 0.25), (3, 3.0)],
)  # fmt: skip
def test_numbers_of_all_locales(text, value):
    assert json_values.parse_number(text, "speed") == value


@pytest.mark.parametrize("value", [None, "", "fast", "nan", "inf", math.inf, math.nan, True, [], {}, "1:2", 10**400])
def test_what_is_no_number_is_named(value):
    with pytest.raises(WireError, match="speed: not a number"):
        json_values.parse_number(value, "speed")


def test_lists_of_numbers_and_objects():
    assert json_values.parse_numbers([1, "2,5", -3.0], "ptsx") == [1.0, 2.5, -3.0]
    for bad in ("1,2", None, {"0": 1}, [1, None]):
        with pytest.raises(WireError, match=r"^ptsx: not a"):
            json_values.parse_numbers(bad, "ptsx")
    assert json_values.require_object({"a": 1}, "telemetry") == {"a": 1}
    with pytest.raises(WireError, match=r"^telemetry: not an object, got \[1\]"):
        json_values.require_object([1], "telemetry")


def test_within():
    assert [json_values.clamp_magnitude(x, 2.0) for x in (-5.0, -1.0, 3.0)] == [-2.0, -1.0, 2.0]


@pytest.mark.parametrize(
    ("read", "value", "line"),
    [(json_values.parse_number, "x" * 60, f"key: not a number, got {'x' * 40}"),
     (json_values.parse_number, ["ab"] * 60, f"key: not a number, got {str(['ab'] * 60)[:40]}"),
     (json_values.parse_number, 10**400, f"key: not a number, got 1{'0' * 39}"),
     (json_values.parse_number, True, "key: not a number, got True"),
     (json_values.parse_numbers, "x" * 60, f"key: not a list, got {'x' * 40}"),
     (json_values.parse_numbers, [1, None], "key: not a number, got None"),
     (json_values.require_object, "x" * 60, f"key: not an object, got {'x' * 40}")],
)  # fmt: skip
def test_what_cannot_be_read_is_one_line(read, value, line):
    with pytest.raises(WireError) as caught:
        read(value, "key")
    assert str(caught.value) == line


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,234,567.5", 1234567.5),
        ("1.234.567,5", 1234567.5),
        (",5", 0.5),
        (".5", 0.5),
        ("-1,5", -1.5),
        (",234.5", 234.5),
    ],
)
def test_signs_of_thousands(text, value):
    assert json_values.parse_number(text, "speed") == value
