"""What the bench measures with: its marks on the throttle, its world, its stranger, its driver."""

import struct
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.bench import assetto
from trailbrake.bench.assetto import CRUISE, PidDriver, RoundTripWorld, decode_sequence, encode_sequence
from trailbrake.cars.car_library import load_car
from trailbrake.planning.course import Course
from trailbrake.sims.assetto import codec
from trailbrake.state import Controls
from trailbrake.system import steady_clock
from trailbrake.tracks.track_library import load_track


@given(st.floats(0.0, 1.0), st.integers(0, 10**6))
def test_a_throttle_carries_its_number_over_the_wire(throttle, sequence):
    marked = encode_sequence(throttle, sequence)
    assert 0.0 <= marked <= 1.0
    assert abs(marked - throttle) < 0.035
    wired = struct.unpack("<f", struct.pack("<f", marked))[0]
    assert decode_sequence(wired) == sequence % 500


def timed(track, car, behind=0):
    """A world whose client took the car after so many steps."""
    world = RoundTripWorld(track, [car], published_packet_id=lambda: world._sequence - behind)
    return world


@given(st.integers(0, 100))
def test_a_throttle_that_nobody_marked_has_no_number(percent):
    assert decode_sequence(percent / 100.0) == -1


@pytest.mark.slow
@pytest.mark.parametrize("behind", [0, 25])
def test_a_trip_is_from_the_state_to_the_step_that_has_its_answer(monkeypatch, behind):
    clock = [10.0]
    monkeypatch.setattr(steady_clock, "now", lambda: clock[0])
    world = timed(load_track("kartwerk"), load_car("kart"), behind)
    for _ in range(behind + 1):  # nobody's answers
        world.step([Controls(brake=1.0)])
    state = world.car_state(0)
    clock[0] += 0.004
    world.step([Controls(brake=1.0)])
    assert world.round_trips.count == 0
    for _ in range(3):  # the answer, and then the same one again
        clock[0] += 0.003
        world.step([Controls(throttle=encode_sequence(0.5, state.sequence - behind))])
    assert world.round_trips.count == 1
    assert world.round_trips.percentile(0.5) == pytest.approx(0.007, rel=0.02)


def test_the_bench_s_driver_drives():
    course = Course(load_track("hartmoor"), load_car("gt3"))
    driver, world = PidDriver(), timed(course.track, course.known_car())
    driver.reset(course)
    for _ in range(3 * 333):
        world.step([driver.act(world.car_state(0), world.period)])
    state = world.car_state(0)
    assert state.speed == pytest.approx(CRUISE, rel=0.3)
    assert all(wheel.on_track == 1.0 for wheel in state.wheels)
    assert world.round_trips.count == 3 * 333


def page(packet_id, lap_ms, speed):
    return codec.encode_car(codec.CarData(packet_id=packet_id, lap_time_ms=lap_ms, velocity=(speed, 0.0, 0.0),
                                          local_velocity=(0.0, 0.0, speed)))  # fmt: skip


def test_a_page_of_two_pieces_is_found():
    old, new = page(1000, 3003, 10.0), page(1001, 3006, 10.1)
    _, first = assetto.check_page_copy(page(1, 3, 0.0), None)
    assert assetto.check_page_copy(old, first)[0] == ""
    assert assetto.check_page_copy(new, first)[0] == ""
    assert assetto.check_page_copy(old[:4] + new[4:], first)[0] == "early"  # packet_id was still to come
    for cut in (60, 300):  # what a reader would see in the middle of a copy, from either end
        assert assetto.check_page_copy(new[:cut] + old[cut:], first)[0] == "torn"
    assert assetto.check_page_copy(old[:60] + new[60:], first)[0] == "torn"
    assert assetto.check_page_copy(page(1000, 3009, 10.0), first)[0] == "torn"


def test_the_stranger_takes_samples(tmp_path):
    class Pipe:
        def send(self, what):
            self.what = what

    pipe = Pipe()
    (tmp_path / f"{assetto._PREFIX}Car0.v0").write_bytes(page(5, 15, 1.0).ljust(4096, b"\0"))
    began = time.perf_counter()
    assetto._run_client(tmp_path, 0, 0.02, pipe)
    assert time.perf_counter() - began >= 0.02
    assert pipe.what == (1, 0, 0, 0, 0)
