import dataclasses
import math

from hypothesis import given, settings
from hypothesis import strategies as st

from trailbrake.state import CarState, Controls, Image, OtherCar, Phase, SimCommand, WheelState, WheelTorque
from trailbrake.state.commands import COMMAND_FIELDS
from trailbrake.state.fields import declared_quantities
from trailbrake.state.tables import (
    CONTROL_COLUMNS,
    CONTROL_FIELDS,
    STATE_COLUMNS,
    STATE_FIELDS,
    controls_row,
    markdown_table,
    state_from_row,
    state_row,
)

# How a CSV header says a unit. Written out here, not taken from the code: readers of old exports rely on it.
SUFFIXES = {"m": "_m", "s": "_s", "rad": "_rad", "m/s": "_mps", "rad/s": "_radps", "m/s^2": "_mps2", "N": "_N",
            "N m": "_Nm", "Pa": "_Pa", "degC": "_degC", "l": "_litres"}  # fmt: skip
WHOLE = {"sequence": st.integers(-1, 2**31), "phase": st.sampled_from(Phase), "gear": st.integers(-1, 9)}


def numbers(lo, hi):
    bounds = {"min_value": None if math.isinf(lo) else lo, "max_value": None if math.isinf(hi) else hi}
    return st.floats(**bounds, allow_infinity=False, allow_nan=False) | st.just(math.nan)


def values(column):
    """Random values of a column within its declared range, NaN for "not supplied" included."""
    if column.name == "gear":
        return WHOLE["gear"].map(float) | st.just(math.nan)
    if column.name in WHOLE:
        return WHOLE[column.name].map(float)
    return numbers(column.quantity.lo, column.quantity.hi)


def rows():
    return st.tuples(*map(values, STATE_COLUMNS))


def same(a, b):
    return len(a) == len(b) and all(x == y or (x != x and y != y) for x, y in zip(a, b, strict=True))


@settings(max_examples=30)
@given(rows())
def test_a_row_becomes_a_state_and_the_same_row_again(row):
    assert same(state_row(state_from_row(row)), row)


def test_an_empty_state_keeps_what_it_does_not_know():
    state = state_from_row(state_row(CarState()))
    assert state.gear is None
    assert state.sequence == -1
    assert state.phase is Phase.DRIVING
    assert math.isnan(state.x)
    assert all(math.isnan(wheel.load) for wheel in state.wheels)


def test_values_arrive_in_their_own_columns():
    state = CarState(time=1.5, x=2.0, gear=-1, phase=Phase.LOST, sequence=7)
    state.wheels[2].load = 4000.0
    row = dict(zip([c.name for c in STATE_COLUMNS], state_row(state), strict=True))
    assert (row["time"], row["x"], row["gear"], row["phase"], row["sequence"]) == (1.5, 2.0, -1, 2, 7)
    assert row["rl_load"] == 4000.0
    assert math.isnan(row["rr_load"])


def test_a_row_of_the_wrong_length_is_refused():
    row = state_row(CarState())
    for wrong in (row[:-1], (*row, 0.0)):
        try:
            state_from_row(wrong)
        except ValueError:
            continue
        raise AssertionError(f"{len(wrong)} values were taken for {len(row)}")


def test_controls_row():
    row = dict(zip([c.name for c in CONTROL_COLUMNS], controls_row(Controls(steer=0.25, gear=3)), strict=True))
    assert (row["steer"], row["throttle"], row["gear"]) == (0.25, 0.0, 3)
    silent = dict(zip(row, controls_row(Controls()), strict=True))
    assert [name for name, value in silent.items() if not math.isnan(value)] == [
        "steer",
        "throttle",
        "brake",
        "clutch",
        "handbrake",
    ]


def test_wheel_torques_have_columns():
    wheels = tuple(WheelTorque(10.0 * i, i) for i in range(4))
    row = dict(zip([c.name for c in CONTROL_COLUMNS], controls_row(Controls(wheels=wheels)), strict=True))
    assert [row[f"{w}_drive_torque"] for w in ("fl", "fr", "rl", "rr")] == [0.0, 10.0, 20.0, 30.0]
    assert [row[f"{w}_brake_torque"] for w in ("fl", "fr", "rl", "rr")] == [0, 1, 2, 3]


def test_names_are_unique():
    for columns in (STATE_COLUMNS, CONTROL_COLUMNS):
        for names in ([c.name for c in columns], [c.csv_name for c in columns], [c.path for c in columns]):
            assert len(set(names)) == len(names)


def test_csv_names_end_with_their_unit():
    for column in (*STATE_COLUMNS, *CONTROL_COLUMNS):
        suffix = SUFFIXES.get(column.quantity.unit, "")
        assert column.csv_name.endswith(suffix), column
        assert column.csv_name.startswith(column.name), column
        if column.quantity.unit == "1":
            assert column.csv_name == column.name


def test_csv_names_that_others_rely_on():
    names = [c.csv_name for c in STATE_COLUMNS]
    assert names[0] == "time_s"
    assert {"x_m", "yaw_rad", "speed_mps", "acceleration_x_mps2", "fuel_litres", "fl_load_N", "gear"} <= set(names)


def test_state_columns_hold_every_declared_number():
    names = {c.name for c in STATE_COLUMNS}
    assert set(declared_quantities(CarState)) <= names
    assert {"sequence", "phase", "gear"} <= names
    assert {
        f"{wheel}_{name}" for wheel in ("fl", "fr", "rl", "rr") for name in declared_quantities(WheelState)
    } <= names


def test_state_fields_name_everything_a_simulator_can_supply():
    own = {f.name for f in dataclasses.fields(CarState)} - {"wheels", "signals"}
    assert own | {f"wheels.{f.name}" for f in dataclasses.fields(WheelState)} == STATE_FIELDS


def test_control_and_command_fields_name_everything_a_simulator_can_accept():
    own = {f.name for f in dataclasses.fields(Controls)} - {"wheels", "command"}
    assert own | {f"wheels.{f.name}" for f in dataclasses.fields(WheelTorque)} == CONTROL_FIELDS
    assert {f.name for f in dataclasses.fields(SimCommand)} == COMMAND_FIELDS


def test_markdown_has_a_line_per_field_and_keeps_its_columns():
    for cls in (CarState, WheelState, OtherCar, Controls):
        lines = markdown_table(cls).splitlines()
        assert {line.count("|") for line in lines} == {6}
        for name, q in declared_quantities(cls).items():
            line = next(line for line in lines if line.startswith(f"| `{name}` |"))
            assert f"| {q.unit} |" in line
            assert q.meaning in line
    assert "| `steer` | 1 | -1 .. 1 | share of full lock, positive left |" in markdown_table(Controls)


def test_a_command_that_says_nothing_asks_for_nothing():
    command = SimCommand()
    assert not any(getattr(command, f.name) for f in dataclasses.fields(command))


def test_an_image_is_decoded_once_and_only_when_looked_at():
    calls = []
    image = Image(b"bytes", lambda data: calls.append(data) or "pixels")
    assert not calls
    assert image.pixels == image.pixels == "pixels"
    assert calls == [b"bytes"]
