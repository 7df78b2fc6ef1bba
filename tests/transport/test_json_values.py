import json
import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.errors import WireError
from trailbrake.transport import json_values


@pytest.mark.parametrize(
    ("text", "value"),
    [("0.5", 0.5), ("0,5000", 0.5), ("-0,0000", 0.0), ("1,234.5", 1234.5), ("1.234,5", 1234.5), (" 2 ", 2.0),
     ("1.083751E-06", 1.083751e-6), (0.25, 0.25), (3, 3.0), ("1,234,567.5", 1234567.5), ("1.234.567,5", 1234567.5),
     (",5", 0.5), (".5", 0.5), ("-1,5", -1.5), (",234.5", 234.5)],
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
        ('{"cte":0,12,"hit":"none","time": -1,5E-05 }', {"cte": "0,12", "hit": "none", "time": "-1,5E-05"}),
        ('["t",{"a":1,5,"b":[-32,16,113,36],"c":[1,2,3,4,5,6]}]',
         ["t", {"a": "1,5", "b": ["-32,16", "113,36"], "c": ["1,2", "3,4", "5,6"]}]),
        ('{"b":[1,2,3,4],"a":1.5,"s":"x\\":1,5,"}', {"b": [1, 2, 3, 4], "a": 1.5, "s": 'x":1,5,'}),
        ("[1,5]", [1, 5]),  # JSON as it stands
    ],
)  # fmt: skip
def test_bare_numbers_with_decimal_commas_become_text(text, value):
    assert json_values.decode_json(text) == value


@pytest.mark.parametrize("text", ["", "{", '{"a":1,5', '{"a":1,5,6}', '{"a":1,5,"b":}', "[" * 9999, "no"])
def test_what_is_no_json_is_one_line(text):
    with pytest.raises(WireError, match=r"^message: no JSON: "):
        json_values.decode_json(text)


@pytest.mark.parametrize(
    ("data", "mark"),
    [({"speed": "12,5000"}, ","), ({"speed": "1.234,5"}, ","), ({"speed": "1,234.5"}, "."), ({"speed": 0.5}, "."),
     ({"lap": "1", "image": "abc", "speed": "-0,5E-05"}, ","), ({"lap": 1, "speed": "0"}, ""), ({}, ""), (None, ""),
     ({"image": "1," * 99 + "5"}, ""), ({"image": "/9j/4AA,5"}, "")],
)  # fmt: skip
def test_the_mark_of_a_program_is_that_of_its_first_fraction(data, mark):
    assert json_values.find_decimal_mark(data) == mark


@given(number=st.floats(allow_nan=False, allow_infinity=False), data=st.data())
def test_an_answer_without_a_mark_is_the_same_number(number, data):
    number = data.draw(st.sampled_from([number, round(number, 3)]))
    written = json_values.write_decimal_commas({"text": repr(number), "bare": number, "list": (number, 1)})
    assert written["text"] == repr(number).replace(".", ",")
    bare = msgspec.json.encode(written["bare"])
    assert not set(b".,") & set(bare)
    assert json.loads(bare) == number
    assert json.loads(msgspec.json.encode(written["list"])) == [number, 1]
