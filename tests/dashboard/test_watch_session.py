"""A car that is watched over the real wire while somebody else drives."""

import threading
from contextlib import contextmanager

import numpy as np
import pytest
from helpers.compared_drives import record_laps
from helpers.ports import free_udp_port
from helpers.synthetic_drives import place

from trailbrake.analysis.comparison import DriveChoice
from trailbrake.coaching.coach_session import coach_laps
from trailbrake.coaching.coached_sessions import keep_session
from trailbrake.coaching.options import CoachOptions
from trailbrake.dashboard.coach_choice import NO_RESULT
from trailbrake.dashboard.options import WatchOptions
from trailbrake.dashboard.watch_session import follow_laps, watch_simulator
from trailbrake.driving.session.progress import MessagePrinter, SilentListener
from trailbrake.errors import SimulatorError, UsageError
from trailbrake.record.recording_reader import Recording
from trailbrake.sims.forza import codec, spec
from trailbrake.sims.forza.codec import Dash, HorizonBlock, Packet, Sled
from trailbrake.sims.registry import find
from trailbrake.state import CarState, Controls
from trailbrake.tracks.track_library import load_track
from trailbrake.transport.udp import UdpSocket


@contextmanager
def sending(make_packet):
    """Send packets, make_packet(0) first, to a free port until left; that port."""
    sender, port = UdpSocket(), free_udp_port()
    stop = threading.Event()

    def send():
        for k in range(4000):
            if stop.is_set():
                return
            sender.send(codec.encode_packet(make_packet(k)), ("127.0.0.1", port))
            stop.wait(0.004)

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield port
    finally:
        stop.set()
        thread.join()
        sender.close()


@pytest.mark.slow
def test_a_live_car_is_watched():
    def make_packet(k):
        dash = Dash(position_x=0.0, position_z=0.5 * k, speed=20.0, cur_race_time=k / 60.0)
        return Packet(Sled(is_race_on=1, timestamp_ms=k * 16, velocity_z=20.0), HorizonBlock(), dash)

    said = []
    with sending(make_packet) as port:
        live = spec.LiveOptions(listen=f"127.0.0.1:{port}")
        options = WatchOptions(sim="forza", port=0, seconds=1.0, track="serpent_pass", signals=("forza.*",))
        result = watch_simulator(find("forza"), options, live, MessagePrinter(said.append))
    assert result["samples"] > 20
    assert result["points"] > 5
    assert said[0] == f"the page is at {result['page']}"


def test_the_seconds_count_from_the_call_also_where_nothing_arrives():
    live = spec.LiveOptions(listen=f"127.0.0.1:{free_udp_port()}", wait=5.0)
    options = WatchOptions(sim="forza", port=0, seconds=0.05)
    with pytest.raises(SimulatorError, match=r"--seconds 0.05: the simulator sends nothing"):
        watch_simulator(find("forza"), options, live, SilentListener())


def test_a_lap_that_leaves_the_road_or_is_rewound_is_not_valid():
    road = load_track("kartwerk").road
    laps = []
    monitor = follow_laps(road, laps.append)
    time, speed = 0.0, 30.0

    def drive(start, until, offset=0.0, lap=1):
        nonlocal time
        for s in np.arange(start, until, speed / 30.0):
            x, y, z, yaw = road.points([s], offset)[0]
            time += 1 / 30
            state = CarState(time=time, x=x, y=y, z=z, yaw=yaw, speed=speed, lap=lap, lap_time=s / speed)
            monitor.tick(state, Controls())

    drive(0.0, road.length)
    drive(0.0, road.length, offset=12.0, lap=2)
    drive(0.0, 400.0, lap=3)
    drive(300.0, road.length, lap=3)  # the game was set back by 100 m
    drive(0.0, road.length, lap=4)
    drive(0.0, 30.0, lap=5)
    assert [(lap.valid, lap.invalid_reason) for lap in laps] == [
        (True, ""), (False, "more than two wheels off the road"), (False, "rewound"), (True, "")
    ]  # fmt: skip


@pytest.mark.slow
def test_a_person_is_coached_by_the_kept_session_of_this_road(tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_RECORDINGS", str(tmp_path / "recordings"))
    path, _ = record_laps(tmp_path / "a.mcap", laps=3, started="2026-11-20T18:00:00+0000")
    drives = [DriveChoice(Recording.open(path), "me")]
    keep_session(coach_laps(drives, CoachOptions(limit=False, car="f1")))
    assert watch_a_while(place(10.0)) == ["coached by the session 2026-11-20T18:00:00"]
    assert watch_a_while((5000.0, 5000.0, 0.0)) == [NO_RESULT]
    with pytest.raises(UsageError, match="1999: no such coached session"):
        watch_simulator(find("forza"), WatchOptions(coach=("1999",)), None, SilentListener())
    with pytest.raises(UsageError, match="by one session"):
        watch_simulator(find("forza"), WatchOptions(coach=("1", "2")), None, SilentListener())


def watch_a_while(at):
    """Watch a car that stands at x, y with a coach; return what is said after the page's address."""
    said = []
    dash = Dash(position_x=-at[1], position_z=at[0], speed=0.0, cur_race_time=1.0)
    with sending(lambda k: Packet(Sled(is_race_on=1, timestamp_ms=k * 16), HorizonBlock(), dash)) as port:
        options = WatchOptions(sim="forza", port=0, seconds=0.5, coach=())
        watch_simulator(
            find("forza"), options, spec.LiveOptions(listen=f"127.0.0.1:{port}"), MessagePrinter(said.append)
        )
    return said[1:]


def test_a_signal_that_the_simulator_has_not_is_refused():
    with pytest.raises(UsageError, match="--signals"):
        watch_simulator(find("forza"), WatchOptions(signals=("forza.nope",)), None, SilentListener())


def test_a_simulator_whose_link_takes_the_car_is_not_watched():
    with pytest.raises(UsageError, match="donkeycar cannot be watched without taking the car"):
        watch_simulator(find("donkeycar"), WatchOptions(sim="donkeycar"), None, SilentListener())
