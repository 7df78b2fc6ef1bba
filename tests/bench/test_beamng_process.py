"""A host as a process of its own, here a program that says what it was told."""

import sys

from helpers.waiting import HANG, wait_for

from trailbrake.bench.beamng_process import find_free_port, run_host

SAYS = f"import sys; open(sys.argv[1], 'w').write(' '.join(sys.argv[2:])); {HANG}"


def test_it_is_told_both_ports_and_the_period_and_ends_with_the_block(tmp_path):
    said = tmp_path / "said"
    with run_host([sys.executable, "-c", SAYS, str(said)], 1111, 2222, 0.0005):
        wait_for(lambda: said.exists() and said.read_text())
    assert said.read_text() == "--send=127.0.0.1:1111 --receive-port=2222 --simulink-time=0.0005"


def test_a_free_port_can_be_had():
    ports = {find_free_port() for _ in range(5)}
    assert all(1024 <= port < 65536 for port in ports)
