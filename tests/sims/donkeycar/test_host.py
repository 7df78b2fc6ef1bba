"""The host of donkeycar in front of clients that are not ours."""

import contextlib
import json
import socket

import pytest
from helpers.event_pairs import Ends
from helpers.gym_donkeycar_client import GymDonkeycarClient

from trailbrake.sims import registry
from trailbrake.sims.donkeycar.host import _IDLE_AFTER_S
from trailbrake.state import Controls
from trailbrake.transport import tcp
from trailbrake.transport.client_notices import MOST_DETAILS
from trailbrake.transport.tcp import MAX_PENDING


def test_lockstep_repeats_to_the_bit(tmp_path):
    def once(folder):
        folder.mkdir()
        made = Ends("donkeycar", folder)
        made.link.open(0.0)
        states = made.drive(40, Controls(steer=0.1, throttle=0.6))
        made.close()
        return [(s.time, s.x, s.y, s.image.data) for s in states]

    assert once(tmp_path / "a") == once(tmp_path / "b")


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
    assert stranger.hear("scene_names")["scene_names"][:2] == ["lakeside", "generated_road"]
    assert (host.read_counters()["rejected"], host.read_counters()["ignored"]) == (6, 1)
    said = capfd.readouterr().err
    assert said.count("a message that cannot be read") == MOST_DETAILS
    assert "got moon" in said
    stranger.socket.sendall(b'{"msg_type":"load_scene","scene_name":"lakeside"}\n')
    stranger.hear("car_loaded")
    assert stranger.hear("telemetry")["hit"] == "none"
    stranger.socket.sendall(b'{"msg_type":"exit_scene"}\n')
    stranger.hear("scene_selection_ready")


def test_a_second_client_is_refused_and_a_new_one_may_come_when_the_first_has_left(stranger):
    host = stranger.ends.host
    stranger.hear("scene_selection_ready")
    stranger.socket.sendall(b'{"msg_type":"get_scene_names"}')
    stranger.hear("scene_names")
    with socket.create_connection(("127.0.0.1", host.port)) as second:
        stranger.ends.tick()
        assert second.recv(10) == b""
    assert host.read_counters()["refused"] == 1
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
    assert stranger.ends.host.read_counters()["dropped"] >= 3


class GymPair:
    """A host and a client with the habits of gym-donkeycar; `wait(ticks)` lets both live for a while."""

    def __init__(self, folder, level, pace="real"):
        self.ends = Ends("donkeycar", folder, pace=pace)
        self.client = GymDonkeycarClient(self.ends.host.port, level)

    def wait(self, ticks=20):
        for _ in range(ticks):
            self.ends.tick()
            self.client.receive()

    def close(self):
        self.client.close()
        self.ends.close()


@pytest.fixture(params=["real", "lockstep"])
def gym_pair(request, tmp_path):
    made = GymPair(tmp_path, "warehouse", request.param)
    yield made
    made.close()


def test_a_client_that_sends_bare_json_and_a_standard_scene_s_name_drives(gym_pair, capfd):
    ends, client = gym_pair.ends, gym_pair.client
    gym_pair.wait()
    assert client.loaded
    client.reset(gym_pair.wait)
    gym_pair.wait(2)
    for _ in range(40):
        client.drive_by_line()
        gym_pair.wait(1)
    assert client.telemetry["speed"] > 1.0
    counts = ends.host.read_counters()
    assert (counts["rejected"], counts["ignored"], counts["clients"]) == (0, 0, 1)
    assert ends.plant.car_state(0).image.pixels.shape == (60, 80, 3)  # several messages came in one packet
    assert capfd.readouterr().err == "donkeycar: the scene warehouse is shown as the track lakeside\n"


def test_the_first_lap_after_a_reset_counts_from_where_the_car_rolls_over_the_line(gym_pair):
    client = gym_pair.client
    gym_pair.wait()
    for _ in range(2):  # the second time after a reset in the middle of a lap
        client.reset(gym_pair.wait)
        gym_pair.wait(5)
        assert (client.lap_started, client.lap_times) == (0.0, [])  # it stands on the line
        for _ in range(30):
            client.drive_by_line()
            gym_pair.wait(1)
        assert client.lap_started == pytest.approx(client.telemetry["time"] - 1.2, abs=0.8)
        assert client.lap_times == []


def test_a_scene_that_no_simulator_has_is_refused_with_the_list(tmp_path, capfd):
    pair = GymPair(tmp_path, "moon")
    with pytest.raises(ValueError, match="moon not in scene list"):
        pair.wait()
    pair.client.send({"msg_type": "load_scene", "scene_name": "moon"})
    pair.ends.tick()
    assert "scene_name: no such scene, expected one of lakeside, generated_road, " in capfd.readouterr().err
    pair.close()


def test_bytes_that_never_become_a_message_are_named(stranger, capfd):
    stranger.hear("scene_selection_ready")
    stranger.socket.sendall(b'{"msg_type": "get_scene_names"')
    for _ in range(30):  # 1.5 s
        stranger.ends.tick()
    port = stranger.socket.getsockname()[1]
    assert capfd.readouterr().err == f"donkeycar: 30 bytes without the end of a message from 127.0.0.1:{port}\n"


def test_hundreds_of_connections_do_not_keep_a_client_out(tmp_path):
    ends = Ends("donkeycar", tmp_path, pace="real")
    with contextlib.ExitStack() as stack:
        stack.callback(ends.close)
        for number in range(700):
            stack.enter_context(socket.create_connection(("127.0.0.1", ends.host.port)))
            if number % 20 == 19:
                ends.tick()
        late = Stranger(ends)
        stack.callback(late.close)
        late.hear("scene_selection_ready")
        late.socket.sendall(b'{"msg_type":"get_scene_names"}')
        assert late.hear("scene_names")
        assert ends.host.read_counters()["clients"] == 1  # those that are silent hold no place
        assert len(ends.host._pending.channels) <= MAX_PENDING


def test_a_client_that_says_nothing_for_long_gives_way_to_another(stranger, capfd):
    stranger.hear("scene_selection_ready")
    stranger.socket.sendall(b'{"msg_type":"load_scene","scene_name":"lakeside"}')
    stranger.hear("telemetry")
    stranger.ends.now += _IDLE_AFTER_S + 1.0
    second = Stranger(stranger.ends)
    second.hear("scene_selection_ready")
    stranger.ends.tick()
    assert stranger.ends.host.read_counters()["clients"] == 1  # it has said nothing either
    second.socket.sendall(b'{"msg_type":"get_scene_names"}')
    second.hear("scene_names")
    second.close()
    assert stranger.ends.host.read_counters()["clients"] == 2
    assert "silent for 30 s: another client takes the place" in capfd.readouterr().err


def test_a_page_of_a_browser_drives_nothing(tmp_path, capfd):
    ends = Ends("donkeycar", tmp_path, pace="real")
    with contextlib.closing(ends), socket.create_connection(("127.0.0.1", ends.host.port)) as page:
        page.settimeout(5.0)
        body = b'{"msg_type":"load_scene","scene_name":"lakeside"}{"msg_type":"control","throttle":"1","steering":"0"}'
        page.sendall(b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://evil.example\r\n\r\n" + body)
        for _ in range(5):
            ends.tick()
        assert ends.host.read_counters()["clients"] == 0
        assert any(page.recv(1000) == b"" for _ in range(100))  # hung up on


def test_a_client_that_asks_without_end_and_never_reads_is_hung_up_on(stranger, capfd, monkeypatch):
    monkeypatch.setattr(tcp, "MAX_UNSENT", 100_000)
    stranger.hear("scene_selection_ready")
    with contextlib.suppress(OSError):
        for _ in range(3000):
            stranger.socket.sendall(b'{"msg_type":"get_scene_names"}' * 20)
            stranger.ends.tick()
            if stranger.ends.host._channel is None:
                break
    assert "the other end does not read" in capfd.readouterr().err


def test_a_caller_hears_of_the_scenes_a_little_later_and_again_while_it_is_silent(tmp_path, capfd):
    """gym-donkeycar hangs if the first message comes before it reads. While it is connected nobody has to call."""
    own = Ends("donkeycar", tmp_path)
    own.host.close()
    simulator = registry.find("donkeycar")
    host = simulator.make_host(own.plant, simulator.serve_options(listen="127.0.0.1:0"), doors=None)
    host.open(0.0)
    with contextlib.closing(host), socket.create_connection(("127.0.0.1", host.port)) as caller:
        caller.setblocking(False)

        def hear(now):
            for _ in range(20):  # the system may take its time with what this machine sends itself
                host.tick(now)
            try:
                return caller.recv(1 << 16).count(b"scene_selection_ready")
            except BlockingIOError:
                return 0

        assert [hear(now) for now in (0.0, 0.04, 0.06, 0.5, 1.07, 2.08)] == [0, 0, 1, 0, 1, 1]
        caller.sendall(b'{"msg_type":"get_scene_names"}')
        assert [hear(now) for now in (3.2, 9.0)] == [0, 0]
    assert "no client has called" not in capfd.readouterr().err
