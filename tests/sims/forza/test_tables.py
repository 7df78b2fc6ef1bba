"""Tables: the cells of the recorder of others to the byte, and reading them back."""

import gzip
import math
import struct
from pathlib import Path

import pytest

from trailbrake.errors import DataError
from trailbrake.sims.forza import codec, tables
from trailbrake.sims.forza.blocks import Dash, HorizonBlock, Sled
from trailbrake.sims.forza.codec import Packet
from trailbrake.sims.forza.tables import DEFAULT_COLUMNS, TableReader, TableWriter, make_row_builder

KEYS3 = ("norm_driving_line", "speed", "is_race_on")
PACKET = Packet(Sled(1), HorizonBlock(22), Dash(speed=struct.unpack("<f", struct.pack("<f", 24.58053207397461))[0],
                                       norm_driving_line=-3), tail=b"\0")  # fmt: skip


def written(tmp_path, form, packets=(PACKET,), keys=KEYS3, **kwargs):
    path = tmp_path / f"table.{form}"
    table, row = TableWriter(path, keys, form, **kwargs), make_row_builder(keys)
    for packet in packets:
        table.write(row(packet, 0, 324))
    table.close()
    return path


def test_csv_to_the_byte(tmp_path):
    assert written(tmp_path, "csv").read_bytes() == (
        b"norm_driving_line,speed,is_race_on\r\n-3,24.58053207397461,1\r\n"
    )


def test_tsv_to_the_byte(tmp_path):
    assert written(tmp_path, "tsv").read_bytes() == b"norm_driving_line\tspeed\tis_race_on\n-3\t24.580532\t1\n"


@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_append_goes_on_without_a_header(tmp_path, form):
    once = written(tmp_path, form).read_bytes()
    twice = written(tmp_path, form, append=True).read_bytes()
    assert twice == once + once.splitlines(keepends=True)[1]


def test_lines_are_there_before_the_file_is_closed(tmp_path):
    table = TableWriter(tmp_path / "t.csv", KEYS3, "csv")
    table.write([1, 2.0, 3])
    assert (tmp_path / "t.csv").read_bytes().endswith(b"1,2.0,3\r\n")
    table.close()


def test_what_a_format_does_not_have_is_an_empty_cell(tmp_path):
    assert written(tmp_path, "csv", [Packet(Sled(1))]).read_bytes().endswith(b"\r\n,,1\r\n")
    assert written(tmp_path, "tsv", [Packet(Sled(1))]).read_bytes().endswith(b"\n\t\t1\n")


def test_read_back_is_the_same_packet(tmp_path):
    file = Path(__file__).parents[2] / "golden" / "wire" / "forza" / "fm2023.hex"
    golden = codec.decode_packet(bytes.fromhex(file.read_text()))
    path = written(tmp_path, "csv", [golden], DEFAULT_COLUMNS["fm2023"])
    assert [packet for packet, _ in TableReader(path).read_packets()] == [golden]


def test_a_table_of_any_columns_makes_packets(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"speed,steer\r\r\n10.5,-3\r\r\n\r\n11.5,4\r\r\n")  # as the original wrote on Windows
    packets = [packet for packet, _ in TableReader(path).read_packets()]
    assert [(p.dash.speed, p.dash.steer, p.sled.is_race_on) for p in packets] == [(10.5, -3, 1), (11.5, 4, 1)]
    assert all(len(codec.encode_packet(p)) == 324 for p in packets)
    path.write_text("yaw\n0.5\n")
    assert len(codec.encode_packet(next(TableReader(path).read_packets())[0])) == 232


def test_rumble_strips_that_were_read_as_floats_are_one(tmp_path):
    path = tmp_path / "t.tsv"
    path.write_text("wheel_on_rumble_strip_FL\twheel_on_rumble_strip_FR\n1.401298464324817e-45\t0.0\n")
    sled = next(TableReader(path).read_packets())[0].sled
    assert (sled.wheel_on_rumble_strip_FL, sled.wheel_on_rumble_strip_FR) == (1, 0)


def test_a_time_of_arrival_is_kept_and_gzip_is_read(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"recv_time_ns,speed\n123456789,1.5\n"))
    packet, received = next(TableReader(path).read_packets())
    assert (packet.dash.speed, received) == (1.5, 123456789)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no table of Forza packets"),
        (b"time,throttle\n1,2\n", "t.csv:1: no table of Forza packets, expected a line of column names"),
        (b"speed,gear\n1.0,2\nx,3\n", "t.csv:3: no row of packets: could not convert"),
        (b"speed,gear\n1.0\n", "t.csv:2: no row of packets: expected 2 cells, got 1"),
        (b"gear\n1.5\n", "t.csv:2: no row of packets"),
        (b"\x1f\x8bbroken", "cannot unpack the table"),
        (b"\xff\xff", "not UTF-8 text"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(tmp_path, data, message):
    path = tmp_path / "t.csv"
    path.write_bytes(data)
    with pytest.raises(DataError) as error:
        list(TableReader(path).read_packets())
    assert message in str(error.value)


def test_nan_stays_nan(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("yaw\nnan\n")
    assert math.isnan(next(TableReader(path).read_packets())[0].sled.yaw)


def test_a_packed_table_has_a_limit_and_a_long_cell_is_one_line(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    for data in (b'"' + b"a" * 131_073 + b'"\n1\n', b'speed,gear\n"' + b"a" * 131_073 + b'",1\n'):
        path.write_bytes(data)
        with pytest.raises(DataError, match="field larger than field limit"):
            list(TableReader(path).read_packets())
    path.write_bytes(b"speed" + b"," * 100_000 + b"\n")
    with pytest.raises(DataError, match="too many columns, expected 1000 at most, got 100001"):
        TableReader(path)
    monkeypatch.setattr(tables, "MAX_BYTES", 5000)
    path.write_bytes(gzip.compress(b"speed\n" + b"1\n" * 100_000))
    with pytest.raises(DataError, match="the table is too large, expected 5000 bytes unpacked at most"):
        TableReader(path)
