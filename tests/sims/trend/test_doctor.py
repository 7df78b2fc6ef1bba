import socket

import pytest
from helpers.ports import free_port

from sims.trend.toy import Toy
from trailbrake.sims.trend import SIMULATOR, spec
from trailbrake.sims.trend.host import Host


class Clock:
    """Time that passes by looks; a host beside it, if there is one, takes its ticks from them."""

    def __init__(self, host=None):
        self.now, self.host = 0.0, host

    def __call__(self):
        self.now += 0.02
        if self.host is not None:
            self.host.tick(self.now)
        return self.now


def found(port, clock, display=":0", seconds=1.0):
    doctor = SIMULATOR.tools["doctor"]
    options = doctor.options(listen=f"127.0.0.1:{port}", seconds=seconds)
    return {f.name: f for f in doctor.examine(options, clock, {"DISPLAY": display} if display else {})}


def test_nobody_calls():
    port = free_port()
    said = found(port, Clock())
    assert said["port"].verdict == "ok"
    assert said["call"].verdict == "problem"
    assert f"--port {port}" in said["call"].advice


def test_another_agent_has_the_port():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        said = found(other.getsockname()[1], Clock())
    assert said["port"].verdict == "problem"
    assert "call" not in said


@pytest.mark.parametrize("dialect", ["legacy", "modern"])
def test_a_simulator_calls_and_its_dialect_is_told(dialect):
    port = free_port()
    host = Host(Toy(), spec.ServeOptions(connect=f"127.0.0.1:{port}", dialect=dialect))
    host.open(0.0)
    try:
        said = found(port, Clock(host), seconds=4.0)
    finally:
        host.close()
    assert dialect in said["call"].found
    assert said["telemetry"].verdict == "ok"
    assert all(finding.verdict == "ok" for finding in said.values())


def test_without_a_display_unity_may_not_start(monkeypatch):
    monkeypatch.setattr("sys.platform", "linux")
    assert "xvfb" in found(free_port(), Clock(), display="")["display"].advice
    monkeypatch.setattr("sys.platform", "win32")
    assert found(free_port(), Clock(), display="")["display"].verdict == "ok"


@pytest.mark.parametrize(("host", "verdict"), [("127.0.0.1", "ok"), ("0.0.0.0", "unknown")])
def test_a_firewall_is_named_where_one_may_stand_between(host, verdict):
    options = SIMULATOR.tools["doctor"].options(listen=f"{host}:{free_port()}", seconds=0.1)
    said = {f.name: f for f in SIMULATOR.tools["doctor"].examine(options, Clock(), {"DISPLAY": ":0"})}
    assert said["firewall"].verdict == verdict
    assert (options.listen.split(":")[1] in said["firewall"].advice) is (verdict == "unknown")
