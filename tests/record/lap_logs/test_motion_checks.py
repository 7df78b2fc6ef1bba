"""Signs and units of accelerations, yaw rate and steer by the path."""

import numpy as np
import pytest
from helpers.lap_log_files import make_laps

from trailbrake.errors import DataError
from trailbrake.record.lap_logs.lap_log import LapLog, LogChannel
from trailbrake.record.lap_logs.log_columns import place_columns

LAPS = make_laps(25.0, laps=2)
UNITS = {"acceleration_x": "m/s^2", "acceleration_y": "m/s^2", "yaw_rate": "rad/s", "steering_wheel_angle": "rad"}


def place(name, unit, values, *, with_places=True):
    columns = {"speed": ("m/s", LAPS.speed), name: (unit, values)}
    columns |= {"x": ("m", LAPS.x), "y": ("m", LAPS.y)} if with_places else {}
    return place_columns(LapLog("test", [LogChannel(f"{key} there", u, key, LAPS.time, np.array(v))
                                         for key, (u, v) in columns.items()]), "a.csv")  # fmt: skip


@pytest.mark.parametrize("name", UNITS)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_signs_are_those_of_the_path(name, sign):
    truth = getattr(LAPS, name)
    found = place(name, UNITS[name], sign * truth)
    assert found.columns[name] == pytest.approx(truth)
    assert any("turned round" in note for note in found.notes) == (sign < 0.0)


@pytest.mark.parametrize(
    ("name", "factor", "unit"),
    [("acceleration_y", 1.0 / 9.80665, "g"), ("acceleration_x", 1.0 / 9.80665, "g"), ("acceleration_y", 1.0, "m/s^2"),
     ("yaw_rate", 180.0 / np.pi, "deg/s"), ("yaw_rate", 1.0, "rad/s")],
)  # fmt: skip
def test_units_are_found_where_none_is_stated(name, factor, unit):
    found = place(name, "", factor * getattr(LAPS, name))
    assert found.columns[name] == pytest.approx(getattr(LAPS, name), rel=1e-9)
    assert any(f"it follows the path in {unit}" in note for note in found.notes)


def test_a_stated_unit_that_is_wrong_and_a_channel_of_noise_are_left_out():
    found = place("acceleration_y", "m/s^2", LAPS.acceleration_y / 9.80665)
    apart = np.abs(found.columns["acceleration_y"] - LAPS.acceleration_y)  # it is that of the path
    assert np.quantile(apart, [0.5, 0.9]) == pytest.approx(0.0, abs=0.7)
    assert "0.10 times what follows from the path: is it in m/s^2?" in found.left_out[0]
    noise = np.random.default_rng(5).normal(0.0, 8.0, len(LAPS.time))
    found = place("acceleration_y", "m/s^2", noise)
    assert "it does not follow the path" in found.left_out[0]


def test_without_places_signs_are_as_the_log_has_them_and_units_must_be_stated():
    found = place("yaw_rate", "rad/s", -LAPS.yaw_rate, with_places=False)
    assert found.columns["yaw_rate"] == pytest.approx(-LAPS.yaw_rate)
    assert any("which side is left is as the log has it in yaw_rate there" in note for note in found.notes)
    found = place("yaw_rate", "", LAPS.yaw_rate, with_places=False)
    assert found.left_out == ["yaw_rate there: no unit, and no positions to find it by"]


def test_a_clock_that_jitters_does_not_change_the_unit_that_the_speed_has():
    time = np.arange(0.0, 60.0, 0.1) + np.random.default_rng(3).integers(-1, 2, 600) / 60.0  # a tick of 60 Hz
    x, y, speed = 40.0 * np.cos(0.5 * time), 40.0 * np.sin(0.5 * time), np.full(len(time), 20.0)
    columns = {"x": ("m", x), "y": ("m", y), "speed": ("m/s", 3.6 * speed)}
    with pytest.raises(DataError, match=r"got 3\.6\d+ times it; it looks like km/h"):
        place_columns(LapLog("test", [LogChannel(name, unit, name, time, values)
                                      for name, (unit, values) in columns.items()]), "a.csv")  # fmt: skip


def test_a_speed_that_is_missing_is_that_along_the_places():
    found = place_columns(LapLog("test", [LogChannel("x", "m", "x", LAPS.time, LAPS.x),
                                          LogChannel("y", "m", "y", LAPS.time, LAPS.y)]), "a.csv")  # fmt: skip
    apart = np.abs(found.columns["speed"] - LAPS.speed)[50:-50]
    assert np.quantile(apart, [0.5, 0.9]) == pytest.approx(0.0, abs=0.4)


def test_motion_that_is_missing_follows_from_the_path_and_the_slip_is_not_guessed():
    columns = {"speed": ("m/s", LAPS.speed), "x": ("m", LAPS.x), "y": ("m", LAPS.y)}
    found = place_columns(LapLog("test", [LogChannel(name, unit, name, LAPS.time, values)
                                          for name, (unit, values) in columns.items()]), "a.csv")  # fmt: skip
    for name, scale in (("acceleration_x", 1.5), ("acceleration_y", 0.7), ("yaw_rate", 0.03)):
        apart = np.abs(found.columns[name] - getattr(LAPS, name))
        assert np.quantile(apart, [0.5, 0.9]) == pytest.approx(0.0, abs=scale), name
    assert not {"velocity_x", "velocity_y"} & set(found.columns)
    note = "acceleration_x, acceleration_y, yaw_rate: of the speed and its direction"
    assert any(note in text and "slip of the car is neglected" in text for text in found.notes)


def test_without_places_the_lateral_acceleration_is_that_of_the_yaw_rate():
    found = place("yaw_rate", "rad/s", LAPS.yaw_rate, with_places=False)
    assert found.columns["acceleration_y"] == pytest.approx(LAPS.yaw_rate * LAPS.speed)
    found = place("acceleration_y", "m/s^2", LAPS.acceleration_y, with_places=False)
    assert {"acceleration_x", "acceleration_y"} < set(found.columns)
    assert "yaw_rate" not in found.columns


@pytest.mark.parametrize("with_places", [True, False])
@pytest.mark.parametrize("rows", [[400], [400, 401, 402], [0], [-1], [400, 405]])
def test_speeds_that_no_car_can_reach_are_left_out(rows, with_places):
    speed = LAPS.speed.copy()
    speed[rows] = 999.0 / 3.6
    found = place("speed", "m/s", speed, with_places=with_places)
    assert found.columns["speed"] == pytest.approx(LAPS.speed, abs=0.5)
    assert f"speed there: {len(rows)} values that no car can reach are left out" in found.notes
    assert np.abs(found.columns["acceleration_x"]).max() < 25.0


def test_a_crash_and_a_car_put_elsewhere_are_no_errors_of_the_speed():
    """Wheels that stop at a wall stay so; a stop that the places show is one, however short."""
    crash = np.where(LAPS.time < 20.0, LAPS.speed, 0.0)
    stop = np.where(np.abs(LAPS.time - 20.0) < 0.4, 0.0, LAPS.speed)
    x, y = (np.concatenate([[0.0], np.cumsum(share * stop[1:] * np.diff(LAPS.time))]) for share in (0.6, 0.8))
    for speed, places in ((crash, {}), (stop, {"x": x, "y": y})):
        columns = {"speed": ("m/s", speed), **{name: ("m", values) for name, values in places.items()}}
        found = place_columns(LapLog("test", [LogChannel(name, unit, name, LAPS.time, values)
                                              for name, (unit, values) in columns.items()]), "a.csv")  # fmt: skip
        assert np.array_equal(found.columns["speed"], speed)
        assert not any("left out" in note for note in found.notes)


def test_noise_of_places_and_channels_does_not_change_signs_and_units():
    random = np.random.default_rng(7)
    noisy = {"x": ("m", LAPS.x + random.normal(0.0, 0.3, len(LAPS.x))), "speed": ("", 3.6 * LAPS.speed),
             "y": ("m", LAPS.y + random.normal(0.0, 0.3, len(LAPS.x))),
             "acceleration_y": ("", random.normal(0.0, 0.15, len(LAPS.x)) - LAPS.acceleration_y / 9.80665)}  # fmt: skip
    log = LapLog("test", [LogChannel(name, unit, name, LAPS.time, values) for name, (unit, values) in noisy.items()])
    found = place_columns(log, "a.csv")
    assert found.left_out == []
    assert np.median(found.columns["speed"] / LAPS.speed) == pytest.approx(1.0, abs=1e-9)
    assert np.corrcoef(found.columns["acceleration_y"], LAPS.acceleration_y)[0, 1] > 0.9
    assert any("follows the path in g" in note for note in found.notes)
