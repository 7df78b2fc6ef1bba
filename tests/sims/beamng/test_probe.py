"""The judgement on made-up measurements, and a measurement against our host."""

import dataclasses
import threading
from contextlib import contextmanager

import pytest
from helpers.beamng.coupled_session import FakePlant
from helpers.ports import free_udp_port

from trailbrake.errors import UsageError
from trailbrake.histogram import DurationHistogram
from trailbrake.sims.beamng import probe
from trailbrake.sims.beamng.host import Host
from trailbrake.sims.beamng.probe import ProbeOptions
from trailbrake.sims.beamng.spec import ServeOptions


def durations(seconds):
    made = DurationHistogram()
    for _ in range(1000):
        made.add_duration(seconds)
    return made


def judge(trip, **options):
    said = []
    return probe._summarize_measurement(ProbeOptions(**options), durations(trip), 1.0, said.append), said


def test_a_fast_controller_behind_a_slow_network():
    found, said = judge(0.002, compute=0.0001, simulink_time=0.0005, ping_time=0.00001)
    assert found["expected_sim_over_real"] == pytest.approx(0.5e-3 / 2.1e-3, rel=0.03)
    assert found["proposed_simulink_time_s"] == 0.0005
    # 2 ms would let four messages go in the time of 4.2: a little slow. With the computing it is five.
    assert found["proposed_ping_time_s"] == pytest.approx(0.0021, rel=0.02)
    assert found["proposed_expected_sim_over_real"] == 1.0
    assert said == []


def test_a_controller_slower_than_its_period_is_warned_of():
    found, said = judge(0.0001, simulink_time=0.0005, compute=0.0009)
    assert len(said) == 1
    assert "set simulinkTime to 0.0015" in said[0]
    assert found["proposed_simulink_time_s"] == pytest.approx(0.0015)
    assert found["proposed_ping_time_s"] == pytest.approx(0.0001, rel=0.02)
    assert found["expected_sim_over_real"] == pytest.approx(0.5, rel=0.05)
    assert found["proposed_expected_sim_over_real"] == 1.0


def test_options_out_of_range():
    with pytest.raises(UsageError, match="--compute"):
        ProbeOptions(compute=-1.0)


@contextmanager
def served(simulink_time, ping_time=0.005, *, pace_s=0.0):
    """Serve a world; yields the options of a probe. `pace_s`: wall time of a physics step that the host keeps to."""
    ports = free_udp_port(), free_udp_port()
    timing = {"simulink_time": simulink_time, "ping_time": ping_time}
    host = Host(FakePlant(), ServeOptions(send=f"127.0.0.1:{ports[0]}", receive_port=ports[1], block_timeout=2.0,
                                          **timing))  # fmt: skip
    host.open(0.0)
    stop = threading.Event()

    def serve():
        began, steps = probe.time.perf_counter(), 0
        while not stop.is_set():
            now = probe.time.perf_counter()
            if host.waits:
                host.wait(0.01)
            elif now < began + steps * pace_s:
                stop.wait(began + steps * pace_s - now)
                continue
            steps += not host.waits
            host.tick(now)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        listen, peer = (f"127.0.0.1:{port}" for port in ports)
        yield ProbeOptions(listen=listen, peer=peer, seconds=0.6, **timing)
    finally:
        stop.set()
        thread.join()
        host.close()


@pytest.mark.slow
@pytest.mark.parametrize("period", [0.0005, 0.01, 0.04])
def test_a_round_trip_does_not_depend_on_the_simulator_s_period(period):
    with served(period, pace_s=0.0005) as options:
        found = probe.run(dataclasses.replace(options, seconds=1.0), lambda text: None)
    assert 0.0 < found["round_trip_p50_us"] < 8e3, "a busy machine's, over loopback; the wait for a period is 40 ms"


@pytest.mark.slow
def test_a_measurement_against_our_host():
    with served(0.0005) as options:
        found = probe.run(dataclasses.replace(options, compute=0.002), lambda text: None)
    assert found["exchanges"] > 5
    assert found["proposed_simulink_time_s"] == 0.0025
    assert found["round_trip_p50_us"] > 0.0
    assert found["sim_over_real"] > 0.0


def test_without_a_computing_time_the_shortest_period_is_proposed_and_without_a_trip_no_time():
    found, _ = judge(0.0001)
    assert found["proposed_simulink_time_s"] == 0.0005
    empty = probe._summarize_measurement(ProbeOptions(), DurationHistogram(), 1.0, print)
    assert empty["proposed_ping_time_s"] != empty["proposed_ping_time_s"]
