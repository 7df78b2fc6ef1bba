"""Signals against a packet decoded field by field, and declared ones against the fields of the wire."""

import math
from pathlib import Path

import pytest

from trailbrake.errors import UsageError
from trailbrake.sims.forza import codec
from trailbrake.sims.forza.blocks import Dash, HorizonBlock, MotorsportBlock, Sled
from trailbrake.sims.forza.codec import DASH_SUBSET_FIELDS, SLED_SUBSET_FIELDS
from trailbrake.sims.forza.signals import SIGNALS, PacketSignalReader
from trailbrake.sims.forza.telemetry_stream import TelemetryStream
from trailbrake.sims.registry import find
from trailbrake.state.signals import match_signals

GOLDEN = Path(__file__).parents[2] / "golden" / "wire" / "forza"


def golden(case):
    return bytes.fromhex((GOLDEN / f"{case}.hex").read_text())


def read(case, *patterns):
    stream = TelemetryStream()
    stream.signal_reader = PacketSignalReader(match_signals(SIGNALS, patterns or ["all"], where="test"))
    assert stream.feed_datagram(golden(case), 0.0)
    return stream.current_state(0.0)


def test_with_the_state_they_are_all_fields_of_the_wire():
    fields = [name for block in (Sled, HorizonBlock, Dash, MotorsportBlock) for name in block._fields]
    in_the_state = {*SLED_SUBSET_FIELDS, *DASH_SUBSET_FIELDS} - {"timestamp_ms", "cur_race_time"}
    assert len(SIGNALS) == len(set(fields) - in_the_state)
    assert len({signal.name for signal in SIGNALS}) == len(SIGNALS)
    assert find("forza").list_signals(find("forza").live_options()) == SIGNALS


def test_values_in_si_units_of_the_golden_packet():
    state = read("fh")
    s = state.signals
    assert (s["forza.power"], s["forza.torque"], s["forza.distance"]) == (250_000.0, 420.5, 1234.5)
    assert s["forza.boost"] == pytest.approx(-3.5 * 6894.757)
    assert s["forza.timestamp"] == pytest.approx(856.375)
    assert s["forza.idle_engine_speed"] == pytest.approx(850.0 * math.pi / 30.0)
    assert (s["forza.wheel_fl.on_rumble_strip"], s["forza.wheel_fr.on_rumble_strip"]) == (0.0, 1.0)
    assert (s["forza.wheel_rr.rumble"], s["forza.wheel_fr.puddle_depth"]) == (0.5, 0.5)
    assert s["forza.wheel_rl.suspension_travel"] == pytest.approx(-0.01)
    assert s["forza.wheel_rr.suspension_share"] == 0.625
    assert (s["forza.car_ordinal"], s["forza.car_class"], s["forza.car_performance_index"]) == (2616.0, 4.0, 884.0)
    assert (s["forza.drivetrain_type"], s["forza.cylinders"], s["forza.car_group"]) == (2.0, 12.0, 22.0)
    assert (s["forza.smashable_speed_loss"], s["forza.smashable_mass"]) == (0.5, 125.0)
    assert (s["forza.race_position"], s["forza.last_lap_time"], s["forza.race_time"]) == (3.0, 93.5, 199.6875)
    assert s["forza.brake_advice"] == pytest.approx(-11 / 127)
    assert math.isnan(s["forza.track_ordinal"])
    assert (state.fuel, state.max_engine_speed) == (0.75, pytest.approx(8000.0 * math.pi / 30.0))


def test_what_a_format_does_not_have_is_not_a_number():
    s = read("fm2023").signals
    assert (s["forza.wheel_fl.tyre_wear"], s["forza.track_ordinal"]) == (0.125, 1640.0)
    assert math.isnan(s["forza.car_group"])
    state = read("sled")
    assert math.isnan(state.signals["forza.power"])
    assert state.signals["forza.cylinders"] == 12.0
    assert math.isnan(state.fuel)
    assert state.max_engine_speed == pytest.approx(8000.0 * math.pi / 30.0)


def test_the_selected_ones_alone_in_declared_order():
    s = read("fh", "forza.wheel_*.rumble", "forza.boost").signals
    assert list(s) == ["forza.boost", *[f"forza.wheel_{w}.rumble" for w in ("fl", "fr", "rl", "rr")]]
    with pytest.raises(UsageError, match="unknown signal"):
        read("fh", "forza.turbo")


def test_without_a_selection_no_packet_is_decoded_twice(monkeypatch):
    stream = TelemetryStream()
    stream.feed_datagram(golden("fh"), 0.0)
    monkeypatch.setattr(codec, "decode_packet", None)
    assert len(stream.current_state(0.0).signals) == 0
