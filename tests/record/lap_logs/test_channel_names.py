"""The table of names and units, and that of the user before it."""

import os

import pytest

from trailbrake.errors import DataError
from trailbrake.record.lap_logs.channel_names import SI_UNITS, load_channel_names, split_unit, user_channels_file


@pytest.mark.parametrize(
    ("name", "column", "unit"),
    [
        ("Ground Speed", "speed", ""), ("Speed (m/s) *calc", "speed", "m/s"), ("speed_mph", "speed", "mph"),
        ("SPEED [km/h]", "speed", "km/h"), ("KPH", "speed", ""), ("LapDistPct", "lap_share", ""), ("Lap #", "lap", ""),
        ("CAR_COORD_X", "x", ""), ("GPS_Latitude", "latitude", ""),
        ("Lateral acceleration (G) *calc", "acceleration_y", "G"), ("throttle_pos", "throttle", ""),
        ("Steering Wheel Angle", "steering_wheel_angle", ""),
    ],
)  # fmt: skip
def test_names_of_others(name, column, unit):
    names = load_channel_names()
    assert names.find_rule(name).column == column
    assert names.find_unit(name) == unit


def test_a_name_that_means_its_unit():
    names = load_channel_names()
    assert names.find_rule("MPH").unit == "mph"
    assert names.find_factor("speed", "MPH") == pytest.approx(0.44704)
    assert names.find_factor("acceleration_y", "m/s²") == 1.0
    assert names.find_factor("speed", "furlongs") is None
    assert names.find_rule("Damper Pos FL") is None


def test_every_column_and_unit_of_the_table_is_one_of_ours():
    names = load_channel_names()
    assert {rule.column for rule in names.rules.values()} <= set(SI_UNITS)
    for dialect in names.dialects:
        assert dialect.header
        assert all(not rule.column or rule.column in SI_UNITS for rule in dialect.columns.values())
        for rule in dialect.columns.values():
            assert not rule.unit or names.find_factor(rule.column, rule.unit) or rule.unit == "deg", rule


def test_a_dialect_is_known_by_its_header():
    names = load_channel_names()
    header = ["Record", "Time", "Latitude", "Longitude", "Speed", "GForceX", "GForceY"]
    dialect = names.choose_dialect(header)
    assert dialect.title == "RaceBox"
    assert names.find_rule("GForceY", dialect) == ("acceleration_y", "G")
    assert names.find_rule("Z", dialect) is None
    assert names.choose_dialect(["Time", "Speed"]) is None


def test_the_user_s_table_comes_first(tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_CHANNELS", str(tmp_path / "mine.toml"))
    (tmp_path / "mine.toml").write_text(
        '[names]\nspeed = ["Fahrt [furlong/h]"]\nbrake = ["Brake"]\n[units."m/s"]\n"furlong/h" = 0.05588\n'
    )
    assert user_channels_file() == tmp_path / "mine.toml"
    names = load_channel_names()
    assert names.find_rule("FAHRT").unit == "furlong/h"
    assert names.find_factor("speed", "furlong/h") == 0.05588
    assert names.find_rule("Ground Speed").column == "speed"
    (tmp_path / "mine.toml").write_text('[names]\nwarp = ["Warp"]\n')
    os.utime(tmp_path / "mine.toml", ns=(10**18, 10**18))
    with pytest.raises(DataError, match=r"mine\.toml: no table of channels, .*no column warp"):
        load_channel_names()


def test_units_in_names():
    assert split_unit("Speed (m/s) *calc") == ("Speed", "m/s")
    assert split_unit("Time [s]") == ("Time", "s")
    assert split_unit("Gear") == ("Gear", "")
