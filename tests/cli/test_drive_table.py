import math

import pytest

from trailbrake.cli.drive_table import BAR_WIDTH, DriveFigures, describe_drive, draw_bar, draw_centred_bar
from trailbrake.dashboard.page_messages import ConnectionHealth
from trailbrake.laps import LapRecord
from trailbrake.state import CarState, Controls

LAPS = [LapRecord(1, 62.5, True, (), "", 0.0, 0), LapRecord(2, 61.0, False, (), "contact", 0.0, 1)]


def values(state, controls=None, health=None, delta=math.nan, laps=(), lap=math.nan):
    figures = DriveFigures(state, controls or Controls(), health or ConnectionHealth(silent=0.002), delta, laps, lap)
    rows = describe_drive(figures, ascii_only=True)
    return {name: value for row in rows for name, value in (row[:2], row[2:])}


def test_speed_gear_laps_and_the_time_gained():
    state = CarState(speed=50.0, gear=-1, engine_speed=100.0 * math.pi)
    shown = values(state, delta=-0.2134, laps=LAPS, lap=3, health=ConnectionHealth(lap_clock=12.5, silent=0.002))
    assert shown["speed"] == "180 km/h"
    assert shown["gear"] == "R   3000 rpm"
    assert shown["lap 3"] == "0:12.500"
    assert shown["to best"] == "-0.213 s"
    assert shown["last"] == "1:01.000 not valid"
    assert shown["best"] == "1:02.500"


def test_pedals_are_those_of_the_car_and_else_those_that_were_sent():
    shown = values(CarState(throttle=0.5), Controls(throttle=1.0, brake=0.25, steer=-1.0))
    assert shown["throttle"].endswith(" 50 %")
    assert shown["brake"].endswith(" 25 %")
    assert shown["steer"] == "." * 8 + "#" * 8 + " 100 % right"


def test_what_is_not_known_is_a_dash():
    shown = values(CarState(), Controls(steer=math.nan, throttle=math.nan, brake=math.nan))
    assert {shown[name] for name in ("speed", "throttle", "steer", "last", "best", "to best", "lap")} == {"-"}


def test_a_silent_wire_is_said():
    assert "SILENT" not in values(CarState())["link"]
    assert values(CarState(), health=ConnectionHealth(silent=0.4))["link"] == "newest 400 ms, SILENT old"


@pytest.mark.parametrize("ascii_only", [True, False])
def test_bars_have_one_width(ascii_only):
    for share in (-0.5, 0.0, 0.3, 1.0, 7.0):
        assert len(draw_bar(share, ascii_only=ascii_only).split()[0]) == BAR_WIDTH
        assert len(draw_centred_bar(share, ascii_only=ascii_only).split()[0]) == BAR_WIDTH
    assert draw_bar(0.5, ascii_only=True).startswith("#" * 8 + "." * 8)
    assert draw_centred_bar(0.5, ascii_only=True).startswith("." * 4 + "#" * 4 + "." * 8)
