"""The embedded world behind the wire, as a process and in this one."""

import contextlib
import errno
import json
import os
import signal
import sys
import threading
from dataclasses import dataclass
from itertools import pairwise

import pytest
from helpers.processes import command, start_trailbrake
from helpers.waiting import wait_for

from trailbrake.cars.car_library import load_car
from trailbrake.driving import serve as serving
from trailbrake.driving.options import WorldOptions
from trailbrake.driving.session.embedded_worlds import build_world, load_traffic_drivers, settle_world
from trailbrake.errors import SimulatorError, UsageError
from trailbrake.sims.assetto import codec, spec
from trailbrake.sims.assetto.spec import ServeOptions
from trailbrake.sims.registry import find
from trailbrake.state import CarState
from trailbrake.system import steady_clock
from trailbrake.tracks.track_library import load_track
from trailbrake.transport.shm import SharedMemory
from trailbrake.world.plant import World

SHORT = WorldOptions(track="kartwerk", car="hatchback", seconds=0.05, speed="max")
DRIVER = """
from trailbrake.state import Controls

class Driver:
    NEEDS = frozenset({"speed"})

    def reset(self, course):
        self.calls = 0

    def act(self, state, dt):
        self.calls += 1
        if self.calls > 2:
            raise RuntimeError("out of ideas")
        return Controls(throttle=3.0)
"""


def test_a_world_is_served_for_its_seconds(tmp_path, capsys):
    result = serving.serve_world(find("assetto"), SHORT, ServeOptions(cars=2), doors=str(tmp_path))
    assert (result["sim"], result["track"], result["car"], result["seed"]) == ("assetto", "kartwerk", "hatchback", 0)
    assert 0.05 <= result["seconds"] < 5.0
    assert result["loop"]["ticks"] >= 1  # how many, says the test of the rate
    assert {"messages_in", "messages_out", "bytes_in", "bytes_out", "rejected", "late"} <= set(result)
    ready = [line for line in capsys.readouterr().err.splitlines() if line.startswith("ready ")]
    assert [line.split(" (")[0] for line in ready] == ["ready assetto track=kartwerk car=hatchback cars=2 rate_hz=333"]


@pytest.mark.slow
def test_in_real_time_it_keeps_to_the_wire_s_rate(tmp_path):
    world = WorldOptions(track="kartwerk", seconds=0.6, speed="real")
    ticks = serving.serve_world(find("assetto"), world, ServeOptions(), doors=str(tmp_path))["loop"]["ticks"]
    assert ticks == pytest.approx(0.6 * spec.RATE_HZ, rel=0.2)


def test_a_view_is_attached_and_called_after_each_tick(tmp_path):
    class Page:
        def attach_world(self, about, plant, cars):
            self.about, self.cars, self.plant, self.updates = about, cars, plant, []
            return self

        def update(self, now):
            self.updates.append((now, self.plant.car_state(0).sequence))

    page = Page()
    result = serving.serve_world(find("assetto"), SHORT, ServeOptions(cars=2), doors=str(tmp_path), page=page)
    assert (page.about, page.cars) == ({"sim": "assetto", "track": "kartwerk", "car": "hatchback"}, 2)
    assert len(page.updates) == result["loop"]["ticks"]
    assert all(b[1] == a[1] + 1 for a, b in pairwise(page.updates))


def build_host(options, folder):
    return serving.build_host(
        find("assetto"), build_world(find("assetto"), settle_world(SHORT, "car"), options), options, str(folder)
    )


@pytest.mark.parametrize("cars", [0, -1])
def test_a_world_without_cars_is_refused(tmp_path, cars):
    with pytest.raises(UsageError, match="a world needs a car"):
        build_host(ServeOptions(cars=cars), tmp_path)


def test_laps_per_car_and_what_was_ignored_are_told(tmp_path):
    result = serving.serve_world(find("assetto"), SHORT, ServeOptions(cars=2, park=True), doors=str(tmp_path))
    assert result["laps"] == [[], []]
    assert result["ignored"] == []


class LapList:
    """A plant that only has laps."""

    def __init__(self):
        self.driven = []

    def laps(self, car):
        return list(self.driven) if car == 0 else []


def test_laps_before_a_restart_are_kept():
    plant = LapList()
    archive = serving.LapArchive(plant, 2)
    for laps in ([], ["a"], ["a", "b"], [], [], ["c"], []):
        plant.driven = laps
        archive.update()
    assert (archive.laps(0), archive.laps(1)) == (["a", "b", "c"], [])


@pytest.mark.slow
@pytest.mark.parametrize(("page", "factor"), [((0, 0, 0, 0, 4.0), 4.0), ((0, 0, 0, 9, 1.0), 0.25)])
def test_the_session_s_pace_is_kept_to(tmp_path, page, factor):
    """Time scale 4, and a sleep of 9 ms after each step of 3 ms."""
    (tmp_path / spec.SIM_STATE_V1).write_bytes(codec.encode_sim_v1(codec.SimState(*page)))
    world = WorldOptions(track="kartwerk", seconds=0.6, speed="real")
    ticks = serving.serve_world(find("assetto"), world, ServeOptions(classic=False), doors=str(tmp_path))["loop"][
        "ticks"
    ]
    # A busy machine makes fewer; a quarter or four times as many would be another pace.
    assert factor * 0.3 < ticks / (0.6 * spec.RATE_HZ) < factor * 1.2


def test_a_host_that_fails_closes_its_doors(tmp_path, monkeypatch):
    @dataclass
    class Host:
        closed: bool = False

        def open(self, now):
            pass

        def tick(self, now):
            raise OSError(errno.ENOSPC, "No space left on device")

        def read_counters(self):
            return {}

        def close(self):
            self.closed = True

    host = Host()
    monkeypatch.setattr(serving, "build_host", lambda *a: host)
    with pytest.raises(OSError, match="No space"):
        serving.serve_world(find("assetto"), SHORT, ServeOptions())
    assert host.closed


def test_a_second_host_in_one_place_is_refused(tmp_path):
    first = build_host(ServeOptions(), tmp_path)
    first.open(0.0)
    try:
        with pytest.raises(SimulatorError) as caught:
            serving.serve_world(find("assetto"), SHORT, ServeOptions(), doors=str(tmp_path))
        assert "\n" not in str(caught.value)
    finally:
        first.close()


@pytest.mark.slow
@pytest.mark.parametrize("ask", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_well_and_nothing_is_left(tmp_path, ask):
    with command("serve", "assetto", "--track=kartwerk", "--json", shm=tmp_path) as serve:
        serve.until("ready assetto ")
        assert list(tmp_path.iterdir())
        serve.process.send_signal(ask)
        assert serve.end() == 0
        assert serve.summary["track"] == "kartwerk"
        assert serve.summary["messages_out"] > 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_client_that_slows_the_time_down_does_not_hold_the_host(tmp_path):
    """The smallest time scale makes a tick last for 3 s, and a smaller one ended the host; SIGTERM acts within it."""
    with command("serve", "assetto", "--track=kartwerk", "--json", shm=tmp_path) as serve:
        serve.until("ready ")
        page = SharedMemory(tmp_path).create_page(spec.SIM_STATE_V1)
        page.write(codec.encode_sim_v1(codec.SimState(time_scale=1e-30)))
        serve.until("trailbrake: SimState: time_scale 1e-30 is out of range")
        serve.process.send_signal(signal.SIGTERM)
        assert serve.end() == 0
        page.close(remove=True)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_a_host_whose_lines_nobody_reads_serves_on(tmp_path):
    """`serve ... 2>&1 | less`: a full pipe once held the host at its next line."""
    memory = SharedMemory(tmp_path)
    with start_trailbrake("serve", "assetto", "--track=kartwerk", "--json", TRAILBRAKE_SHM=tmp_path) as serve:
        assert serve.stderr.readline().startswith("ready ")
        end = os.open(f"/proc/{serve.pid}/fd/2", os.O_WRONLY | os.O_NONBLOCK)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(end, b"x" * 4096)
        page = memory.create_page(spec.controls_name(0))
        page.write(codec.encode_controls(codec.CarControls(drs=1, clutch=1.0)))  # worth a line: the car has none
        car = wait_for(lambda: memory.open_page(spec.car_name(0)))
        first = codec.decode_packet_id(car.read(codec.CAR_SIZE))
        wait_for(lambda: codec.decode_packet_id(car.read(codec.CAR_SIZE)) > first + 100)
        os.close(end)
        serve.send_signal(signal.SIGTERM)
        assert json.loads(serve.stdout.read())["ignored"] == ["car 0: drs"]
        assert serve.wait(60.0) == 0
        page.close(remove=True)


class SlowHost:
    """A host whose next tick is an hour away, as a client wants it."""

    wall_period = 3600.0

    def __init__(self):
        self.ticks = 0

    def tick(self, now):
        self.ticks += 1


def test_a_stop_comes_before_a_tick_that_is_an_hour_away():
    host = SlowHost()
    loop = serving._ServeLoop(host, serving.LapArchive(LapList(), 0), period=0.003, real=True)
    threading.Timer(0.05, loop.request_stop).start()
    loop.run(steady_clock.now(), 0.0)
    loop.stopped = False
    loop.run(steady_clock.now(), 0.05)
    assert host.ticks == 0


def test_a_machine_that_was_suspended_finds_a_world_that_goes_on(monkeypatch):
    """The clock has jumped by 30 s: the world does not catch up, it goes on at its pace from where it was."""
    clock = 0.0

    def sleep_until(deadline):
        nonlocal clock
        clock = max(clock, deadline) + 1e-4
        return clock

    monkeypatch.setattr(steady_clock, "now", lambda: clock)
    monkeypatch.setattr(steady_clock, "sleep_until", sleep_until)
    times = []

    class Host:
        def tick(self, now):
            nonlocal clock
            times.append(now)
            if len(times) == 100:
                clock += 30.0

    loop = serving._ServeLoop(Host(), serving.LapArchive(LapList(), 0), period=0.01, real=True)
    loop.run(0.0, 32.0)
    assert loop.late == 1
    assert times[100] - times[99] > 29.0
    assert max(b - a for a, b in pairwise(times[100:])) < 0.02
    assert min(b - a for a, b in pairwise(times[100:])) > 0.005
    assert len(times) == pytest.approx(200, abs=3)


@pytest.mark.slow
def test_a_client_with_an_old_page_of_controls_and_one_who_scribbles_into_car0(tmp_path):
    """Strangers' bytes: the world goes on, whatever they write."""
    size = 64
    with command("serve", "assetto", "--track=kartwerk", "--json", shm=tmp_path) as serve:
        serve.until("ready ")
        memory = SharedMemory(tmp_path)
        page = memory.create_page(spec.controls_name(0), size=size)
        data = codec.encode_controls(codec.CarControls(gas=1.0))
        page.write((data + bytes(256))[:size])
        car = wait_for(lambda: memory.open_page(spec.car_name(0)))

        def packet_id():
            return codec.decode_packet_id(car.read(codec.PACKET_ID_SIZE))

        wait_for(lambda: packet_id() >= 50)
        car.write(b"\xff" * 512)
        wait_for(lambda: 50 < packet_id() < 10**6)
        page.write(codec.encode_controls(codec.CarControls(gas=float("nan")))[:size])
        start = packet_id()
        wait_for(lambda: packet_id() >= start + 50)
        page.close(remove=True)
        car.close()
        serve.process.send_signal(signal.SIGTERM)
        assert serve.end() == 0
        assert serve.summary["rejected"] >= 1
        (ready,) = [line for line in serve.said if line.startswith("ready ")]
        assert ready.startswith("ready assetto track=kartwerk car=gt3 cars=1 rate_hz=333")


def traffic(tmp_path, text=DRIVER, cars=2):
    (tmp_path / "driver.py").write_text(text)
    return load_traffic_drivers(
        str(tmp_path / "driver.py"), find("assetto"), World(load_track("kartwerk"), [load_car("kart")] * cars)
    )


def test_a_driver_that_raises_stops_its_car_and_is_said_once(tmp_path, capsys):
    first, second = traffic(tmp_path)
    state = CarState(time=1.0, speed=10.0)
    answers = [first(state, 0.003) for _ in range(5)]
    assert [answer.throttle for answer in answers] == [1.0, 1.0, 0.0, 0.0, 0.0]
    assert answers[-1].brake > 0.5
    assert second(state, 0.003).throttle == 1.0
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert said[0].startswith("trailbrake: car 0: the driver raised RuntimeError")


def test_a_driver_that_the_wire_cannot_feed_is_refused(tmp_path):
    with pytest.raises(UsageError, match="needs what assetto does not supply: image"):
        traffic(tmp_path, DRIVER.replace('"speed"', '"image"'))


def test_which_cars_have_traffic_drivers():
    settled = settle_world(WorldOptions(track="kartwerk", car="kart"), "car")
    world = build_world(find("assetto"), settled, spec.ServeOptions(cars=3))
    assert len(world.cars) == 3

    def choose(**options):
        return find("assetto").make_host(world, spec.ServeOptions(**options)).traffic_driver

    assert choose() == ""  # a single car waits for its client
    assert choose(cars=4) == "convoy"
    assert choose(cars=4, park=True) == ""
    assert choose(cars=2, driver="line_follow") == "line_follow"
