import json
import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.control.vehicle.manual_input import ManualInput
from trailbrake.dashboard import page_messages
from trailbrake.dashboard.lap_follower import LapPace
from trailbrake.errors import WireError
from trailbrake.observe.path_curvature import find_path_bend
from trailbrake.state import CarState, Controls, DebugLine, OtherCar, SignalValues, WheelState
from trailbrake.state.fields import declared_quantities
from trailbrake.state.tables import STATE_COLUMNS
from trailbrake.tracks.track_library import load_track


@pytest.fixture(scope="module")
def header():
    return json.loads(
        page_messages.encode_text("header", page_messages.build_header({"sim": "x", "odd": [1]}, None, None, True))
    )["header"]


def encoded(state, controls=None, health=None, others=(), pace=None):
    """One frame of a state."""
    car = page_messages.car_values(state, controls or Controls())
    bend = find_path_bend(state.speed, state.yaw_rate)
    row = page_messages.frame_row(car, health or page_messages.ConnectionHealth(), bend, pace or LapPace())
    return page_messages.encode_frame(row, others)


def decoded(data, header):
    """Read a frame by nothing but the header, as a page does."""
    numbers = np.frombuffer(data, "<f8")
    parts = [(part, c["name"]) for part in ("state", "controls", "health", "derived", "pace") for c in header[part]]
    rest = numbers[1 + len(parts) :].reshape(-1, len(header["other"]))
    others = [dict(zip(header["other"], row, strict=True)) for row in rest]
    return numbers[0], dict(zip(parts, numbers[1:], strict=False)), others


def test_the_header_describes_every_declared_field_once(header):
    names = [c["name"] for c in header["state"]]
    assert len(set(names)) == len(names)
    assert set(declared_quantities(CarState)) | {"gear", "phase", "sequence"} <= set(names)
    assert len(names) == len(declared_quantities(CarState)) + 3 + 4 * len(declared_quantities(WheelState))
    speed = next(c for c in header["state"] if c["name"] == "speed")
    assert (speed["unit"], speed["meaning"], speed["lo"], speed["hi"]) == ("m/s", "ground speed", 0.0, None)
    assert header["about"] == {"sim": "x"}


def test_the_first_charts_are_fields_that_there_are():
    assert {name for group in page_messages.CHARTS for name in group} <= {c.name for c in STATE_COLUMNS}


def test_a_frame_is_read_by_the_header_alone(header):
    state = CarState(time=12.5, speed=33.0, gear=None, yaw=-1.5, yaw_rate=-0.66)
    state.wheels[3].load = 4321.0
    others = [OtherCar(index=4, x=7.0), OtherCar(index=5, y=-8.0)]
    health = page_messages.ConnectionHealth(frame=9.0, lost=2.0)
    data = encoded(state, Controls(steer=0.25, gear=3), health, others, LapPace(120.0, -0.5))
    kind, values, found = decoded(data, header)
    assert kind == 0.0
    assert values["state", "time"] == 12.5
    assert values["state", "rr_load"] == 4321.0
    assert values["controls", "steer"] == 0.25
    assert values["controls", "gear"] == 3.0
    assert (values["health", "frame"], values["health", "lost"]) == (9.0, 2.0)
    assert math.isnan(values["state", "gear"])
    assert values["derived", "curvature"] == pytest.approx(-0.02)
    assert values["derived", "path_radius"] == pytest.approx(50.0)
    assert (values["pace", "lap_distance"], values["pace", "delta"]) == (120.0, -0.5)
    assert [(o["index"], o["x"], o["y"]) for o in found][1][::2] == (5.0, -8.0)
    assert found[0]["x"] == 7.0


def test_selected_signals_follow_the_state():
    about = {"sim": "x", "signals": [{"name": "beamng.fuel", "unit": "1", "meaning": "fuel"}]}
    header = json.loads(page_messages.encode_text("header", page_messages.build_header(about, None, None, False)))[
        "header"
    ]
    assert header["about"] == {"sim": "x"}
    state = CarState(speed=3.0, signals=SignalValues({"beamng.fuel": 0}, (0.25,)))
    _, values, found = decoded(encoded(state, Controls(steer=0.5), None, [OtherCar(index=4)]), header)
    assert (values["state", "beamng.fuel"], values["state", "speed"], values["controls", "steer"]) == (0.25, 3.0, 0.5)
    assert found[0]["index"] == 4.0


def test_the_first_bytes_of_a_frame_are_little_endian():
    data = encoded(CarState(time=1.0))
    assert data[:16].hex() == "0000000000000000" + "000000000000f03f"  # kind 0, then time 1


def test_a_road_becomes_two_edges_of_the_right_width():
    road = load_track("pinegrove").road
    made = page_messages.build_header({}, road, None, False)["map"]
    assert made["closed"] is True
    left, right = (np.column_stack([made[s]["x"], made[s]["y"]]) for s in ("left", "right"))
    assert 300 < len(left) <= page_messages.MAX_MAP_POINTS
    gaps = np.hypot(*(left - right).T)
    assert gaps.min() > 6.0
    assert gaps.max() < 30.0


def test_an_answer():
    data = struct.pack("<7d", 12.0, 1.0, 0.5, 1.0, 0.0, 0.0, 1.0)
    assert page_messages.decode_answer(data) == (12.0, ManualInput(0.5, 1.0, 0.0, 0.0, True))
    assert page_messages.decode_answer(struct.pack("<7d", 13.0, 0.0, 0.5, 1.0, 0.0, 0.0, 1.0)) == (13.0, None)


@given(st.one_of(st.binary(max_size=80), st.binary(min_size=56, max_size=56)))
def test_any_bytes_are_an_answer_within_its_ranges_or_refused(data):
    try:
        seen, wish = page_messages.decode_answer(data)
    except WireError:
        return
    assert math.isfinite(seen)
    if wish is not None:
        assert -1.0 <= wish.steer <= 1.0
        assert all(0.0 <= value <= 1.0 for value in (wish.throttle, wish.brake, wish.handbrake))


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_no_number_is_no_wish(value):
    with pytest.raises(WireError, match="finite"):
        page_messages.decode_answer(struct.pack("<7d", 1.0, 1.0, value, 0.0, 0.0, 0.0, 0.0))


def test_lines_are_seen_from_above():
    line = DebugLine((1.234, 2.0, 300.0), (3.0, 4.0, 301.0), 0x00FF00)
    assert page_messages.plan_lines([line]) == [[1.23, 2.0, 3.0, 4.0, 0x00FF00]]
