"""The packets' clock: wrap, duplicates, late ones, rewinds, two clocks of different fineness."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.sims.forza.packet_clock import PacketClock, PacketKind, milliseconds_between


def clocks(ms, race=math.nan):
    return ms % 2**32, race


def steps(*packets):
    clock = PacketClock()
    return [clock.step(*(clocks(*p) if isinstance(p, tuple) else clocks(p))) for p in packets]


def kinds(*packets):
    return [step.kind for step in steps(*packets)]


def test_the_page_s_wrap_is_34_ms():
    assert milliseconds_between(4294967295, 33) == 34
    second = steps(4294967295, 33)[1]
    assert (second.kind, second.dt) == (PacketKind.NEXT, 0.034)


@given(st.integers(0, 2**32 - 1), st.integers(-(2**31), 2**31 - 1))
def test_differences_of_wrapping_clocks(start, step):
    assert milliseconds_between(start, (start + step) % 2**32) == step


def test_the_race_clock_is_taken_where_it_runs():
    # TimestampMS in steps of 15.6 ms as in the recorded session, the race clock with the true frame time.
    got = steps((0, 10.0), (31, 10.034), (62, 10.068), (109, 10.103))
    assert [s.dt for s in got[1:]] == pytest.approx([0.034, 0.034, 0.035])


@pytest.mark.parametrize(
    ("first", "second", "kind", "dt"),
    [
        ((0, 0.0), (16, 0.0), PacketKind.NEXT, 0.016),  # before a race its clock stands at 0
        ((0, 5.0), (16, 5.0), PacketKind.NEXT, 0.016),  # or stands
        ((0, 5.0), (0, 5.0), PacketKind.SAME, 0.0),
        ((0, 5.0), (0, 5.008), PacketKind.NEXT, 0.008),  # a quantised session clock stood
        ((100, 5.0), (80, 4.98), PacketKind.LATE, 0.0),
        ((100, 5.0), (116, 4.98), PacketKind.JUMP, 0.0),  # the race went back while the session went on
        ((100, 95.0), (116, 0.016), PacketKind.JUMP, 0.0),  # restart
        ((90_000, 95.0), (91_000, 90.0), PacketKind.JUMP, 0.0),  # rewind
        ((0, 5.0), (3000, 8.0), PacketKind.JUMP, 3.0),  # silence
        ((0, 5.0), (60_000, 5.1), PacketKind.NEXT, 0.1),  # a pause: the race clock stood
        ((0, float("nan")), (16, 1.0), PacketKind.NEXT, 0.016),
        ((0, 1.0), (16, float("inf")), PacketKind.NEXT, 0.016),
        ((0, 1.0), (16, 1e30), PacketKind.JUMP, 0.0),
    ],
)
def test_two_packets(first, second, kind, dt):
    step = steps(first, second)[1]
    assert step.kind is kind
    assert step.dt == pytest.approx(dt)


def test_without_a_race_clock_the_session_s_is_taken():
    assert kinds(0, 16, 16, 8, 33) == [
        PacketKind.FIRST,
        PacketKind.NEXT,
        PacketKind.SAME,
        PacketKind.LATE,
        PacketKind.NEXT,
    ]
    assert steps(0, 600)[1] == (PacketKind.JUMP, 0.6)
    assert steps(5000, 600)[1] == (PacketKind.JUMP, 0.0)


def test_a_format_without_the_race_clock_in_mid_stream():
    got = steps((0, 5.0), (16, 5.016), 33, 50, (66, 5.066), (83, 5.083))
    assert [s.kind for s in got[1:]] == [PacketKind.NEXT] * 5
    assert sum(s.dt for s in got) == pytest.approx(0.083)


def test_a_clock_set_back_by_a_little_is_believed_after_five_packets():
    back = kinds(1000, 800, 816, 833, 850, 866, 883)
    assert back == [PacketKind.FIRST, *[PacketKind.LATE] * 4, PacketKind.JUMP, PacketKind.NEXT]


def test_late_ones_now_and_then_are_never_believed():
    assert kinds(1000, 990, 1016, 1010, 1033, 1020, 1050, 1040, 1066, 1060, 1083)[1::2] == [PacketKind.LATE] * 5


def test_after_hours_the_race_clock_is_too_coarse_and_the_other_is_taken():
    """A 32-bit float of 70 000 s has steps of 7.8 ms: by those every 15th packet would be missing."""
    period, clock = 1.0 / 60.0, PacketClock()
    seconds = [70_000.0 + i * period for i in range(600)]
    got = [clock.step(int(1000.0 * t), float(np.float32(t))) for t in seconds][1:]
    assert {step.kind for step in got} == {PacketKind.NEXT}
    assert max(abs(step.dt - period) for step in got) < 0.00101
    assert sum(step.dt for step in got) == pytest.approx(599 * period, abs=0.002)
