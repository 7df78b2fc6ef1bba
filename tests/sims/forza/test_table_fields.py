"""What a table does not hold is unknown in the states read from it, and never 0."""

import math

from trailbrake.sims.forza import codec
from trailbrake.sims.forza.blocks import Dash, HorizonBlock, Sled
from trailbrake.sims.forza.codec import Packet
from trailbrake.sims.forza.convert import state_from_wire
from trailbrake.sims.forza.tables import (
    COLUMN_KEYS,
    DEFAULT_COLUMNS,
    TableReader,
    UnknownField,
    check_columns,
    clear_fields,
    find_unknown_fields,
    format_wall_clock,
    make_row_builder,
)

ARTICLE = ("norm_driving_line", "speed", "angular_velocity_x", "angular_velocity_y", "angular_velocity_z", "velocity_x",
           "velocity_y", "velocity_z")  # fmt: skip
PACKET = Packet(Sled(1), HorizonBlock(22), Dash(), tail=b"\0")


def read_states(tmp_path, keys, cells):
    path = tmp_path / "t.csv"
    path.write_text(",".join(keys) + "\n" + ",".join(map(str, cells)) + "\n")
    table = TableReader(path)
    unknown = find_unknown_fields(table.keys, table.build_packet)
    ((packet, _),) = table.read_packets()
    state = state_from_wire(codec.select_state_subset(packet))
    clear_fields(state, unknown)
    return state, unknown


def test_the_article_s_eight_columns(tmp_path):
    state, _ = read_states(tmp_path, ARTICLE, [-12, 17.5, 0.1, 0.5, -0.1, 0.25, -0.1, 17.4])
    assert (state.driving_line, state.speed) == (-12 / 127, 17.5)
    assert (state.velocity_x, state.velocity_y, state.velocity_z) == (
        struct_float(17.4), -0.25, struct_float(-0.1)
    )  # fmt: skip
    assert (state.yaw_rate, state.pitch_rate) == (-0.5, struct_float(0.1))
    unknown = (state.x, state.y, state.z, state.yaw, state.steer, state.throttle, state.brake, state.engine_speed,
               state.lap, state.lap_time, state.acceleration_x, state.wheels[0].core_temperature,
               state.wheels[3].angular_velocity)  # fmt: skip
    assert all(map(math.isnan, unknown))
    assert state.gear is None


def struct_float(value):
    import ctypes

    return ctypes.c_float(value).value


def test_a_whole_table_has_no_unknown_field(tmp_path):
    for keys in DEFAULT_COLUMNS.values():
        assert read_states(tmp_path, keys, ["1"] * len(keys))[1] == ()


def test_speed_follows_from_the_velocity(tmp_path):
    state, _ = read_states(tmp_path, ["velocity_x", "velocity_y", "velocity_z", "gear"], [3.0, 0.0, 4.0, 2])
    assert (state.speed, state.gear) == (5.0, 2)
    state, unknown = read_states(tmp_path, ["velocity_z", "gear"], [4.0, 2])
    assert math.isnan(state.speed)
    assert UnknownField(None, "speed") in unknown
    state, _ = read_states(tmp_path, ["velocity_z"], [4.0])  # a sled
    assert state.speed == 4.0


def test_our_own_columns():
    row = make_row_builder(("packet_len", "recv_time_ns", "wall_clock", "car_group", "track_ordinal"))
    cells = row(PACKET, 1_700_000_000_123_456_000, 324)
    assert cells[:2] == [324, 1_700_000_000_123_456_000]
    assert cells[2].endswith(".123456")
    assert len(cells[2]) == len("2026-11-21 14:30:05.000123")
    assert cells[3:] == [22, None]
    assert format_wall_clock(0).endswith(".000000")


def test_defaults_are_all_fields_in_packet_order():
    assert [len(DEFAULT_COLUMNS[form]) for form in ("sled", "dash", "fh", "fm2023")] == [58, 85, 85, 90]
    assert DEFAULT_COLUMNS["fh"][0] == "is_race_on"
    assert DEFAULT_COLUMNS["fh"][58:61] == ("position_x", "position_y", "position_z")
    assert len(COLUMN_KEYS) == 96
    assert check_columns(COLUMN_KEYS, "") == COLUMN_KEYS
