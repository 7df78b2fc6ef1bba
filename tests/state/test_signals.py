"""Signals: their names, the values of a sample, and which ones a pattern selects."""

import math

import pytest

from trailbrake.errors import UsageError
from trailbrake.state import CarState
from trailbrake.state.signals import NO_SIGNALS, SignalValues, is_signal_name, make_signal, match_signals

DECLARED = (
    make_signal("beamng.fuel", "1", "fuel", lo=0.0, hi=1.0),
    make_signal("beamng.wheel_fl.braking_torque", "N m", "brake"),
    make_signal("beamng.wheel_fr.braking_torque", "N m", "brake"),
)
POSITIONS = {signal.name: place for place, signal in enumerate(DECLARED)}


def names(selected):
    return [signal.name for signal in selected]


@pytest.mark.parametrize("name", ["fuel", "Beamng.fuel", "beamng.", ".fuel", "beamng.wheel fl", "beamng..x"])
def test_a_name_has_a_simulator_before_its_dot(name):
    with pytest.raises(ValueError, match="is no name of a signal"):
        make_signal(name, "1", "anything")


def test_the_column_of_a_signal_is_a_plain_name():
    assert DECLARED[1].column == "beamng_wheel_fl_braking_torque"


def test_values_are_read_by_name():
    values = SignalValues(POSITIONS, (0.5, 10.0, math.nan))
    assert values["beamng.wheel_fl.braking_torque"] == 10.0
    assert values.get("beamng.fuel") == 0.5
    assert math.isnan(values.get("beamng.speed"))
    assert list(values) == list(values.keys()) == names(DECLARED)
    assert len(values) == 3
    assert list(values.items())[:2] == [(name, values[name]) for name in names(DECLARED)[:2]]
    assert list(dict(values)) == names(DECLARED)


def test_a_signal_that_is_not_selected_says_how_to_select_it():
    with pytest.raises(KeyError, match=r"beamng.speed is not selected: name it in NEEDS or --signals"):
        SignalValues(POSITIONS, (0.5, 1.0, 2.0))["beamng.speed"]


def test_equal_values_are_equal_and_missing_ones_too():
    one, other = (SignalValues(dict(POSITIONS), (math.nan, 1.0, 2.0)) for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    assert one != SignalValues(POSITIONS, (0.0, 1.0, 2.0))
    assert one != NO_SIGNALS


def test_a_state_has_no_signals_until_a_link_fills_them():
    assert CarState().signals is NO_SIGNALS


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        ([], []),
        (["beamng.fuel"], ["beamng.fuel"]),
        (["*torque", "beamng.fuel"], names(DECLARED)),
        (["beamng.wheel_f?.*", "beamng.wheel_fl.braking_torque"], names(DECLARED[1:])),
        (["all"], names(DECLARED)),
    ],
)
def test_patterns_select_in_declared_order(patterns, expected):
    assert names(match_signals(DECLARED, patterns, where="--signals")) == expected


def test_a_pattern_without_a_signal_is_one_line():
    with pytest.raises(UsageError, match=r"^--signals: unknown signal, .*got beamng.feul.*beamng.fuel"):
        match_signals(DECLARED, ["beamng.feul"], where="--signals")


def test_a_simulator_without_signals_says_so():
    with pytest.raises(UsageError, match=r"this simulator has no signals, got all$"):
        match_signals((), ["all"], where="--signals")


def test_fields_of_wheels_are_no_signals():
    assert [is_signal_name(name) for name in ("speed", "wheels.load", "beamng.fuel")] == [False, False, True]
