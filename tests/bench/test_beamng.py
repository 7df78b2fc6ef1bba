"""The rows of the bench, without measuring."""

import itertools
import socket
import struct
import sys

import pytest
from helpers.waiting import HANG, wait_for

from trailbrake.bench import beamng as bench
from trailbrake.bench.beamng import CASES, CouplingCase, answer_messages, find_free_port, run_host

SAYS = f"import sys; open(sys.argv[1], 'w').write(' '.join(sys.argv[2:])); {HANG}"


def test_the_rows_are_those_that_were_promised(monkeypatch):
    monkeypatch.setattr(bench, "_measure_exchanges", lambda command: 12_000.0 if "serve" in command else 20_000.0)
    monkeypatch.setattr(bench, "_measure_speed", lambda case: case.expected_speed)
    rows = bench.measure_rows()
    cases, rows = rows[2:], rows[:2]
    assert [row.value for row in cases] == [1.0, 0.75, 0.25, 1.0, 0.5, 1.0, 0.5, 1.0]
    assert "0.75 in theory" in cases[1].note
    assert [(row.name, row.value, row.unit, row.better) for row in rows] == [
        ("lockstep_exchanges_per_s", 12_000.0, "1/s", "higher"),
        ("link_exchanges_per_s", 20_000.0, "1/s", "higher"),
    ]
    assert "6.0x real time" in rows[0].note


@pytest.mark.slow
def test_an_exchange_is_measured_between_two_processes(monkeypatch):
    monkeypatch.setattr(bench, "EXCHANGES", 200)
    monkeypatch.setattr(bench, "WARM_UP", 10)
    assert bench._measure_exchanges([bench.sys.executable, "-m", "trailbrake.bench.beamng"]) > 10.0


@pytest.fixture
def wires():
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ours,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as host,
    ):
        for wire in (ours, host):
            wire.bind(("127.0.0.1", 0))
            wire.settimeout(5.0)
        yield ours, host


def answers(case, wires, monkeypatch, ids=(0.0, 1.0, 2.0)):
    """Send messages of these ids; return (ids answered, how many counted, when each answer left by the clock)."""
    ours, host = wires
    monkeypatch.setattr(bench, "SETTLE", 0.0)
    for number in ids:
        host.sendto(struct.pack("<d", number) + bytes(880), ours.getsockname())
    ticks = itertools.count()
    counted = answer_messages(case, ours, host.getsockname(), 0.02, lambda: next(ticks) * 1e-5)
    got = []
    host.settimeout(0.0)
    while True:
        try:
            data = host.recv(65535)
        except BlockingIOError:
            return got, counted
        assert len(data) == 512
        assert not any(data[8:])
        got.append(struct.unpack_from("<d", data)[0])


def test_a_controller_that_counts(wires, monkeypatch):
    assert answers(CouplingCase("", 0.0005, 1e-5, delay_s=0.002), wires, monkeypatch) == ([1.0, 2.0, 3.0], 3)


def test_a_controller_that_echoes(wires, monkeypatch):
    assert answers(CouplingCase("", 0.0005, 1e-5, delay_s=0.002, echo_id=True), wires, monkeypatch) == (
        [0.0, 1.0, 2.0],
        3,
    )


def test_a_controller_that_computes_answers_one_after_the_other(wires, monkeypatch):
    # 9 ms each within 20 ms: two answers have left in time, the third message is begun with and is late.
    got, _ = answers(CouplingCase("", 0.0005, 1e-5, compute_s=0.009), wires, monkeypatch, range(5))
    assert got == [1.0, 2.0, 3.0]


def test_an_answer_that_is_not_due_does_not_leave(wires, monkeypatch):
    assert answers(CouplingCase("", 0.0005, 1e-5, delay_s=0.03), wires, monkeypatch) == ([], 3)


def test_the_cases_are_those_of_the_page():
    assert [(case.simulink_time, case.ping_time, case.expected_speed) for case in CASES] == [
        (0.0005, 0.002, 1.0), (0.0005, 0.002, 0.75), (0.0005, 0.00001, 0.25), (0.001, 0.002, 1.0), (0.001, 0.002, 0.5),
        (0.001, 0.00001, 1.0), (0.0005, 0.00001, 0.5), (0.005, 0.00001, 1.0),
    ]  # fmt: skip


def test_it_is_told_both_ports_and_the_period_and_ends_with_the_block(tmp_path):
    said = tmp_path / "said"
    with run_host([sys.executable, "-c", SAYS, str(said)], 1111, 2222, 0.0005):
        wait_for(lambda: said.exists() and said.read_text())
    assert said.read_text() == "--send=127.0.0.1:1111 --receive-port=2222 --simulink-time=0.0005"


def test_a_free_port_can_be_had():
    ports = {find_free_port() for _ in range(5)}
    assert all(1024 <= port < 65536 for port in ports)
