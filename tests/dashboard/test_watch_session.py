"""A car that is watched over the real wire while somebody else drives."""

import threading

import pytest

from trailbrake.dashboard.options import WatchOptions
from trailbrake.dashboard.watch_session import watch_simulator
from trailbrake.driving.session.progress import MessagePrinter, SilentListener
from trailbrake.errors import UsageError
from trailbrake.sims.forza import codec, spec
from trailbrake.sims.forza.codec import Dash, HorizonBlock, Packet, Sled
from trailbrake.sims.registry import find
from trailbrake.transport.udp import UdpSocket


@pytest.mark.slow
def test_a_live_car_is_watched():
    sender, probe = UdpSocket(), UdpSocket()
    port = probe.port
    probe.close()
    stop = threading.Event()

    def send():
        for k in range(4000):
            if stop.is_set():
                return
            dash = Dash(position_x=0.0, position_z=0.5 * k, speed=20.0, cur_race_time=k / 60.0)
            packet = Packet(Sled(is_race_on=1, timestamp_ms=k * 16, velocity_z=20.0), HorizonBlock(), dash)
            sender.send(codec.encode_packet(packet), ("127.0.0.1", port))
            stop.wait(0.004)

    thread = threading.Thread(target=send)
    thread.start()
    said = []
    try:
        live = spec.LiveOptions(listen=f"127.0.0.1:{port}")
        options = WatchOptions(sim="forza", port=0, seconds=1.0, track="serpent_pass", signals=("forza.*",))
        result = watch_simulator(find("forza"), options, live, MessagePrinter(said.append))
    finally:
        stop.set()
        thread.join()
        sender.close()
    assert result["samples"] > 20
    assert result["points"] > 5
    assert said[0] == f"the page is at {result['page']}"


def test_a_signal_that_the_simulator_has_not_is_refused():
    with pytest.raises(UsageError, match="--signals"):
        watch_simulator(find("forza"), WatchOptions(signals=("forza.nope",)), None, SilentListener())


def test_a_simulator_whose_link_takes_the_car_is_not_watched():
    with pytest.raises(UsageError, match="udacity cannot be watched without taking the car"):
        watch_simulator(find("udacity"), WatchOptions(sim="udacity"), None, SilentListener())
