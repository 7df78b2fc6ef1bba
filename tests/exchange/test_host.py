"""The simulator's end in front of agents that are played by hand."""

import json
import time

import pytest
from pairs import place
from peers import Agent, listening

from trailbrake.sims.udacity_pid import spec
from trailbrake.sims.udacity_pid.host import Host
from trailbrake.world.plant import World

SOON = 5.0


class Straight(Agent):
    """Drives straight on; `said` are texts that it sends instead of its answers, one after the other."""

    def __init__(self, *said):
        super().__init__()
        self.said = list(said)

    def drive(self, data):
        return 0.0, 0.5

    def answer(self, data):
        return self.said.pop(0) if self.said else super().answer(data)


def simulator(port, **options):
    track, car = place()
    options = spec.ServeOptions(connect=f"127.0.0.1:{port}", **{"pace": "lockstep"} | options)
    host = Host(World(track, [car], period=spec.period(options)), options)
    host.open(time.monotonic())
    return host


def run(host, until):
    deadline = time.monotonic() + SOON
    while not until():
        assert time.monotonic() < deadline, "it never came"
        host.tick(time.monotonic())


@pytest.mark.parametrize("dialect", ["auto", "bare"])
def test_an_agent_without_a_handshake_gets_one_telemetry_per_command(dialect):
    agent = Straight()
    with listening(agent) as port:
        host = simulator(port, dialect=dialect)
        try:
            run(host, lambda: len(agent.seen) >= 30)
        finally:
            host.close()
    times = [data["time"] for data in agent.seen]
    assert times == sorted(set(times))
    assert set(agent.seen[0]) == {"steering_angle", "throttle", "speed", "cte", "time", "lap"} | (
        {"process"} if dialect == "bare" else set()
    )
    assert float(agent.seen[29]["speed"]) > 0.5


def test_a_command_that_cannot_be_read_is_counted_said_once_and_costs_no_telemetry(capfd):
    agent = Straight({"steering_angle": "0.1", "throttle": 0.3}, {})
    with listening(agent) as port:
        host = simulator(port)
        try:
            run(host, lambda: len(agent.seen) >= 10)
            assert host.counters()["rejected"] == 2
        finally:
            host.close()
    assert capfd.readouterr().err.count("a command that cannot be read: steering_angle: text instead of a number") == 1


def test_the_browser_build_pulls_to_the_right():
    def steer(dialect):
        agent = Straight()
        with listening(agent) as port:
            host = simulator(port, dialect=dialect)
            try:
                run(host, lambda: len(agent.seen) >= 60)
            finally:
                host.close()
        return float(agent.seen[59]["steering_angle"])

    assert steer("auto") == pytest.approx(0.0, abs=1e-4)
    assert steer("bare") == pytest.approx(25.0 * 0.0174533, rel=0.02)  # the share of the lock of 25 degrees


def test_the_world_goes_on_without_the_agent_in_real_pace():
    agent = Straight()
    with listening(agent) as port:
        host = simulator(port, pace="real")
        try:
            run(host, lambda: len(agent.seen) >= 5)
            before = json.loads(json.dumps(agent.seen[-1]))["time"]
            for _ in range(50):
                host.tick(time.monotonic())
            run(host, lambda: float(agent.seen[-1]["time"]) >= float(before) + 50 * 0.02)
        finally:
            host.close()
