"""Samples of our host's cars: torn, lost, late and none, on a clock of the test's own."""

import subprocess
import sys
from types import SimpleNamespace

import pytest

from trailbrake.errors import SimulatorError
from trailbrake.roles import LinkCounters
from trailbrake.sims.assetto import codec, spec
from trailbrake.sims.assetto.link import Link
from trailbrake.sims.assetto.wire.car_sampler import CarSampler
from trailbrake.state import Controls, Phase
from trailbrake.transport.shm import SharedMemory

on_linux = pytest.mark.skipif(sys.platform == "win32", reason="a page is a file there")


def test_silence_is_lost_by_the_clock_that_is_passed_in(session):
    link = session.connect()
    state = session.drive(link, Controls(throttle=1.0), 10)
    then = session.now
    assert link.read(then + 0.25).phase is Phase.DRIVING
    late = link.read(then + 0.26)
    assert late.phase is Phase.LOST
    assert late.age == pytest.approx(0.26)
    assert (late.sequence, late.x) == (state.sequence, state.x)
    assert link.read(then + 0.5).phase is Phase.LOST
    assert link.counters.stale == 1
    session.tick()
    assert link.read(then + 0.6).phase is Phase.DRIVING
    assert link.read(then + 0.9).phase is Phase.LOST
    assert link.counters.stale == 2


def test_missed_samples_are_counted(session):
    link = session.connect()
    session.drive(link, Controls(), 10)
    session.tick(5)
    link.read(session.now)
    assert link.counters.lost == 4


def test_a_clock_that_jumps_by_an_hour_loses_no_samples(tmp_path):
    """A packet_id an hour ahead, and back: two resyncs, and no million of lost samples."""
    memory, counters = SharedMemory(tmp_path), LinkCounters()
    page = memory.create_page(spec.car_name(0))
    sampler = CarSampler(memory, 0, False, counters)
    sampler.read_state(0.0)
    hour = 3600 * 333
    for k, packet_id in enumerate((1, 2, 4, hour, hour + 1, 5, 6)):
        page.write(codec.encode_car(codec.CarData(packet_id=packet_id)))
        sampler.read_state(0.1 * k)
    assert (counters.lost, counters.resyncs) == (1, 2)
    sampler.close()
    page.close()


class ScribbledPage:
    """A page whose writer is in the middle of it for the next `times` reads."""

    def __init__(self, page):
        self.page, self.times = page, 0

    def read(self, size, offset=0):
        data = self.page.read(size, offset)
        if size == codec.CAR_SIZE and self.times:
            self.times -= 1
            return int.to_bytes(1000 + self.times, 4, "little") + data[4:]
        return data

    def close(self):
        self.page.close()


@pytest.mark.parametrize(("times", "torn"), [(1, 0), (2, 0), (3, 0), (9, 1)])
def test_torn_reads_are_tried_again_three_times(session, times, torn):
    session.drive(session.connect(), Controls(), 2)
    memory = SharedMemory(session.doors)
    page = ScribbledPage(memory.open_page(spec.car_name(0), mapped=session.doors is not None))
    counters = LinkCounters()
    sampler = CarSampler(SimpleNamespace(open_page=lambda name, mapped: page), 0, False, counters)
    sampler.read_state(session.now)
    session.tick()
    page.times = times
    state = sampler.read_state(session.now)
    assert counters.torn == torn
    assert (state.sequence < 1000) == (not torn)
    sampler.close()


@on_linux
def test_a_car_page_cut_short_is_no_sample(tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_SHM", str(tmp_path))
    (tmp_path / spec.car_name(0)).write_bytes(codec.encode_car(codec.CarData(packet_id=5)))
    link = Link()
    link.open(0.0)
    link.read(0.0)
    page = tmp_path / spec.car_name(0)
    page.write_bytes(codec.encode_car(codec.CarData(packet_id=6))[:100])
    assert link.read(0.1).sequence == -1
    assert link.counters.torn == 1
    page.write_bytes(codec.encode_car(codec.CarData(packet_id=7)))
    assert link.read(0.2).sequence == 7
    link.close()
    link.close()  # twice does no harm
    with pytest.raises(SimulatorError, match="the link is not open"):
        link.write(Controls())


def test_a_host_that_comes_back_is_found_again(session):
    link = session.connect()
    session.drive(link, Controls(throttle=1.0), 50)
    session.host.close()  # removes its pages
    session.now += 0.3
    assert link.read(session.now).phase is Phase.LOST
    session.start_host()
    session.tick(2)
    state = link.read(session.now)
    assert state.phase is Phase.DRIVING
    assert state.sequence <= 2
    assert link.counters.resyncs == 1
    assert session.drive(link, Controls(throttle=1.0), 20).phase is Phase.DRIVING


HOST = """
import sys
from types import SimpleNamespace
from trailbrake.cars.car_library import load_car
from trailbrake.sims.assetto.host import Host
from trailbrake.sims.assetto.spec import ServeOptions
from trailbrake.roles import LinkCounters
from trailbrake.sims.assetto.wire.car_sampler import CarSampler
from trailbrake.state import CarState
from trailbrake.tracks.track_library import load_track
still = CarState(x=1.0, y=2.0, z=0.0, yaw=0.0, pitch=0.0, roll=0.0, speed=0.0, velocity_x=0.0, velocity_y=0.0,
                 velocity_z=0.0, gear=1)
plant = SimpleNamespace(period=1 / 333, track=load_track("kartwerk"), cars=[load_car("gt3")], car_state=lambda i: still,
                        step=lambda c: None)
host = Host(plant, ServeOptions(classic=False), doors=sys.argv[1])
host.open(0.0)
for line in sys.stdin:
    host.tick(0.0)
    print("ticked", flush=True)
"""


@pytest.mark.slow
def test_a_killed_host(tmp_path):
    def start():
        pipe = subprocess.PIPE
        return subprocess.Popen([sys.executable, "-c", HOST, str(tmp_path)], stdin=pipe, stdout=pipe, bufsize=0)

    def tick(child):
        child.stdin.write(b"\n")
        assert child.stdout.readline().split() == [b"ticked"]

    now = 0.0

    def idle():
        nonlocal now
        now += 0.003
        tick(child)
        return now

    link = Link(spec.LiveOptions(wait=1.0), doors=tmp_path, idle=idle)
    with start() as child:
        link.open(now)
        assert link.read(now).phase is Phase.DRIVING
        child.kill()
    assert link.read(now + 0.3).phase is Phase.LOST  # the page of the dead reads fine, and stands
    now += 1.0
    with start() as child:  # a killed host's names are free again
        for _ in range(3):
            tick(child)
        state = link.read(now)
        assert (state.phase, state.sequence, state.x) == (Phase.DRIVING, 3, 1.0)
        child.stdin.close()
    link.close()
