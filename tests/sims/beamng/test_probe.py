"""The judgement on made-up measurements, and a measurement against our host."""

import threading

import pytest
from helpers.beamng.coupled_session import FakePlant

from trailbrake.errors import UsageError
from trailbrake.histogram import DurationHistogram
from trailbrake.sims.beamng import probe
from trailbrake.sims.beamng.host import Host
from trailbrake.sims.beamng.probe import ProbeOptions
from trailbrake.sims.beamng.spec import ServeOptions
from trailbrake.transport.udp import UdpSocket


def durations(seconds):
    made = DurationHistogram()
    for _ in range(1000):
        made.add_duration(seconds)
    return made


def judge(trip, work, **options):
    said = []
    return probe._summarize_measurement(
        ProbeOptions(**options), durations(trip), durations(work), 1.0, said.append
    ), said


def test_a_fast_controller_behind_a_slow_network():
    found, said = judge(0.002, 0.0001, simulink_time=0.0005, ping_time=0.00001)
    assert found["expected_sim_over_real"] == pytest.approx(0.5e-3 / 2.1e-3, rel=0.03)
    assert found["proposed_simulink_time_s"] == 0.0005
    # 2 ms would let four messages go in the time of 4.2: a little slow. With the computing it is five.
    assert found["proposed_ping_time_s"] == pytest.approx(0.0021, rel=0.02)
    assert found["proposed_expected_sim_over_real"] == 1.0
    assert said == []


def test_a_controller_slower_than_its_period_is_warned_of():
    found, said = judge(0.0001, 0.00001, simulink_time=0.0005, compute=0.0009)
    assert len(said) == 1
    assert "set simulinkTime to 0.0015" in said[0]
    assert found["proposed_simulink_time_s"] == pytest.approx(0.0015)
    assert found["proposed_ping_time_s"] == pytest.approx(0.0001, rel=0.02)
    assert found["expected_sim_over_real"] == pytest.approx(0.5, rel=0.05)
    assert found["proposed_expected_sim_over_real"] == 1.0


def test_options_out_of_range():
    with pytest.raises(UsageError, match="--compute"):
        ProbeOptions(compute=-1.0)


@pytest.mark.slow
def test_a_measurement_against_our_host():
    ports = []
    for _ in range(2):
        free = UdpSocket()
        ports.append(free.port)
        free.close()
    host = Host(FakePlant(), ServeOptions(send=f"127.0.0.1:{ports[0]}", receive_port=ports[1], simulink_time=0.0005,
                                          block_timeout=0.05))  # fmt: skip
    host.open(0.0)
    stop = threading.Event()

    def serve():
        while not stop.is_set():
            host.tick(probe.time.perf_counter())
            if host.waits:
                host.wait(0.01)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        listen, peer = (f"127.0.0.1:{port}" for port in ports)
        options = ProbeOptions(listen=listen, peer=peer, simulink_time=0.0005, seconds=0.3)
        states, computed = [], 0.0

        def answer(state):
            nonlocal computed
            states.append(state)
            if len(states) > 1:
                computed += 0.002

        found = probe.run(options, lambda text: None, answer, lambda: probe.time.perf_counter() + computed)
    finally:
        stop.set()
        thread.join()
        host.close()
    assert found["exchanges"] > 5
    assert len(states) == found["exchanges"]
    assert found["compute_p99_us"] >= 2000.0
    assert found["proposed_simulink_time_s"] >= 0.0025
    assert found["round_trip_p50_us"] > 0.0
    assert found["sim_over_real"] > 0.0


def test_mean_and_worst_computing_time_side_by_side():
    work = durations(0.001)
    work.add_duration(0.02)
    found = probe._summarize_measurement(ProbeOptions(), durations(0.0001), work, 1.0, print)
    assert found["compute_mean_us"] == pytest.approx(1019.0, rel=0.01)
    assert found["compute_worst_us"] == pytest.approx(20_000.0)
    assert found["proposed_by_mean_s"] == pytest.approx(0.0015)
    assert found["proposed_by_worst_s"] == pytest.approx(0.024)
