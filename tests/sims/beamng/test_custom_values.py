"""A user's file: what it returns, and each way in which it can be wrong."""

import pytest

from trailbrake.errors import DataError, UsageError
from trailbrake.sims.beamng.custom_values import load_custom_values
from trailbrake.state import CarState


def write(tmp_path, text):
    path = tmp_path / "mine.py"
    path.write_text(text)
    return path


def test_values_are_filled_up_with_zeros(tmp_path):
    custom = load_custom_values(write(tmp_path, "def custom(state, received):\n    return state.speed, received[1]\n"))
    custom.received = (0.0, 7.0)
    assert custom.compute_values(CarState(speed=3.0)) == (3.0, 7.0, *[0.0] * 48)


@pytest.mark.parametrize(("text", "said"), [
    ("def custom(:\n", r"mine\.py:1"),
    ("x = 1\n\nraise ValueError('no')\n", r"mine\.py:3: raised ValueError on import: no"),
    ("x = 1\n", "has no function custom"),
])  # fmt: skip
def test_a_file_that_does_not_load(tmp_path, text, said):
    with pytest.raises(DataError, match=said):
        load_custom_values(write(tmp_path, text))


@pytest.mark.parametrize(("body", "said"), [
    ("return ['a']", "raised ValueError"), ("return None", "raised TypeError"),
    ("return [0.0] * 51", "returned too much"),
    ("raise SystemExit", "raised SystemExit"),
])  # fmt: skip
def test_a_function_that_does_not_do(tmp_path, body, said):
    with pytest.raises(DataError, match=said):
        load_custom_values(write(tmp_path, f"def custom(state, received):\n    {body}\n")).compute_values(CarState())


def test_no_file(tmp_path):
    with pytest.raises(UsageError, match="no such custom file"):
        load_custom_values(tmp_path / "none.py")
