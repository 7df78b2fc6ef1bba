"""The live page: what it is served, and a car that is watched over the real wire."""

import json
import threading
import urllib.error
import urllib.request

import pytest

from trailbrake.errors import SimulatorError, UsageError
from trailbrake.run.live_map import LiveMap, watch
from trailbrake.run.options import WatchOptions
from trailbrake.sims.forza import codec, spec
from trailbrake.sims.forza.codec import Dash, Gap, Packet, Sled
from trailbrake.state import CarState, Controls
from trailbrake.transport.udp import Udp


@pytest.fixture
def page():
    made = LiveMap()
    yield made
    made.close()


def get(url):
    with urllib.request.urlopen(url, timeout=20) as answer:
        return answer.read()


def test_the_page_is_there_and_nothing_else(page):
    text = get(page.url).decode()
    assert "<canvas" in text
    assert "http" not in text  # it needs no network
    with pytest.raises(urllib.error.HTTPError) as caught:
        get(page.url + "../etc")
    assert caught.value.code == 404
    caught.value.close()


def test_points_come_a_metre_apart_and_once(page):
    page.start({"sim": "forza"})
    for k in range(100):
        page.tick(CarState(x=0.25 * k, y=1.0, speed=10.0 + k), Controls())
    page.tick(CarState(), Controls())  # nothing known: no point
    first = json.loads(get(page.url + "points?since=0"))
    assert first["about"] == {"sim": "forza"}
    assert first["points"][:2] == [[0.0, 1.0, 10.0], [1.0, 1.0, 14.0]]
    assert len(first["points"]) == 25
    later = json.loads(get(page.url + "points?since=23"))
    assert later["points"] == first["points"][23:]
    assert json.loads(get(page.url + "points?since=x"))["first"] == 0


def test_a_taken_port_is_said(page):
    with pytest.raises(SimulatorError, match="cannot serve the page"):
        LiveMap(int(page.url.rstrip("/").rsplit(":", 1)[1]))


@pytest.mark.slow
def test_a_live_car_is_watched():
    sender, probe = Udp(), Udp()
    port = probe.port
    probe.close()
    stop = threading.Event()

    def send():
        for k in range(4000):
            if stop.is_set():
                return
            dash = Dash(position_x=0.0, position_z=0.5 * k, speed=20.0, cur_race_time=k / 60.0)
            packet = Packet(Sled(is_race_on=1, timestamp_ms=k * 16, velocity_z=20.0), Gap(), dash)
            sender.send(codec.encode(packet), ("127.0.0.1", port))
            stop.wait(0.004)

    thread = threading.Thread(target=send)
    thread.start()
    try:
        live = spec.LiveOptions(listen=f"127.0.0.1:{port}")
        result = watch(WatchOptions(sim="forza", port=0, seconds=1.0), live, lambda text: None)
    finally:
        stop.set()
        thread.join()
        sender.close()
    assert result["samples"] > 20
    assert result["points"] > 10


def test_a_simulator_whose_link_takes_the_car_is_not_watched():
    with pytest.raises(UsageError, match="assetto cannot be watched without taking the car"):
        watch(WatchOptions(sim="assetto"), None, lambda text: None)
