"""`bench assetto`: the Custom AI wire between two processes in real time, and what a tick of our own side costs.

A world behind the wire in a process of its own, and a drive beside it as `drive --speed real` does it, recording on.
The driver writes the number of the state that it answers into the last digits of the throttle, so that the world can
tell when the answer to a state has come back.

Rows of `bench assetto` about many clients: four strangers on four cars at 333 Hz, each in a process of its own.

A client here does not use our codec: plain files, and the reading rule of the protocol page: copy the page, check
whether packet_id is still the same, else copy again. What he takes must fit together: the lap time at the end of the
page goes with the packet_id at its head, and the velocity in the world is as long as the one in the car's axes.
"""

import json
import math
import mmap
import multiprocessing
import os
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from copy import copy
from multiprocessing.connection import Connection as Pipe
from pathlib import Path

from trailbrake.bench.rows import BenchRow
from trailbrake.cars.car_library import load_car
from trailbrake.cars.params import CarParams
from trailbrake.driving.options import WorldOptions
from trailbrake.driving.serve import serve_world
from trailbrake.driving.session import drive_session
from trailbrake.histogram import DurationHistogram
from trailbrake.planning.course import Course
from trailbrake.sims.assetto import SIMULATOR, codec, spec
from trailbrake.sims.assetto.spec import ServeOptions
from trailbrake.state import CarState, Controls
from trailbrake.system import steady_clock
from trailbrake.tracks.track import Track
from trailbrake.tracks.track_library import load_track
from trailbrake.transport.shm import ENVIRONMENT, SharedMemory
from trailbrake.world.plant import PERIOD, World

EXCHANGES = 12_000  # 36 s: enough behind a 99.9th percentile
TRACK, CAR = "hartmoor", "gt3"
CRUISE = 25.0  # m/s
_CODE_COUNT, _CODE_STEP, _THROTTLE_STEP = (
    500,
    1e-5,
    0.01,
)  # numbers, how much of the throttle is one, and the steps of the throttle itself
CARS = 4
SECONDS = 60.0
_CRUISE = 5.0  # m/s: slow enough to stay on the straight
_PREFIX = "AcTools.CSP.NewBehaviour.CustomAI."
_STEP_MS = 1000.0 / 333.0
_SPEED_SLACK = 1e-3  # m/s: numbers of 32 bits


def _map_page(path: Path, size: int) -> mmap.mmap:
    path.touch()
    with path.open("r+b") as file:
        file.truncate(max(size, path.stat().st_size))
        return mmap.mmap(file.fileno(), size)


def check_page_copy(data: bytes, before: tuple[int, int] | None) -> tuple[str, tuple[int, int]]:
    """Return what a copy of the car's page is, and its packet_id and lap time for the next.

    Args:
        data: 672 bytes.
        before: packet_id and lap time (ms) of an earlier copy; None for the first.

    Returns:
        "" where it is of one piece; "torn" where parts of it belong to different steps; "early" where it is whole and
        of the step after its packet_id, which the host writes last. Then packet_id and lap time.
    """
    (packet_id,) = struct.unpack_from("<i", data, 0)
    world, car = struct.unpack_from("<3f", data, 40), struct.unpack_from("<3f", data, 100)
    (lap_ms,) = struct.unpack_from("<I", data, 644)
    now = (packet_id, lap_ms)
    if abs(math.hypot(*world) - math.hypot(*car)) > _SPEED_SLACK:
        return "torn", now
    if before is None:
        return "", now
    beyond = lap_ms - before[1] - (packet_id - before[0]) * _STEP_MS
    if abs(beyond) <= 0.5 * _STEP_MS:
        return "", now
    return "early" if abs(beyond - _STEP_MS) < 0.5 * _STEP_MS else "torn", now


def _run_client(folder: Path, car: int, seconds: float, pipe: Pipe) -> None:
    """Drive one car slowly ahead; send how many samples were taken, missed, torn, early, and ran backwards."""
    controls = _map_page(folder / f"{_PREFIX}CarControls{car}.v0", 72)
    controls[8:12] = struct.pack("<f", 1.0)  # clutch released
    controls[68] = 1  # automatic box
    while not (folder / f"{_PREFIX}Car{car}.v0").exists():
        time.sleep(0.01)
    page = _map_page(folder / f"{_PREFIX}Car{car}.v0", 672)
    taken = missed = torn = early = backwards = last = 0
    first: tuple[int, int] | None = None
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        if struct.unpack_from("<i", page, 0)[0] == last:
            time.sleep(0.0003)
            continue
        for _ in range(4):
            data = page[:672]
            if page[:4] == data[:4]:
                break
        kind, now = check_page_copy(data, first)
        first = first or now
        taken, torn, early = taken + 1, torn + (kind == "torn"), early + (kind == "early")
        missed += max(now[0] - last - 1, 0) if last else 0
        backwards += now[0] <= last
        last = now[0]
        speed = struct.unpack_from("<f", data, 36)[0] / 3.6
        controls[0:4] = struct.pack("<f", 0.3 if speed < _CRUISE else 0.0)
    pipe.send((taken, missed, torn, early, backwards))


def measure_many_clients(folder: Path) -> list[BenchRow]:
    """Measure the rows about many clients (a little over a minute), with pages in `folder`."""
    host = subprocess.Popen(
        [sys.executable, "-m", "trailbrake", "serve", "assetto", "--json", f"--cars={CARS}", "--park"],
        env={**os.environ, ENVIRONMENT: str(folder)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert host.stdout is not None
    assert host.stderr is not None
    try:
        for line in host.stderr:
            if line.startswith("ready "):
                break
        context = multiprocessing.get_context("spawn")
        pipes = []
        for car in range(CARS):
            ours, theirs = context.Pipe(duplex=False)
            context.Process(target=_run_client, args=(folder, car, SECONDS, theirs), daemon=True).start()
            pipes.append(ours)
        results = [pipe.recv() for pipe in pipes]
        host.terminate()
        report = json.loads(host.stdout.read())
    finally:
        host.kill()
        host.wait()
        host.stdout.close()
        host.stderr.close()
    taken, missed, torn, early, backwards = (sum(column) for column in zip(*results, strict=True))
    loop = report["loop"]
    note = f"{CARS} clients on {CARS} cars for {SECONDS:g} s; {taken} samples taken, {missed} missed"
    return [
        BenchRow("clients_host_p99_us", loop["p99_us"], "us", "lower",
            f"one tick of the host, world and classic pages included; {note}; p50 {loop['p50_us']:.0f} us, "
            f"p99.9 {loop['p999_us']:.0f} us, {report['late']} times late"),
        BenchRow("clients_torn", torn, "1", "lower",
            f"samples whose parts belong to different steps; {note}; {early} whole ones were one step newer than their "
            "packet_id, which the host writes last"),
        BenchRow("clients_backwards", backwards, "1", "lower", "samples whose packet_id did not grow"),
    ]  # fmt: skip


def encode_sequence(throttle: float, sequence: int) -> float:
    """Return `throttle` (0..1), cut to steps, with the number of a state in its last digits."""
    return math.floor(throttle * 98.0) * _THROTTLE_STEP + (sequence % _CODE_COUNT + 1) * _CODE_STEP


def decode_sequence(throttle: float) -> int:
    """Return what `encode` has put into a throttle: `sequence % _CODES`; -1 where it has not made it."""
    return round((throttle - math.floor(throttle / _THROTTLE_STEP + 1e-4) * _THROTTLE_STEP) / _CODE_STEP) - 1


class PidDriver:
    """A driver as a hobbyist writes it: pure pursuit of the centreline, and a PID on the speed."""

    NEEDS = frozenset({"x", "y", "yaw", "speed", "sequence"})

    def reset(self, course: Course) -> None:
        """Start on a course."""
        self.road, car = course.track.road, course.known_car()
        self.wheelbase, self.max_steer = car.body.wheelbase, car.steering.max_angle
        self.row, self.error_sum, self.last_error = -1, 0.0, 0.0

    def act(self, state: CarState, dt: float) -> Controls:
        """Return the controls for a state."""
        road = self.road
        s, _, self.row = road.locate(state.x, state.y, self.row)
        reach = 6.0 + 0.5 * state.speed
        x, y, _ = road.point(s + reach)
        aside = math.cos(state.yaw) * (y - state.y) - math.sin(state.yaw) * (x - state.x)
        angle = math.atan2(2.0 * self.wheelbase * aside, reach * reach)
        error = CRUISE - state.speed
        self.error_sum = min(max(self.error_sum + error * dt, -10.0), 10.0)
        slope, self.last_error = (error - self.last_error) / dt if dt > 0.0 else 0.0, error
        pedal = 0.3 * error + 0.02 * self.error_sum + 0.01 * slope
        throttle = encode_sequence(min(max(pedal, 0.0), 1.0), state.sequence)
        return Controls(steer=angle / self.max_steer, throttle=throttle, brake=min(max(-pedal, 0.0), 1.0))

    def rehearse(self, state: CarState, dt: float) -> Controls:
        """Return the controls of a rehearsal; nothing changes."""
        return copy(self).act(state, dt)


class RoundTripWorld(World):
    """A world that measures the time from publishing a state to the step that receives the answer to it.

    Args:
        track, cars, seed, period: of the world.
        published: returns the packet_id of the newest state as the wire has it. It counts from when the client took the
            car, and so is behind the number of our step by what that is at the first answer.
    """

    def __init__(
        self,
        track: Track,
        cars: Sequence[CarParams],
        seed: int = 0,
        period: float = PERIOD,
        *,
        published_packet_id: Callable[[], int],
    ) -> None:
        self.round_trips = DurationHistogram()
        self._published_at = [math.nan] * _CODE_COUNT
        self._published_packet_id, self._packet_offset = published_packet_id, -1
        super().__init__(track, cars, seed, period)

    def step(self, controls: Sequence[Controls]) -> None:
        """Match the answer with its state, and step."""
        code = decode_sequence(controls[0].throttle)
        if code >= 0:
            if self._packet_offset < 0:
                self._packet_offset = self._sequence - self._published_packet_id()
            code = (code + self._packet_offset) % _CODE_COUNT
            if self._published_at[code] == self._published_at[code]:  # not NaN: no answer to it was seen before
                self.round_trips.add_duration(steady_clock.now() - self._published_at[code])
                self._published_at[code] = math.nan
        super().step(controls)

    def car_state(self, car: int) -> CarState:
        """Return the state that the host publishes next."""
        state = super().car_state(car)
        self._published_at[state.sequence % _CODE_COUNT] = steady_clock.now()
        return state


def _serve_timed_world(pipe: Pipe) -> None:
    """Serve a timed world until the pipe sends a message; send the measured times back."""
    memory = SharedMemory()

    def published() -> int:
        page = memory.open_page(spec.car_name(0), mapped=False)
        return 0 if page is None else codec.decode_packet_id(page.read(codec.PACKET_ID_SIZE))

    world = RoundTripWorld(load_track(TRACK), [load_car(CAR)], published_packet_id=published)

    def wait() -> None:
        pipe.recv()
        signal.raise_signal(signal.SIGTERM)

    threading.Thread(target=wait, daemon=True).start()
    report = serve_world(SIMULATOR, WorldOptions(track=TRACK, car=CAR), ServeOptions(classic=False), plant=world)
    trips = world.round_trips
    pipe.send((trips.count, *(trips.percentile(share) * 1e6 for share in (0.5, 0.99, 0.999)), report["loop"]))


def measure_rows() -> list[BenchRow]:
    """Measure all rows of this bench (about two minutes)."""
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    kept = os.environ.get(ENVIRONMENT)
    base = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(prefix="trailbrake-bench-", dir=base) as doors, _recordings_folder() as out:
        os.environ[ENVIRONMENT] = doors
        try:
            process = multiprocessing.get_context("spawn").Process(
                target=_serve_timed_world, args=(theirs,), daemon=True
            )
            process.start()
            drive = drive_session.drive(
                live=True, driver=f"{__file__}:PidDriver", track=TRACK, car=CAR, laps=0, seconds=EXCHANGES * PERIOD,
                report=False, out=out,
            )  # fmt: skip
            ours.send("stop")
            count, p50, p99, p999, host = ours.recv()
            process.join(10.0)
        finally:
            os.environ.pop(ENVIRONMENT)
            if kept is not None:
                os.environ[ENVIRONMENT] = kept
        many = measure_many_clients(Path(doors))
    loop, link = drive["loop"], drive["link"]
    trips = f"{count} exchanges in real time, p99 {p99:.0f} us; lost states {link['lost']}, torn {link['torn']}"
    return [
        BenchRow(
            "round_trip_p50_us", p50, "us", "lower", f"state published to controls seen by physics, 333 Hz; {trips}"
        ),
        BenchRow("round_trip_p999_us", p999, "us", "lower", "of the same"),
        BenchRow(
            "tick_p50_us", loop["p50_us"], "us", "lower",
            f"read, decide, write of a PID driver, full CarState, recording on; {loop['ticks']} ticks, "
            f"p99 {loop['p99_us']:.0f} us, p99.9 {loop['p999_us']:.0f} us",
        ),
        BenchRow(
            "host_p99_us", host["p99_us"], "us", "lower",
            f"one tick of the host, world included; p50 {host['p50_us']:.0f} us, p99.9 {host['p999_us']:.0f} us",
        ),
        *many,
    ]  # fmt: skip


def _recordings_folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="trailbrake-bench-")
