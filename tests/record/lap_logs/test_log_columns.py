"""From channels to columns, with what is said where something is wrong."""

import numpy as np
import pytest

from trailbrake.errors import DataError
from trailbrake.record.lap_logs.lap_log import LapLog, LogChannel
from trailbrake.record.lap_logs.log_columns import place_columns

TIME = np.arange(0.0, 60.0, 0.1)
ANGLE = 0.2 * TIME  # a circle of 100 m at 20 m/s
PLACES = {"x": ("m", 100.0 * np.cos(ANGLE)), "y": ("m", 100.0 * np.sin(ANGLE)), "speed": ("m/s", np.full(600, 20.0))}


def make_log(time=TIME, **channels):
    """Return a log; each channel is (unit, values)."""
    return LapLog("test", [LogChannel(f"{name} there", unit, name, time, np.asarray(values, float))
                           for name, (unit, values) in channels.items()])  # fmt: skip


def test_units_become_ours():
    others = {"speed": ("km/h", np.full(600, 72.0)), "engine_speed": ("rpm", np.full(600, 6000.0)),
              "brake": ("%", np.full(600, 40.0)), "steer": ("deg", 90.0 + 0.0 * TIME)}  # fmt: skip
    found = place_columns(make_log(**PLACES | others), "a.csv")
    assert found.columns["speed"] == pytest.approx(20.0)
    assert found.columns["engine_speed"] == pytest.approx(628.3185)
    assert found.columns["brake"] == pytest.approx(0.4)
    assert found.columns["steering_wheel_angle"] == pytest.approx(np.pi / 2)


@pytest.mark.parametrize(("largest", "share"), [(1.0, 1.0), (100.0, 100.0), (255.0, 255.0)])
def test_pedals_without_a_unit_are_shares_of_their_range(largest, share):
    found = place_columns(make_log(**PLACES, throttle=("", largest * (TIME > 30.0))), "a.csv")
    assert found.columns["throttle"].max() == 1.0
    assert any("taken as shares" in note for note in found.notes) == (share > 1.0)


@pytest.mark.parametrize(("largest", "column", "value"), [
    (180.0, "steering_wheel_angle", np.pi), (127.0, "steer", 1.0), (90.0, "steer", 0.9),
])  # fmt: skip
def test_a_steer_beyond_all_shares_is_an_angle(largest, column, value):
    """But for whole numbers up to 127, which are signed bytes."""
    found = place_columns(make_log(**PLACES, steer=("", np.full(600, largest))), "a.csv")
    assert found.columns[column].max() == pytest.approx(value)


def test_a_pedal_beyond_all_ranges_and_an_unknown_unit_are_left_out():
    found = place_columns(make_log(**PLACES, throttle=("", 4000.0 * (TIME > 30.0)), clutch=("bananas", TIME)), "a.csv")
    assert {"throttle", "clutch"}.isdisjoint(found.columns)
    assert found.left_out[0].startswith("throttle there: no share of a pedal: values up to 4000")
    assert "the unit bananas is not known" in found.left_out[1]


def test_places_that_a_slow_receiver_repeats_are_interpolated():
    """Ten rows a second, two places a second: straight lines between those."""
    held = {name: (unit, values[np.arange(600) // 5 * 5] if name in "xy" else values)
            for name, (unit, values) in PLACES.items()}  # fmt: skip
    found = place_columns(make_log(**held), "a.csv")
    assert any("positions repeat: about 2 a second" in note for note in found.notes)
    assert np.hypot(found.columns["x"], found.columns["y"])[:590] == pytest.approx(100.0, abs=0.6)


def test_a_single_wild_place_and_bad_times_are_left_out():
    x = PLACES["x"][1].copy()
    x[100] = 1e5
    time = TIME.copy()
    time[200] = 3.0
    time[300] = np.nan
    found = place_columns(make_log(time, **PLACES | {"x": ("m", x)}), "a.csv")
    assert np.nanmax(np.abs(found.columns["x"])) < 101.0
    assert any("1 positions far off" in note for note in found.notes)
    assert any("2 rows whose time does not go on" in note for note in found.notes)
    assert len(found.columns["time"]) == 598


def test_a_gap_is_said_and_not_bridged():
    time = np.where(np.arange(600) > 300, TIME + 7.0, TIME)
    x = np.where((TIME > 40.0) & (TIME < 45.0), np.nan, PLACES["x"][1])
    found = place_columns(make_log(**PLACES | {"x": ("m", x)}), "a.csv")
    assert np.isnan(found.columns["x"][420])
    moved = {"x": ("m", 100.0 * np.cos(0.2 * time)), "y": ("m", 100.0 * np.sin(0.2 * time))}
    assert any(
        "1 gaps in the log, the longest 7.1 s" in n for n in place_columns(make_log(time, **PLACES | moved), "a").notes
    )


def test_the_axis_that_changes_least_is_up():
    found = place_columns(make_log(**PLACES | {"y": ("m", 3.0 + 0.0 * TIME), "z": PLACES["y"]}), "a.csv")
    assert found.columns["z"] == pytest.approx(3.0)
    assert found.columns["y"] == pytest.approx(PLACES["y"][1])
    assert any("y is the axis that changes least" in note for note in found.notes)


def test_channels_of_several_rates_get_one_time():
    slow, quick = np.arange(0.0, 59.95, 0.5), np.arange(0.0, 59.95, 0.002)
    log = make_log(**PLACES)
    log.channels.append(LogChannel("gear there", "", "gear", slow, np.floor(slow / 10.0)))
    log.channels.append(LogChannel("revs", "rad/s", "engine_speed", quick, 200.0 + 10.0 * quick))
    found = place_columns(log, "a.csv")
    assert len(found.columns["time"]) == 600  # not those of 500 a second
    assert set(np.unique(found.columns["gear"])) == {0.0, 1.0, 2.0, 3.0, 4.0, 5.0}
    assert found.columns["engine_speed"][100] == pytest.approx(300.0, abs=1e-6)


@pytest.mark.parametrize(
    ("channels", "said"),
    [
        ({}, "no channels of a drive"),
        ({"throttle": ("%", TIME)}, "nothing says how the car moves"),
        ({"speed": ("", TIME)}, "no unit of the speed, and no positions"),
        ({"latitude": ("deg", 500.0 + TIME), "longitude": ("deg", TIME)}, "no degrees"),
        (PLACES | {"speed": ("m/s", np.full(600, 20.0 * 7.0))}, "does not fit the positions"),
    ],
)
def test_what_is_of_no_use_is_refused_in_a_line(channels, said):
    with pytest.raises(DataError, match=said) as caught:
        place_columns(make_log(**channels), "a.csv")
    assert str(caught.value).startswith("a.csv")


def test_places_over_the_date_line():
    north = np.degrees(PLACES["y"][1] / 6.37e6)
    east = 180.0 + np.degrees(PLACES["x"][1] / 6.378e6)
    log = make_log(latitude=("deg", north), longitude=("deg", np.where(east > 180.0, east - 360.0, east)))
    found = place_columns(log, "a.csv")
    assert np.ptp(found.columns["x"]) == pytest.approx(200.0, abs=0.5)
