"""Findings from made-up datagrams: each fault is seen, and a healthy wire is left in peace."""

import random

import pytest
from helpers.beamng.state_bytes import encode_state
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.sims.beamng import doctor
from trailbrake.sims.beamng.codec import StateMessage
from trailbrake.sims.beamng.doctor import ReceivedDatagram
from trailbrake.sims.beamng.timing import compute_timing

GAME, OTHER = ("127.0.0.1", 50000), ("127.0.0.1", 50001)
TIMING = compute_timing(0.005, 0.00001)


def wire(count=400, gap=0.005, step=0.005, speed=20.0, times=None, ids=None):
    """Messages of a car that drives along y."""
    ids = ids or range(count)
    times = times or [k * gap for k in range(count)]
    return [
        ReceivedDatagram(at, encode_state(StateMessage(message_id=i, posY=-speed * i * step, velY=-speed)), GAME)
        for at, i in zip(times, ids, strict=True)
    ]


def answers(arrivals, timing=TIMING, compute=0.001):
    return {finding.name: finding for finding in doctor.diagnose_answered(arrivals, timing, compute)}


def test_a_healthy_wire_has_no_problem():
    found = answers(wire())
    assert {finding.verdict for name, finding in found.items() if name != "V-Sync"} == {"ok"}
    assert found["V-Sync"].verdict == "unknown"


@pytest.mark.parametrize(
    ("free", "word"), [(True, "not loaded"), (False, "a program listens"), (None, "none in 2.5 s")]
)
def test_no_packets(free, word):
    finding = doctor.diagnose_packets([], 2.5, free)
    assert finding.verdict == "problem"
    assert word in finding.found
    assert finding.advice


def test_sizes():
    assert doctor.diagnose_size(wire(3)).verdict == "ok"
    signals = doctor.diagnose_size([ReceivedDatagram(0.0, bytes(24), GAME)])
    assert (signals.verdict, "2 signals" in signals.advice) == ("problem", True)
    for count in (0, 8, 7, 323, 889):
        finding = doctor.diagnose_size([ReceivedDatagram(0.0, bytes(count), GAME), *wire(2)])
        assert (finding.verdict, str(count) in finding.found) == ("problem", True)


def test_two_senders():
    assert doctor.diagnose_senders(wire(3)).verdict == "ok"
    finding = doctor.diagnose_senders([*wire(3), ReceivedDatagram(1.0, bytes(888), OTHER)])
    assert finding.verdict == "problem"
    assert "50000" in finding.found
    assert "50001" in finding.found


def test_a_second_client_keeps_the_messages_coming():
    # Silent for 2.5 s: a game that waits sends one per 2 s; one that another client answers sends 200 a second.
    assert doctor.diagnose_clients(wire(2, gap=2.0), 2.5, TIMING, 2.0).verdict == "ok"
    assert doctor.diagnose_clients(wire(500), 2.5, TIMING, 2.0).verdict == "problem"
    wide = compute_timing(0.0005, 0.002)  # 4 may go unanswered
    assert doctor.diagnose_clients(wire(5, gap=0.0005), 2.5, wide, 2.0).verdict == "ok"


def test_answers_that_do_not_arrive():
    found = answers(wire(2, gap=2.0))
    assert list(found) == ["answers"]
    assert "--peer" in found["answers"].advice


def test_slower_than_real_time():
    assert answers(wire(gap=0.01))["pace"].verdict == "problem"
    assert "0.50" in answers(wire(gap=0.01))["pace"].found


def test_lost_and_repeated_ids():
    found = answers(wire(40, ids=[*range(20), *range(22, 41), 40]))
    assert found["ids"].verdict == "problem"
    assert found["ids"].found.startswith("2 missing, 1 not higher")


@pytest.mark.parametrize("step", [0.0005, 0.001, 0.01])
def test_another_period_than_the_flags_say(step):
    finding = answers(wire(step=step, gap=0.005))["period"]
    assert finding.verdict == "problem"
    assert finding.advice.endswith(f"{step:g}")


def test_a_standing_car_tells_no_period():
    assert answers(wire(speed=0.0))["period"].verdict == "unknown"


def bursts(frames):
    """Three messages at the beginning of each frame."""
    times, now = [], 0.0
    for frame in frames:
        times += [now, now + 0.0005, now + 0.001]
        now += frame
    return wire(len(times), times=times)


def test_bursts_like_a_display_s_are_v_sync_and_others_are_not():
    rng = random.Random(1)
    display = answers(bursts([1.0 / 60.0 + rng.gauss(0.0, 0.0002) for _ in range(60)]))["V-Sync"]
    assert (display.verdict, "60 Hz" in display.found) == ("problem", True)
    free = answers(bursts([rng.uniform(0.011, 0.02) for _ in range(60)]))["V-Sync"]
    assert free.verdict == "ok"
    steady_but_no_display = answers(bursts([1.0 / 66.0] * 60))["V-Sync"]
    assert steady_but_no_display.verdict == "ok"


def test_compute_against_the_period():
    assert answers(wire(), compute=0.0)["compute"].verdict == "unknown"
    assert answers(wire(), compute=0.004)["compute"].verdict == "ok"
    finding = answers(wire(step=0.0005, gap=0.0005), compute_timing(0.0005, 0.00001), 0.0012)["compute"]
    assert finding.verdict == "problem"
    assert "0.42 of real time" in finding.found
    assert finding.advice.endswith("0.0015 or more")


DATAGRAMS = st.one_of(st.binary(max_size=40), st.binary(min_size=888, max_size=888))


@given(st.lists(st.tuples(st.floats(0.0, 10.0), DATAGRAMS), max_size=60))
def test_garbage_is_diagnosed_too(datagrams):
    arrivals = [ReceivedDatagram(at, data, GAME) for at, data in sorted(datagrams)]
    for finding in [
        doctor.diagnose_size(arrivals),
        doctor.diagnose_senders(arrivals),
        *doctor.diagnose_answered(arrivals, TIMING, 0.001),
    ]:
        assert finding.verdict in ("ok", "problem", "unknown")


@pytest.mark.parametrize("seed", range(5))
def test_messages_of_random_bytes_are_diagnosed_too(seed):
    rng = random.Random(seed)
    noise = [ReceivedDatagram(0.005 * k, rng.randbytes(888), GAME) for k in range(200)]
    mixed = sorted([*noise, *wire(100)], key=lambda arrival: arrival.received_at)
    for arrivals in (noise, mixed):
        assert [f.verdict for f in doctor.diagnose_answered(arrivals, TIMING, 0.001)]
