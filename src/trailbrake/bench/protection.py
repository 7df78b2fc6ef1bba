"""`bench protection`: what a drive pays for its protection from bad samples, hanging drivers and failing disks.

Two seats drive one car in turn, one with the protections and one without, in an order that a seed decides. Both see the
same states, caches and neighbours, so that their ticks can be compared on a machine that is not quiet. What runs beside
the loop, the watchdog's thread and the guard process, is measured by the clocks that the kernel keeps for each (Linux).
"""

import random
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from trailbrake.bench.rows import BenchRow
from trailbrake.cars.car_library import load_car
from trailbrake.drivers.loading.driver_registry import load_driver
from trailbrake.driving.goals import Laps
from trailbrake.driving.loop.drive_loop import CarLoop
from trailbrake.driving.loop.driver_watchdog import DriverWatchdog
from trailbrake.driving.loop.state_check import StateCheck
from trailbrake.driving.loop.supervisor import Supervisor
from trailbrake.driving.road_monitor import RoadMonitor
from trailbrake.driving.session.connection import Connection
from trailbrake.driving.session.drive_session import drive
from trailbrake.driving.session.drive_setup import make_setup
from trailbrake.driving.session.open_connection import open_connection
from trailbrake.driving.spec import DriveSpec, EmbeddedSite
from trailbrake.planning.course import Course
from trailbrake.record.recorder import MAX_TIME, Recorder
from trailbrake.record.writer_thread import write_in_thread
from trailbrake.roles import Tap
from trailbrake.sims.assetto import SIMULATOR as ASSETTO
from trailbrake.sims.forza import SIMULATOR as FORZA
from trailbrake.simulator import AnySimulator
from trailbrake.state import CarState
from trailbrake.system import steady_clock
from trailbrake.system.drive_guard import DriveGuard
from trailbrake.tracks.track_library import load_track

TRACK, CAR = "hartmoor", "gt3"
SIMULATORS: tuple[AnySimulator, ...] = (ASSETTO, FORZA)
WARM_UP, BATCHES, PAIRS = 1000, 20, 500
WATCH_S = 20.0  # s for which thread and process are measured
DRIVE_S = 30.0  # s of a drive in real time, with whose processor time they are compared
CALLS = 100_000


class _AnyState(StateCheck):
    def accept_state(self, state: CarState) -> bool:
        return True


class UncheckedLoop(CarLoop):
    """A seat that drives by any sample."""

    def __init__(self, *parts: Any, **named: Any) -> None:
        super().__init__(*parts, **named)
        self._state_check = _AnyState(frozenset(), lambda problem: None)


class TickCost(NamedTuple):
    """What a tick takes in the mean of a drive; each the median of batches, us.

    Attributes:
        added: by all protections.
        spread: least and most of the batches of `added`.
        check: by the check of states and of the recording alone, which drives in lockstep have as well.
        bare: of a tick without them.
        step: of the world and its end of the wire, in lockstep.
        rate: ticks per second of simulator time.
    """

    added: float
    spread: tuple[float, float]
    check: float
    bare: float
    step: float
    rate: float


def measure_rows() -> list[BenchRow]:
    """Measure all rows of this bench (about three minutes)."""
    rows = []
    thread_share, guard_share = measure_watch(WATCH_S)
    with tempfile.TemporaryDirectory(prefix="trailbrake-bench-") as folder:
        for simulator in SIMULATORS:
            name = simulator.name
            cost = measure_ticks(simulator, Path(folder))
            used = measure_drive(name, Path(folder))
            ticks_share = cost.added * 1e-6 * cost.rate
            added = ticks_share + thread_share + guard_share
            rows += [
                BenchRow(
                    f"protection_{name}_tick_percent", 100.0 * cost.added / cost.bare, "%", "lower",
                    f"of read, decide, write and record, in real time: {cost.added:.2f} of {cost.bare:.1f} us; "
                    f"{BATCHES} batches of {PAIRS}, {cost.spread[0]:.2f} to {cost.spread[1]:.2f} us",
                ),
                BenchRow(
                    f"protection_{name}_lockstep_percent", 100.0 * cost.check / (cost.bare + cost.step), "%", "lower",
                    f"of a drive in lockstep, its world included: {cost.check:.2f} of {cost.bare + cost.step:.1f} us",
                ),
                BenchRow(
                    f"protection_{name}_core_percent", 100.0 * added, "%", "lower",
                    f"of one core, in real time: ticks {1e3 * ticks_share:.2f}, watchdog {1e3 * thread_share:.2f}, "
                    f"guard process {1e3 * guard_share:.2f} ms/s; the drive takes {1e3 * used:.0f} ms/s in all",
                ),
            ]  # fmt: skip
    return rows


def measure_ticks(simulator: AnySimulator, out: Path) -> TickCost:
    """Measure the ticks of the default drive with and without the protections, in turn."""
    course = Course(load_track(TRACK), load_car(CAR))
    driver = load_driver(simulator.default_driver)
    driver.reset(course)
    spec = DriveSpec(site=EmbeddedSite(sim=simulator.name, track=TRACK, car=CAR), goal=Laps(0))
    recorder = write_in_thread(Recorder(out / f"{simulator.name}.mcap"))
    recorder.start({})
    scorer = RoadMonitor(course.track.road, course.line, recorder.store_lap)
    untimed = measure_untimed_checks(out)
    try:
        with open_connection(make_setup(simulator, spec, None, [driver]), lambda: False) as connection:
            supervisor = Supervisor()
            taps: list[Tap] = [recorder, scorer]
            seats = [kind(connection.link, driver, supervisor, taps, lambda: None)
                     for kind in (CarLoop, CarLoop, UncheckedLoop)]  # fmt: skip
            watchdog = DriverWatchdog(seats, lambda text: None)
            seats[0].attach_watchdog(watchdog)
            with watchdog.run():
                protected, checked, bare, steps = time_ticks(connection, seats, WARM_UP + BATCHES * PAIRS)
            period = connection.link.period
    finally:
        recorder.close()
    return summarise_ticks([protected, checked, bare], steps, untimed, 1.0 / period)


def summarise_ticks(took: Sequence[Sequence[float]], steps: Sequence[float], untimed: float, rate: float) -> TickCost:
    """Return the cost by the times (us) of protected, checked and bare ticks, and of steps."""
    batches = [[statistics.median(times[at : at + PAIRS]) for times in took]
               for at in range(WARM_UP, WARM_UP + BATCHES * PAIRS, PAIRS)]  # fmt: skip
    added = [protected - bare + untimed for protected, _, bare in batches]
    check = statistics.median(checked - bare + untimed for _, checked, bare in batches)
    bare = statistics.median(bare for _, _, bare in batches) - untimed
    step = statistics.median(steps[WARM_UP:])
    return TickCost(statistics.median(added), (min(added), max(added)), check, bare, step, rate)


def time_ticks(connection: Connection, seats: Sequence[CarLoop], count: int) -> list[list[float]]:
    """Return us of `count` ticks of each seat, from reading the sample to the last tap, and of the steps before them.

    The seats drive in turn, in a random order.
    """
    order = random.Random(1)
    took: list[list[float]] = [[] for _ in (*seats, "steps")]
    for _ in range(count):
        for number in order.sample(range(len(seats)), len(seats)):
            seat, stepped = seats[number], time.perf_counter_ns()
            now = connection.pacer.wait_for_sample(connection.link)
            began = time.perf_counter_ns()
            state, _ = seat.read_state(now)
            controls = seat.drive_tick(state, now)
            if controls is not None:
                seat.notify_taps(state, controls)
            took[number].append((time.perf_counter_ns() - began) * 1e-3)
            took[-1].append((began - stepped) * 1e-3)
    return took


def measure_untimed_checks(out: Path) -> float:
    """Return us of what both seats do: the call of a check of states, and the recorder's own checks of a tick."""
    recorder, state = Recorder(out / "checks.mcap"), CarState(time=1.0)
    check = _AnyState(frozenset(), lambda problem: None)

    def check_recording() -> None:  # as in Recorder.tick
        if recorder.error:
            return
        seconds = state.time
        if 0.0 <= seconds < MAX_TIME:
            pass

    call_us, recording_us = (_measure_call(call) for call in (lambda: check.accept_state(state), check_recording))
    recorder.close()
    return call_us + recording_us


def _measure_call(call: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(10):
        began = time.perf_counter_ns()
        for _ in range(CALLS // 10):
            call()
        best = min(best, (time.perf_counter_ns() - began) * 1e-3 / (CALLS // 10))
    return best


class _CruisingCar:
    supervisor = Supervisor()
    speed = 20.0

    def brake_tick(self, now: float, *, notify: bool) -> None:
        """Nothing to brake."""


def measure_watch(seconds: float) -> tuple[float, float]:
    """Return s of processor time per second that the watchdog's thread takes, and that the guard process takes."""
    guard = DriveGuard([])
    watchdog = DriverWatchdog([_CruisingCar()], lambda text: None, beat=guard.beat)
    try:
        with watchdog.run():
            thread = next(t for t in threading.enumerate() if t.name == "driver watchdog")
            assert thread.ident is not None
            clocks = time.pthread_getcpuclockid(thread.ident), _find_process_clock(guard.pid)
            time.sleep(2.0)  # both have started
            began, before = steady_clock.now(), [time.clock_gettime(clock) for clock in clocks]
            time.sleep(seconds)
            passed = steady_clock.now() - began
            spent = [time.clock_gettime(clock) - start for clock, start in zip(clocks, before, strict=True)]
    finally:
        guard.close()
    return spent[0] / passed, spent[1] / passed


def _find_process_clock(pid: int) -> int:
    return (~pid << 3) | 2  # as clock_getcpuclockid(3) of Linux, which Python does not have


def measure_drive(name: str, out: Path) -> float:
    """Return s of processor time per second of the default drive in real time, its world in a process of its own."""
    began, before = steady_clock.now(), steady_clock.processor_time()
    drive(sim=name, track=TRACK, car=CAR, speed="real", laps=0, seconds=DRIVE_S, out=out, report=False)
    return (steady_clock.processor_time() - before) / (steady_clock.now() - began)
