"""Replay: every datagram, in order, at the pace it came; to a plain socket."""

import itertools
import math

import pytest
from helpers.fakes import PaperTime

from trailbrake.errors import UsageError
from trailbrake.sims.forza import replay as module
from trailbrake.sims.forza.codec import decode_packet
from trailbrake.sims.forza.raw import RawWriter
from trailbrake.transport.udp import UdpSocket


@pytest.fixture
def raw(tmp_path):
    def write(times, size=20):
        path = tmp_path / "r.forza"
        writer = RawWriter(path)
        for i, at in enumerate(times):
            writer.write(i.to_bytes(2) + bytes(size), round(at * 1e9))
        writer.close()
        return path

    return write


@pytest.fixture
def clock(monkeypatch):
    made = PaperTime(100.0)
    monkeypatch.setattr(module, "time", made)
    return made


def play(path, pace, stopped=lambda: False):
    udp = UdpSocket()
    done = module.replay(path, ("127.0.0.1", udp.port), pace, stopped)
    got = []
    while (one := udp.receive()) is not None:
        got.append(int.from_bytes(one[0][:2]))
    udp.close()
    return done, got


@pytest.mark.parametrize("pace", [1.0, 4.0, 0.5])
def test_at_the_pace_it_came_or_a_factor_of_it(raw, clock, pace):
    done, got = play(raw([1000.0, 1000.1, 1000.3, 1000.3]), pace)
    assert got == [0, 1, 2, 3]
    assert clock.slept == pytest.approx([0.1 / pace, 0.2 / pace], abs=1e-6)
    assert (done.datagrams, done.bytes, done.unsent) == (4, 88, 0)
    assert done.recorded_s == pytest.approx(0.3)


def test_a_long_pause_is_cut_to_five_seconds(raw, clock):
    play(raw([0.0, 0.1, 60.1, 60.2]), 1.0)
    assert clock.slept == pytest.approx([0.1, 5.0, 0.1], abs=1e-6)


def test_at_full_pace_it_only_breathes_between_bursts(raw, clock):
    done, got = play(raw(range(200)), math.inf)
    assert got == list(range(200))
    assert clock.slept == [module.BURST_PAUSE_S] * 3
    assert done.recorded_s == 199.0


def test_it_can_be_stopped(raw, clock):
    count = itertools.count()
    assert play(raw(range(100)), 1.0, lambda: next(count) >= 10)[1] == list(range(10))


def test_a_table_is_played_by_the_packets_own_clock(tmp_path, clock):
    path = tmp_path / "t.csv"
    path.write_text("timestamp_ms,cur_race_time,speed\n100,1.0,5\n131,1.03,6\n162,1.06,7\n")
    udp = UdpSocket()
    module.replay(path, ("127.0.0.1", udp.port), 1.0)
    assert clock.slept == pytest.approx([0.03, 0.03], abs=1e-4)
    assert [decode_packet(udp.receive()[0]).dash.speed for _ in range(3)] == [5.0, 6.0, 7.0]
    udp.close()


@pytest.mark.parametrize(("text", "factor"), [("1", 1.0), ("2.5", 2.5), ("max", math.inf)])
def test_paces(text, factor):
    assert module.parse_pace(text) == factor


@pytest.mark.parametrize("text", ["0", "-1", "fast", "nan", ""])
def test_no_paces(text):
    with pytest.raises(UsageError, match="--pace"):
        module.parse_pace(text)


def test_a_table_without_a_clock_is_sent_at_a_rate(tmp_path):
    path = tmp_path / "forza_data.csv"
    path.write_text("norm_driving_line,speed\n" + "-3,17.5\n" * 61)
    udp = UdpSocket()
    done = module.replay(path, ("127.0.0.1", udp.port), math.inf, rate=30.0)
    assert (done.datagrams, done.recorded_s) == (61, pytest.approx(2.0))
    assert "30 per second" in done.note
    received = [decode_packet(data).sled.timestamp_ms for data, _ in iter(udp.receive, None)]
    assert received == [round(i * 1000 / 30) for i in range(61)]
    udp.close()
