"""The doctor on real sockets: no simulator, another client, and a simulator that answers."""

import threading

import pytest
from helpers.beamng.state_bytes import encode_state
from helpers.ports import free_udp_port

from trailbrake.errors import UsageError
from trailbrake.sims.beamng import doctor
from trailbrake.sims.beamng.codec import StateMessage, decode_command
from trailbrake.transport.udp import UdpSocket


@pytest.fixture(autouse=True)
def _hasty(monkeypatch):
    monkeypatch.setattr(doctor, "LISTEN_S", 0.1)


def options(listen, peer, **more):
    return doctor.DoctorOptions(listen=f"127.0.0.1:{listen}", peer=f"127.0.0.1:{peer}", seconds=0.3, **more)


def findings(given):
    return {finding.name: finding for finding in doctor.examine(given)}


class Simulator(threading.Thread):
    """Sends a message, and the next one for each answer."""

    def __init__(self, controller):
        super().__init__(daemon=True)
        self.udp, self.controller, self.over, self.commands = UdpSocket(), ("127.0.0.1", controller), False, []
        self.again = 0  # messages sent a second time

    def run(self):
        for sent in range(100_000):
            state = StateMessage(message_id=sent, posY=-0.05 * sent, velY=-10.0)
            self.udp.send(encode_state(state), self.controller)
            while not self.over:
                if self.udp.wait_readable(0.02):
                    self.commands.append(decode_command(self.udp.receive()[0]))
                    break
                if not self.commands:
                    self.udp.send(encode_state(state), self.controller)  # as after a time-out
                    self.again += 1
            if self.over:
                break
        self.udp.close()


def test_no_simulator():
    found = findings(options(free_udp_port(), free_udp_port()))
    assert {name: finding.verdict for name, finding in found.items()} == {"door": "ok", "packets": "problem"}
    assert "not loaded" in found["packets"].found


def test_a_controller_that_sends_elsewhere():
    listen = free_udp_port()
    game = UdpSocket()
    try:
        assert "a program listens" in findings(options(listen, game.port))["packets"].found
    finally:
        game.close()


def test_a_second_client_has_the_port():
    other = UdpSocket()
    try:
        found = findings(options(other.port, 1))
    finally:
        other.close()
    assert list(found) == ["door"]
    assert found["door"].verdict == "problem"
    assert "two clients" in found["door"].advice


def test_a_simulator_that_answers_is_measured_and_left_alone():
    listen = free_udp_port()
    simulator = Simulator(listen)
    simulator.start()
    try:
        found = findings(options(listen, simulator.udp.port, compute=0.001))
    finally:
        simulator.over = True
        simulator.join()
    for name in ("door", "packets", "size", "senders", "period", "compute"):
        assert found[name].verdict == "ok", found[name]
    assert found["pace"].found
    assert len(simulator.commands) > 20
    for command in simulator.commands:
        assert all(value != value for value in command[1:14])  # NaN leaves every control alone
    ids = [command.message_id for command in simulator.commands]
    assert ids == sorted(ids)
    assert len(ids) - len(set(ids)) <= simulator.again


@pytest.mark.parametrize("more", [{"simulink_time": 0.0}, {"compute": -1.0}, {"ping_time": 5.0}])
def test_flags_that_cannot_be(more):
    with pytest.raises(UsageError):
        list(doctor.examine(options(1, 2, **more)))
