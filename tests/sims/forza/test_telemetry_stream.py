"""What a stream of datagrams means: phases, losses, strangers, and rubbish."""

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.sims.forza import codec
from trailbrake.sims.forza.blocks import Dash, HorizonBlock, MotorsportBlock, Sled
from trailbrake.sims.forza.codec import Packet
from trailbrake.sims.forza.telemetry_stream import PacketClock, PacketKind, TelemetryStream, milliseconds_between
from trailbrake.state import Phase

DT = 1.0 / 60.0


def datagram(i, form="fh", race_on=1, gear=3, start=10.0, **sled):
    time = start + i * DT
    body = Sled(race_on, int(time * 1000.0), velocity_z=float(i), **sled)
    dash = Dash(position_z=float(i), speed=float(i), cur_race_time=time, gear=gear)
    if form == "sled":
        return codec.encode_packet(Packet(body))
    if form == "dash":
        return codec.encode_packet(Packet(body, dash=dash))
    if form == "fm2023":
        return codec.encode_packet(Packet(body, dash=dash, extra=MotorsportBlock()))
    return codec.encode_packet(Packet(body, HorizonBlock(), dash, tail=b"\0"))


def fed(numbers, intake=None, **kwargs):
    intake = intake or TelemetryStream()
    for i in numbers:
        intake.feed_datagram(datagram(i, **kwargs), i * DT, "game")
    return intake


def test_nothing_yet():
    state = TelemetryStream().current_state(5.0)
    assert state.phase is Phase.LOST
    assert state.sequence == -1
    assert math.isnan(state.x)


def test_time_goes_on_from_the_race_clock_by_packet_time():
    intake = fed(range(100))
    state = intake.current_state(99 * DT + 0.004)
    assert state.time == pytest.approx(10.0 + 99 * DT, abs=1e-5)  # f32 of the wire
    assert (state.sequence, state.phase) == (100, Phase.DRIVING)
    assert state.age == pytest.approx(0.004)
    assert state.x == 99.0
    assert intake.counters.received == 100
    assert intake.counters.lost == 0
    assert intake.period == pytest.approx(DT, rel=0.03)


@pytest.mark.parametrize("rate", [20.0, 28.9, 60.0, 128.0, 240.0])
def test_the_period_is_learned_and_losses_are_seen_at_any_rate(rate):
    rng = random.Random(3)
    intake, dropped, late_drops = TelemetryStream(), 0, 0
    for i in range(3000):
        if i > 500 and rng.random() < 0.1:
            dropped += 1
            continue
        time = 10.0 + i / rate
        intake.feed_datagram(
            codec.encode_packet(Packet(Sled(1, int(time * 1000)), dash=Dash(cur_race_time=time))), time, 0
        )
        late_drops = intake.counters.lost if i == 500 else late_drops
    assert intake.period == pytest.approx(1.0 / rate, rel=0.04)
    # Losses at the end are not seen by anybody; the start counts none too many once the period is learned.
    assert abs(intake.counters.lost - late_drops - dropped) <= 2


def test_duplicates_and_late_ones_are_dropped_and_counted():
    intake = fed([0, 1, 1, 2, 4, 3, 5, 5, 6])
    c = intake.counters
    assert (c.received, c.duplicates, c.late, c.lost) == (6, 2, 1, 1)
    assert intake.current_state(0.1).x == 6.0


def test_paused_packets_leave_the_last_sample_and_say_so():
    intake = fed(range(10))
    pause = codec.encode_packet(Packet(Sled(0, 99), HorizonBlock(), Dash(), tail=b"\0"))
    assert not intake.feed_datagram(pause, 10 * DT, "game")
    state = intake.current_state(10 * DT)
    assert (state.phase, state.sequence, state.x) == (Phase.PAUSED, 10, 9.0)
    fed([10], intake)
    assert intake.current_state(10 * DT).phase is Phase.DRIVING
    assert [e.phase for e in intake.events] == [Phase.DRIVING, Phase.PAUSED, Phase.DRIVING]
    assert intake.counters.paused == 1


@pytest.mark.parametrize(("form", "packets"), [("sled", 5), ("sled", 5000), ("dash", 100), ("fh", 5000), ("fm2023", 5)])
def test_a_pause_on_a_running_clock_loses_no_packet_and_is_no_jump(form, packets):
    intake, end = fed(range(300), form=form), 300 + packets
    fed(range(300, end), intake, form=form, race_on=0)
    fed(range(end, end + 60), intake, form=form)
    c = intake.counters
    assert (c.received, c.paused, c.lost, c.resyncs, c.late, c.duplicates) == (360, packets, 0, 0, 0, 0)
    assert [e.text for e in intake.events] == ["driving", "not driving: IsRaceOn is 0", "driving"]
    start = 0.0 if form == "sled" else 10.0  # a sled has no race clock
    assert intake.time == pytest.approx(start + 359 * DT, abs=2e-3)  # the car did not move in the pause


def test_a_restart_in_a_pause_is_a_jump_of_the_race_clock():
    intake = fed(range(300))
    fed(range(300, 400), intake, race_on=0)
    fed(range(400, 410), intake, start=1.0)
    assert (intake.counters.resyncs, intake.counters.lost) == (1, 0)


def test_packets_lost_after_a_pause_are_counted():
    intake = fed(range(300))
    fed(range(300, 400), intake, race_on=0)
    fed([*range(400, 450), *range(453, 460)], intake)
    assert intake.counters.lost == 3


def test_silence_is_lost_after_half_a_second_and_an_event():
    intake = fed(range(10))
    now = 9 * DT
    assert intake.current_state(now + 0.49).phase is Phase.DRIVING
    state = intake.current_state(now + 0.51)
    assert state.phase is Phase.LOST
    assert state.age == pytest.approx(0.51)
    intake.current_state(now + 3.0)
    assert intake.counters.stale == 1
    assert [e.phase for e in intake.events] == [Phase.DRIVING, Phase.LOST]


def test_silence_of_three_seconds_is_a_jump_of_time_and_lost_samples():
    intake = fed([*range(200), *range(380, 400)])
    assert intake.current_state(399 * DT).time == pytest.approx(10.0 + 399 * DT, abs=1e-4)
    assert (intake.counters.resyncs, intake.counters.received) == (1, 220)
    assert intake.counters.lost == pytest.approx(180, abs=6)
    assert "jumped" in intake.events[-1].text


def test_a_gap_of_minutes_counts_no_loss():
    assert fed([*range(200), *range(10_000, 10_010)]).counters.lost == 0


def test_a_rewind_lets_no_time_pass_and_goes_on():
    intake = fed(range(600))
    before = intake.time
    for i in range(300, 330):  # the race clock is five seconds back, the car too
        intake.feed_datagram(datagram(i), 10.0, "game")
    assert intake.counters.resyncs == 1
    assert intake.time == pytest.approx(before + 29 * DT, abs=1e-4)
    assert intake.current_state(10.0).x == 329.0


def test_formats_may_change_at_any_packet():
    forms = ["fh", "sled", "dash", "fm2023"]
    intake = TelemetryStream()
    for i in range(40):
        assert intake.feed_datagram(datagram(i, forms[i // 10]), i * DT, "game")
    assert intake.counters.formats == dict.fromkeys(forms, 10)
    assert intake.time == pytest.approx(10.0 + 39 * DT, abs=0.002)  # the sled has whole ms only
    assert intake.counters.late == intake.counters.duplicates == intake.counters.resyncs == 0


def test_a_hang_of_ours_is_no_silence_of_the_game():
    """Nobody looks for 5 s; a stranger's datagram waits before those of the game."""
    intake = fed(range(10))
    assert not intake.feed_datagram(datagram(5000), 5.0, "stranger")
    assert intake.feed_datagram(datagram(10), 5.0, "game")
    assert not intake.feed_datagram(datagram(5001), 5.0, "stranger")
    assert (intake.counters.foreign, intake.current_state(5.0).x) == (2, 10.0)


def test_a_second_sender_is_counted_and_left_until_the_first_is_silent():
    intake = fed(range(10))
    assert not intake.feed_datagram(datagram(5000), 10 * DT, "stranger")
    assert intake.counters.foreign == 1
    assert intake.current_state(10 * DT).x == 9.0
    intake.update_phase(10 * DT + 0.3)
    assert intake.feed_datagram(datagram(5000), 10 * DT + 0.6, "stranger")
    assert intake.current_state(10 * DT + 0.6).x == 5000.0
    assert not intake.feed_datagram(datagram(11), 10 * DT + 0.6, "game")


def test_a_stranger_cannot_even_make_the_game_look_paused():
    intake = fed(range(10))
    intake.feed_datagram(codec.encode_packet(Packet(Sled(0))), 10 * DT, "stranger")
    assert intake.phase is Phase.DRIVING


def test_gear_11_keeps_the_gear_before():
    intake = TelemetryStream()
    for i, gear in enumerate([3, 11, 11, 4]):
        intake.feed_datagram(datagram(i, gear=gear), i * DT, "game")
        assert intake.current_state(i * DT).gear == (4 if gear == 4 else 3)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
@pytest.mark.parametrize("field", ["yaw", "velocity_x", "angular_velocity_y"])
def test_a_packet_without_numbers_is_rejected(field, bad):
    intake = fed(range(3))
    assert not intake.feed_datagram(datagram(3, **{field: bad}), 3 * DT, "game")
    assert intake.counters.rejected == 1
    assert intake.current_state(3 * DT).x == 2.0


def test_foreign_lengths_are_counted_by_length():
    intake = TelemetryStream()
    for size in (12, 12, 1, 500):
        assert not intake.feed_datagram(bytes(size), 0.0)
    assert intake.counters.lengths == {12: 2, 1: 1, 500: 1}
    assert intake.counters.rejected == 4


@pytest.mark.parametrize("seed", [1, 2])
def test_random_datagrams_never_crash_it_and_the_game_is_still_heard(seed):
    rng = random.Random(seed)
    intake = TelemetryStream()
    sizes = [*codec.FORMATS, 0, 11, 325]
    for i in range(10_000):
        intake.feed_datagram(rng.randbytes(rng.choice(sizes)), i * 1e-4, rng.choice(["game", "other"]))
        if i % 50 == 0:
            state = intake.current_state(i * 1e-4)
            assert math.isnan(state.x) or math.isfinite(state.x + state.y + state.yaw + state.speed)
    for now in (1.3, 1.6, 2.0):  # both are silent
        intake.update_phase(now)
    for i in range(20):
        intake.feed_datagram(datagram(i), now + i * DT, "game")
    assert intake.current_state(now + 20 * DT).x == 19.0
    c = intake.counters
    assert c.datagrams == 10_020
    assert c.datagrams == c.received + c.late + c.duplicates + c.rejected + c.foreign + c.paused


def test_packets_that_change_to_an_unknown_length_are_said_and_are_no_silence():
    said = []
    intake = TelemetryStream(said.append)
    intake.feed_datagram(bytes(100), 0.0, "game")
    assert said == [], "nothing has been read before: `open` says what arrives"
    fed(range(10), intake)
    for k in range(10, 40):
        intake.feed_datagram(datagram(k) + bytes(k % 8), k * DT, "game")
    assert len(said) == 2, "a flood of lengths gets no flood of lines"
    assert said[0].startswith("forza: datagrams of 326 bytes arrive, which are not read: expected 232, 311,")
    fed(range(40, 42), intake)
    assert intake.phase is Phase.DRIVING


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
