"""Link and host of donkeycar in memory: what the one shows the other sees, and what the one asks the other does."""

import json
import socket

import numpy as np
import pytest
from pairs import Ends

from trailbrake.errors import SimulatorError, UsageError
from trailbrake.sims.donkeycar import spec
from trailbrake.sims.donkeycar.doctor import Options, examine
from trailbrake.sims.donkeycar.host import Host
from trailbrake.sims.donkeycar.link import Link
from trailbrake.state import Controls, Phase, Pose, SimCommand
from trailbrake.transport import rendezvous
from trailbrake.transport.lines import LineListener


@pytest.fixture
def ends(tmp_path):
    made = Ends("donkeycar", tmp_path)
    made.link.open(0.0)
    yield made
    made.close()


def test_the_client_sees_the_car(ends):
    state = ends.drive(60, Controls(steer=0.1, throttle=0.5))[-1]
    truth = ends.plant.state(0)
    names = ("x", "y", "z", "yaw", "speed", "velocity_x", "velocity_y", "yaw_rate", "throttle", "time")
    for name in names:
        assert getattr(state, name) == pytest.approx(getattr(truth, name), abs=1e-6), name
    _, offset, _ = ends.plant.track.road.locate(truth.x, truth.y)
    assert state.driving_line == pytest.approx(offset / 4.0)
    assert state.steer == pytest.approx(0.1, rel=0.05)
    assert state.image.pixels.shape == (120, 160, 3)
    assert np.abs(state.image.pixels.astype(int) - truth.image.pixels).mean() < 4.0  # what JPEG costs
    assert (state.lap, state.contacts, state.phase) == (1, 0, Phase.DRIVING)


def test_a_session_with_a_simulator_by_hand(tmp_path):
    """A newer one, that is in its scene already; its starting line is one of two, and it hits something."""
    listener = LineListener()
    rendezvous.publish(tmp_path, "donkeycar", listener.address[1])
    link = Link(doors=tmp_path)
    link.open(0.0)
    simulator, now = None, 0.0

    def look(done):
        nonlocal simulator, now
        for _ in range(20000):
            now += 0.0001
            link.read(now)
            simulator = simulator or listener.accept()
            if done():
                return
        raise AssertionError("it never came")

    heard = []

    def hear(count):
        heard.extend(json.loads(line) for line in simulator.poll())
        return len(heard) >= count

    def show(time, hit="none"):
        before = link.counters.received
        simulator.send(
            f'{{"msg_type":"telemetry","steering_angle":0.5,"throttle":0.1,"speed":2.5,"image":"","hit":"{hit}",'
            f'"pos_x":1,"pos_y":2,"pos_z":3,"time":{time}}}'
        )
        look(lambda: link.counters.received > before)
        return link.read(now)

    look(lambda: simulator is not None)
    simulator.send('{"msg_type":"ping"}')
    simulator.send('{"msg_type":"need_car_config"}')
    look(lambda: hear(1))
    assert heard[0]["msg_type"] == "car_config"
    assert all(isinstance(value, str) for value in heard[0].values())
    for stamp, line in ((5.0, 1), (20.0, 0), (35.5, 1), (50.0, 0), (64.0, 1)):
        simulator.send(
            f'{{"msg_type":"collision_with_starting_line","timeStamp":{stamp},"starting_line_index":{line}}}'
        )
    state = show(65.25, "cone")
    assert (state.lap, state.lap_time, state.best_lap_time) == (3, 1.25, 28.5)
    assert (state.x, state.y, state.z, state.steer, state.contacts) == (3.0, -1.0, 2.0, -0.5, 1)
    assert show(65.3, "cone").contacts == 1  # still the same one
    show(65.35)
    assert show(65.4, "cone").contacts == 2
    simulator.send("{nonsense")
    look(lambda: link.unreadable == 1)
    assert (show(0.5).lap, link.counters.resyncs) == (1, 1)  # begun again
    link.write(Controls(steer=-0.25, throttle=0.5))
    look(lambda: hear(2))
    assert heard[1] == {"msg_type": "control", "steering": "0.25", "throttle": "0.5", "brake": "0.0"}
    simulator.close()
    look(lambda: link.read(now).phase is Phase.LOST)
    link.close()
    listener.close()


def test_a_wall_is_a_contact(ends):
    x, y, z, yaw = ends.plant.track.road.points(20.0, 4.0)[0]
    ends.plant.command(0, SimCommand(teleport=Pose(x, y, z, yaw + 0.8)))
    state = ends.drive(100, Controls(throttle=1.0))[-1]
    assert state.contacts >= 1


def test_a_restart_and_a_release(ends):
    ends.drive(60, Controls(throttle=1.0))
    ends.link.command(SimCommand(restart=True))
    states = ends.drive(4, Controls())
    assert states[-1].speed < 0.5
    ends.link.release()
    ends.tick()
    assert ends.plant.state(0).brake > 0.0


def test_lockstep_repeats_to_the_bit(tmp_path):
    def once(folder):
        folder.mkdir()
        made = Ends("donkeycar", folder)
        made.link.open(0.0)
        states = made.drive(40, Controls(steer=0.1, throttle=0.6))
        made.close()
        return [(s.time, s.x, s.y, s.image.data) for s in states]

    assert once(tmp_path / "a") == once(tmp_path / "b")


def test_nobody_answers():
    clock = iter(range(1000))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        where = f"127.0.0.1:{probe.getsockname()[1]}"
        link = Link(spec.LiveOptions(connect=where, wait=5.0), idle=lambda: float(next(clock)))
        with pytest.raises(SimulatorError, match="no simulator, expected telemetry within 5 s, got nobody answers"):
            link.open(0.0)


def test_a_scene_that_is_not_there_is_named_with_those_that_are(tmp_path):
    made = Ends("donkeycar", tmp_path, live=spec.LiveOptions(scene="warehouse"))
    with pytest.raises(SimulatorError, match="no scene warehouse; it has: lakeside"):
        made.link.open(0.0)
    made.close()


def test_the_road_has_a_width():
    with pytest.raises(UsageError, match="--half-width: no width of a road, expected > 0 m, got nan"):
        Link(spec.LiveOptions(half_width=float("nan")))


class Stranger:
    """A plain socket in front of a host."""

    def __init__(self, ends):
        self.ends = ends
        self.socket = socket.create_connection(("127.0.0.1", ends.host.port))
        self.socket.settimeout(5.0)
        self.lines = self.socket.makefile(encoding="utf-8")

    def hear(self, kind):
        self.ends.tick()
        while (message := json.loads(self.lines.readline()))["msg_type"] != kind:
            pass
        return message

    def close(self):
        self.lines.close()
        self.socket.close()


@pytest.fixture
def stranger(tmp_path):
    ends = Ends("donkeycar", tmp_path, pace="real")
    made = Stranger(ends)
    yield made
    made.close()
    ends.close()


def test_clients_are_strangers(stranger, capfd):
    host = stranger.ends.host
    stranger.hear("scene_selection_ready")
    junk = b'\xff\xfe\n{"msg_type":5}\n[]\n{"msg_type":"control"}\n{"msg_type":"load_scene","scene_name":"moon"}\n'
    stranger.socket.sendall(junk + b'{"msg_type":"cam_config","img_w":"4"}\n{"msg_type":"lidar_config"}\n\n')
    stranger.socket.sendall(b'{"msg_type":"get_scene_names"}\n')
    assert stranger.hear("scene_names")["scene_names"] == ["lakeside"]
    assert (host.counters()["rejected"], host.counters()["ignored"]) == (6, 1)
    assert capfd.readouterr().err.count("a message that cannot be read") == 1
    stranger.socket.sendall(b'{"msg_type":"load_scene","scene_name":"lakeside"}\n')
    stranger.hear("car_loaded")
    assert stranger.hear("telemetry")["hit"] == "none"
    stranger.socket.sendall(b'{"msg_type":"exit_scene"}\n')
    stranger.hear("scene_selection_ready")


def test_a_second_client_is_refused_and_a_new_one_may_come_when_the_first_has_left(stranger):
    host = stranger.ends.host
    stranger.hear("scene_selection_ready")
    with socket.create_connection(("127.0.0.1", host.port)) as second:
        stranger.ends.tick()
        assert second.recv(10) == b""
    assert host.counters()["refused"] == 1
    stranger.close()
    stranger.ends.tick()
    third = Stranger(stranger.ends)
    assert third.hear("scene_selection_ready")
    third.close()


def test_a_client_that_does_not_read_loses_telemetry_and_harms_nobody(stranger):
    stranger.hear("scene_selection_ready")
    stranger.socket.sendall(b'{"msg_type":"cam_config","img_w":"640","img_h":"480","img_enc":"TGA"}\n')
    stranger.socket.sendall(b'{"msg_type":"load_scene","scene_name":"lakeside"}\n')
    for _ in range(12):  # 1.2 MB each
        stranger.ends.tick()
    assert stranger.ends.host.counters()["dropped"] >= 3


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_the_doctor(tmp_path):
    port = free_port()
    clock = iter(range(1000))
    (finding,) = examine(Options(f"127.0.0.1:{port}", 3.0), lambda: float(next(clock)))
    assert (finding.name, finding.verdict) == ("server", "problem")
    ends = Ends("donkeycar", tmp_path)
    host = Host(ends.plant, spec.ServeOptions(listen=f"127.0.0.1:{port}", pace="lockstep"))
    host.open(0.0)

    def idle():
        ends.now += 0.05
        host.tick(ends.now)
        return ends.now

    found = list(examine(Options(f"127.0.0.1:{port}", 3.0), idle))
    host.close()
    ends.close()
    assert [(f.name, f.verdict) for f in found] == [
        ("server", "ok"), ("scenes", "ok"), ("telemetry", "ok"), ("pictures", "ok")
    ]  # fmt: skip
    assert "160 x 120, 0 unreadable" in found[-1].found
