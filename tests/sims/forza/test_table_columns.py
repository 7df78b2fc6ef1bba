from trailbrake.sims.forza.blocks import Dash, HorizonBlock, Sled
from trailbrake.sims.forza.codec import Packet
from trailbrake.sims.forza.table_columns import (
    COLUMN_KEYS,
    DEFAULT_COLUMNS,
    check_columns,
    format_wall_clock,
    make_row_builder,
)

PACKET = Packet(Sled(1), HorizonBlock(22), Dash(), tail=b"\0")


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
