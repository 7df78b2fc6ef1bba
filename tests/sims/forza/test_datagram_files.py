import gzip

import pytest

from trailbrake.errors import DataError, UsageError
from trailbrake.sims.forza.codec import decode_packet
from trailbrake.sims.forza.raw import RawWriter
from trailbrake.sims.forza.replay import is_recorded_session, open_session


def test_a_table_s_times_are_those_of_the_packets_own_clock(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("timestamp_ms,cur_race_time,speed\n100,1.0,5\n131,1.03,6\n162,1.06,7\n")
    session = open_session(path)
    datagrams, times = zip(*session.datagrams, strict=True)
    assert [decode_packet(data).dash.speed for data in datagrams] == [5.0, 6.0, 7.0]
    assert times == pytest.approx((0, 30_000_000, 60_000_000), abs=1e3)
    assert (session.note, session.period) == ("", None)


@pytest.mark.parametrize(("rate", "taken"), [(0.0, 60.0), (28.9, 28.9)])
@pytest.mark.parametrize("columns", ["norm_driving_line,speed", "yaw"])
def test_rows_without_a_clock_follow_each_other_at_a_rate(tmp_path, rate, taken, columns):
    path = tmp_path / "forza_data.csv"
    cells = ",".join("1" for _ in columns.split(","))
    path.write_text(f"{columns}\n" + f"{cells}\n" * 601)
    session = open_session(path, rate)
    datagrams, times = zip(*session.datagrams, strict=True)
    assert times[-1] == pytest.approx(600 / taken * 1e9)
    assert decode_packet(datagrams[-1]).sled.timestamp_ms == round(600_000 / taken)
    assert session.period == 1.0 / taken
    assert session.note.startswith(f"forza_data.csv has no column of time: its rows count as {taken:g} per second")
    assert ("--rate gives another rate" in session.note) == (rate == 0.0)


def test_the_wall_clock_is_a_clock(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(
        "speed,wall_clock\n5,2026-11-21 14:30:05.000123\n6,2026-11-21 14:30:05.030123\n7,2026-11-21 14:31:00\n"
    )
    session = open_session(path)
    packets = [decode_packet(data) for data, _ in session.datagrams]
    assert session.note == ""
    assert [packet.sled.timestamp_ms for packet in packets] == [0, 30, 55_000]
    assert packets[1].dash.cur_race_time == pytest.approx(1.03, abs=1e-6)


def test_a_rate_beside_a_clock_is_said_to_be_unused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("timestamp_ms,speed\n100,5\n")
    assert open_session(path, 30.0).note == "--rate is not used: the column timestamp_ms has the times of t.csv"
    raw = tmp_path / "r.forza"
    RawWriter(raw).close()
    assert "--rate is not used" in open_session(raw, 30.0).note


@pytest.mark.parametrize("rate", [-1.0, 1e-3, 1e9, float("nan"), float("inf")])
def test_no_rate(tmp_path, rate):
    path = tmp_path / "t.csv"
    path.write_text("speed\n5\n")
    with pytest.raises(UsageError, match="no rate of a table's rows"):
        open_session(path, rate)


def test_a_wrong_file_is_refused_before_the_first_datagram(tmp_path):
    with pytest.raises(UsageError, match="no such file"):
        open_session(tmp_path / "x.csv")
    (tmp_path / "x.csv").write_text("a,b\n")
    with pytest.raises(DataError):
        open_session(tmp_path / "x.csv")


def test_recorded_sessions_are_raw_recordings_and_tables(tmp_path):
    raw = tmp_path / "r.forza"
    RawWriter(raw).close()
    assert is_recorded_session(raw)
    (tmp_path / "a.CSV.gz").write_bytes(gzip.compress(b"speed,accel,brake,lap\r\n" * 9000))
    assert is_recorded_session(tmp_path / "a.CSV.gz")
    (tmp_path / "b.csv").write_text("time,speed [km/h],throttle,brake,x,y,z\n")  # of another tool
    assert not is_recorded_session(tmp_path / "b.csv")
    assert not is_recorded_session(tmp_path / "a.mcap")
