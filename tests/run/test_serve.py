"""The embedded world behind the wire, as a process and in this one."""

import errno
import signal
from dataclasses import dataclass

import pytest
from processes import command

from trailbrake.errors import SimulatorError, UsageError
from trailbrake.run import serve as serving
from trailbrake.run.options import WorldOptions
from trailbrake.sims.assetto import codec, spec
from trailbrake.sims.assetto.spec import ServeOptions
from trailbrake.transport.shm import SharedMemory

SHORT = WorldOptions(track="kartwerk", car="hatchback", seconds=0.05, speed="max")


def test_a_world_is_served_for_its_seconds(tmp_path, capsys):
    result = serving.serve("assetto", SHORT, ServeOptions(cars=2), doors=str(tmp_path))
    assert (result["sim"], result["track"], result["car"], result["seed"]) == ("assetto", "kartwerk", "hatchback", 0)
    assert 0.05 <= result["seconds"] < 5.0
    assert result["loop"]["ticks"] > 10
    assert {"messages_in", "messages_out", "bytes_in", "bytes_out", "rejected", "late"} <= set(result)
    ready = [line for line in capsys.readouterr().err.splitlines() if line.startswith("ready ")]
    assert ready == ["ready assetto track=kartwerk car=hatchback cars=2 rate_hz=333"]


def test_in_real_time_it_keeps_to_the_wire_s_rate(tmp_path):
    world = WorldOptions(track="kartwerk", seconds=0.6, speed="real")
    ticks = serving.serve("assetto", world, ServeOptions(), doors=str(tmp_path))["loop"]["ticks"]
    assert ticks == pytest.approx(0.6 * spec.RATE_HZ, rel=0.2)


@pytest.mark.parametrize("cars", [0, -1])
def test_a_world_without_cars_is_refused(tmp_path, cars):
    with pytest.raises(UsageError, match="a world needs a car"):
        serving.build_host("assetto", SHORT, ServeOptions(cars=cars), str(tmp_path))


def test_laps_per_car_and_what_was_ignored_are_told(tmp_path):
    result = serving.serve("assetto", SHORT, ServeOptions(cars=2, park=True), doors=str(tmp_path))
    assert result["laps"] == [[], []]
    assert result["ignored"] == []


@pytest.mark.parametrize(("page", "factor"), [((0, 0, 0, 0, 4.0), 4.0), ((0, 0, 0, 9, 1.0), 0.25)])
def test_the_session_s_pace_is_kept_to(tmp_path, page, factor):
    """Time scale 4, and a sleep of 9 ms after each step of 3 ms."""
    (tmp_path / spec.SIM_STATE_V1).write_bytes(codec.encode_sim_v1(codec.SimState(*page)))
    world = WorldOptions(track="kartwerk", seconds=0.6, speed="real")
    ticks = serving.serve("assetto", world, ServeOptions(classic=False), doors=str(tmp_path))["loop"]["ticks"]
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

        def counters(self):
            return {}

        def close(self):
            self.closed = True

    host = Host()
    monkeypatch.setattr(serving, "build_host", lambda *a: host)
    with pytest.raises(OSError, match="No space"):
        serving.serve("assetto", SHORT, ServeOptions())
    assert host.closed


def test_a_second_host_in_one_place_is_refused(tmp_path):
    first = serving.build_host("assetto", SHORT, ServeOptions(), str(tmp_path))
    first.open(0.0)
    try:
        with pytest.raises(SimulatorError) as caught:
            serving.serve("assetto", SHORT, ServeOptions(), doors=str(tmp_path))
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
def test_a_second_serve_is_refused_in_one_line(tmp_path):
    with command("serve", "assetto", "--track=kartwerk", shm=tmp_path) as first:
        first.until("ready ")
        with command("serve", "assetto", "--track=kartwerk", shm=tmp_path) as second:
            assert second.end() == 2
            assert second.out == ""
            (line,) = second.said
            assert line.startswith("trailbrake: ")
        first.process.send_signal(signal.SIGTERM)
        assert first.end() == 0


@pytest.mark.slow
@pytest.mark.parametrize("size", [64, 68, 76, 256])
def test_a_client_with_controls_of_any_size_and_one_who_scribbles_into_car0(tmp_path, size):
    """Strangers' bytes: the world goes on, whatever they write."""
    with command("serve", "assetto", "--track=kartwerk", "--json", shm=tmp_path) as serve:
        serve.until("ready ")
        memory = SharedMemory(tmp_path)
        page = memory.create(spec.controls_name(0), size=size)
        data = codec.encode_controls(codec.CarControls(gas=1.0))
        page.write((data + bytes(256))[:size])
        car = None
        while car is None or codec.decode_packet_id(car.read(codec.PACKET_ID_SIZE)) < 50:
            car = car or memory.open(spec.car_name(0))
        car.write(b"\xff" * 512)
        while not 50 < codec.decode_packet_id(car.read(codec.PACKET_ID_SIZE)) < 10**6:
            pass
        page.write(codec.encode_controls(codec.CarControls(gas=float("nan")))[:size])
        start = codec.decode_packet_id(car.read(codec.PACKET_ID_SIZE))
        while codec.decode_packet_id(car.read(codec.PACKET_ID_SIZE)) < start + 50:
            pass
        page.close(remove=True)
        car.close()
        serve.process.send_signal(signal.SIGTERM)
        assert serve.end() == 0
        assert serve.summary["rejected"] >= 1
        assert serve.said == ["ready assetto track=kartwerk car=gt3 cars=1 rate_hz=333"]
