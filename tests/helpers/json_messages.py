"""Any JSON that could stand in the place of a message, and what a decoder may make of it."""

import math

from hypothesis import strategies as st

from trailbrake.errors import WireError

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


def draw_data(*keys):
    """Return a strategy of any data, objects with `keys` among them."""
    return json_values | st.dictionaries(st.sampled_from(keys), json_values)


def check_decoders(data, *decoders):
    """Let each decoder find nothing, pictures and finite numbers, or a wire error."""
    for decode in decoders:
        try:
            message = decode(data)
        except WireError:
            continue
        for value in message or ():
            for number in value if isinstance(value, tuple) else (value,):
                assert number is None or isinstance(number, bytes) or math.isfinite(number)
