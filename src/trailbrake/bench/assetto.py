"""`bench assetto`: the Custom AI wire between two processes in real time, and what a tick of our own side costs.

A world behind the wire in a process of its own, and a drive beside it as `drive --speed real` does it, recording on.
The driver writes the number of the state that it answers into the last digits of the throttle, so that the world can
tell when the answer to a state has come back.
"""

import math
import multiprocessing
import os
import signal
import tempfile
import threading
from collections.abc import Callable, Sequence
from copy import copy
from multiprocessing.connection import Connection as Pipe
from pathlib import Path

from trailbrake.bench import clients_rows
from trailbrake.bench.rows import Row
from trailbrake.cars.load import load as load_car
from trailbrake.cars.params import CarParams
from trailbrake.histogram import Durations
from trailbrake.planning.course import Course
from trailbrake.run import rate, session
from trailbrake.run.options import DriveOptions, WorldOptions
from trailbrake.run.serve import serve
from trailbrake.sims.assetto import codec, spec
from trailbrake.sims.assetto.spec import ServeOptions
from trailbrake.state import CarState, Controls
from trailbrake.tracks.frenet import locate, point
from trailbrake.tracks.load import load as load_track
from trailbrake.tracks.track import Track
from trailbrake.transport.shm import ENVIRONMENT, SharedMemory
from trailbrake.world.plant import PERIOD, World

EXCHANGES = 12_000  # 36 s: enough behind a 99.9th percentile
TRACK, CAR = "hartmoor", "gt3"
CRUISE = 25.0  # m/s
_CODES, _CODE, _STEP = 500, 1e-5, 0.01  # numbers, how much of the throttle is one, and the steps of the throttle itself


def encode(throttle: float, sequence: int) -> float:
    """Return `throttle` (0..1), cut to steps, with the number of a state in its last digits."""
    return math.floor(throttle * 98.0) * _STEP + (sequence % _CODES + 1) * _CODE


def decode(throttle: float) -> int:
    """Return what `encode` has put into a throttle: `sequence % _CODES`; -1 where it has not made it."""
    return round((throttle - math.floor(throttle / _STEP + 1e-4) * _STEP) / _CODE) - 1


class Pid:
    """A driver as a hobbyist writes it: pure pursuit of the centreline, and a PID on the speed."""

    NEEDS = frozenset({"x", "y", "yaw", "speed", "sequence"})

    def reset(self, course: Course) -> None:
        """Take the road."""
        self.road, car = course.track.road, course.known_car()
        self.base, self.lock = car.body.wheelbase, car.steering.max_angle
        self.row, self.sum, self.last = -1, 0.0, 0.0

    def act(self, state: CarState, dt: float) -> Controls:
        """Answer one state."""
        road = self.road
        s, _, self.row = locate(road.table, road.spacing, road.closed, state.x, state.y, self.row)
        reach = 6.0 + 0.5 * state.speed
        x, y, _, _ = point(road.table, road.spacing, road.closed, s + reach, 0.0)
        aside = math.cos(state.yaw) * (y - state.y) - math.sin(state.yaw) * (x - state.x)
        angle = math.atan2(2.0 * self.base * aside, reach * reach)
        error = CRUISE - state.speed
        self.sum = min(max(self.sum + error * dt, -10.0), 10.0)
        slope, self.last = (error - self.last) / dt if dt > 0.0 else 0.0, error
        pedal = 0.3 * error + 0.02 * self.sum + 0.01 * slope
        throttle = encode(min(max(pedal, 0.0), 1.0), state.sequence)
        return Controls(angle / self.lock, throttle, min(max(-pedal, 0.0), 1.0))

    def rehearse(self, state: CarState, dt: float) -> Controls:
        """Answer for nothing."""
        return copy(self).act(state, dt)


class Timed(World):
    """A world that notes how long after a state was asked for its answer reached a step.

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
        published: Callable[[], int],
    ) -> None:
        self.trips = Durations()
        self._given = [math.nan] * _CODES
        self._published, self._ahead = published, -1
        super().__init__(track, cars, seed, period)

    def step(self, controls: Sequence[Controls]) -> None:
        """Look whose answer this is, and step."""
        code = decode(controls[0].throttle)
        if code >= 0:
            if self._ahead < 0:
                self._ahead = self._sequence - self._published()
            code = (code + self._ahead) % _CODES
            if self._given[code] == self._given[code]:  # not NaN: no answer to it was seen before
                self.trips.add(rate.now() - self._given[code])
                self._given[code] = math.nan
        super().step(controls)

    def state(self, car: int) -> CarState:
        """Return the state that the host publishes next."""
        state = super().state(car)
        self._given[state.sequence % _CODES] = rate.now()
        return state


def _serve(pipe: Pipe) -> None:
    """Serve a timed world at the public doors of this process until told to stop; send what was seen."""
    memory = SharedMemory()

    def published() -> int:
        page = memory.open(spec.car_name(0), mapped=False)
        return 0 if page is None else codec.decode_packet_id(page.read(codec.PACKET_ID_SIZE))

    world = Timed(load_track(TRACK), [load_car(CAR)], published=published)

    def wait() -> None:
        pipe.recv()
        signal.raise_signal(signal.SIGTERM)

    threading.Thread(target=wait, daemon=True).start()
    report = serve("assetto", WorldOptions(track=TRACK, car=CAR), ServeOptions(classic=False), plant=world)
    trips = world.trips
    pipe.send((trips.count, *(trips.percentile(share) * 1e6 for share in (0.5, 0.99, 0.999)), report["loop"]))


def rows() -> list[Row]:
    """Measure all rows of this bench (about two minutes)."""
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    kept = os.environ.get(ENVIRONMENT)
    base = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(prefix="trailbrake-bench-", dir=base) as doors, _recordings() as out:
        os.environ[ENVIRONMENT] = doors
        try:
            process = multiprocessing.get_context("spawn").Process(target=_serve, args=(theirs,), daemon=True)
            process.start()
            options = DriveOptions(
                live=True, driver=f"{__file__}:Pid", track=TRACK, car=CAR, laps=0, seconds=EXCHANGES * PERIOD,
                report=False, out=Path(out),
            )  # fmt: skip
            drive = session.drive(options)
            ours.send("stop")
            count, p50, p99, p999, host = ours.recv()
            process.join(10.0)
        finally:
            os.environ.pop(ENVIRONMENT)
            if kept is not None:
                os.environ[ENVIRONMENT] = kept
        many = clients_rows.rows(Path(doors))
    loop, link = drive["loop"], drive["link"]
    trips = f"{count} exchanges in real time, p99 {p99:.0f} us; lost states {link['lost']}, torn {link['torn']}"
    return [
        Row("round_trip_p50_us", p50, "us", "lower", f"state published to controls seen by physics, 333 Hz; {trips}"),
        Row("round_trip_p999_us", p999, "us", "lower", "of the same"),
        Row(
            "tick_p50_us", loop["p50_us"], "us", "lower",
            f"read, decide, write of a PID driver, full CarState, recording on; {loop['ticks']} ticks, "
            f"p99 {loop['p99_us']:.0f} us, p99.9 {loop['p999_us']:.0f} us",
        ),
        Row(
            "host_p99_us", host["p99_us"], "us", "lower",
            f"one tick of the host, world included; p50 {host['p50_us']:.0f} us, p99.9 {host['p999_us']:.0f} us",
        ),
        *many,
    ]  # fmt: skip


def _recordings() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="trailbrake-bench-")
