import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.record import cdr

KINDS = {
    "float64": st.floats(allow_nan=False),
    "uint32": st.integers(0, 2**32 - 1),
    "bool": st.booleans(),
    "string": st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
    "float64[]": st.lists(st.floats(allow_nan=False), max_size=5),
}


@st.composite
def messages(draw):
    kinds = draw(st.lists(st.sampled_from(sorted(KINDS)), max_size=6))
    layout = {f"f{i}": kind for i, kind in enumerate(kinds)}
    return layout, {name: draw(KINDS[kind]) for name, kind in layout.items()}


def plain(values):
    return {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in values.items()}


@given(messages())
def test_round_trip(message):
    layout, values = message
    assert plain(cdr.decode_message(layout, cdr.encode_message(layout, values))) == values


@given(messages(), st.integers(0, 200))
def test_a_message_that_ends_early_is_a_value_error(message, cut):
    layout, values = message
    data = cdr.encode_message(layout, values)
    if 4 <= cut < len(data):
        with pytest.raises(ValueError):  # noqa: PT011
            cdr.decode_message(layout, data[:cut])


def test_known_bytes():
    layout = {"flag": "bool", "count": "uint32", "value": "float64", "text": "string", "list": "float64[]"}
    values = {"flag": True, "count": 7, "value": 1.0, "text": "ab", "list": [2.0]}
    # Offsets behind the header: flag 0, count 4, value 8, text 16 (length 3, "ab", 0), list 24 (length), 32.
    assert cdr.encode_message(layout, values) == bytes.fromhex(
        "00010000 01000000 07000000 000000000000f03f 03000000 61620000 01000000 00000000 0000000000000040"
    )


def test_what_is_not_cdr():
    with pytest.raises(ValueError, match="not a little-endian"):
        cdr.decode_message({}, b"\0\0\0\0")
    with pytest.raises(ValueError, match="int8"):
        cdr.encode_message({"a": "int8"}, {"a": 1})
