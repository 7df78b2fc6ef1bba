"""`DriverWatchdog`: brakes the cars of a drive in real time while a driver does not answer.

The drive loop owns the links. While it calls other people's code (a driver, what watches the drive) it lends them out
by a lock; if the call takes too long, a thread takes the lock, and reads and brakes in place of the loop until the call
has returned. The answer comes too late then and is discarded. The thread counts time only while it runs itself, so
that a machine that was suspended finds no fault.

A call that keeps the interpreter's lock (some regular expressions, arithmetic on huge integers, extensions in C) stops
this thread as well; `system/drive_guard.py` is for that. `protect_cars` puts a drive under both.
"""

import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Protocol, TypeVar

from trailbrake.driving.loop.driver_pace import DriverPace
from trailbrake.driving.loop.supervisor import STANDSTILL_SPEED, Supervisor
from trailbrake.roles import Link
from trailbrake.system import steady_clock
from trailbrake.system.breakable_call import AnswerDiscarded, BreakableCall, CallBroken
from trailbrake.system.drive_guard import DriveGuard

POLL_S = 0.05  # s between looks at a call that is in time
BRAKE_POLL_S = 0.02  # s between samples that are answered in place of a driver
ANSWER_LIMIT_S = 0.3  # s that a driver may take for an answer
USUAL_ANSWERS = 3.0  # and so many times its usual answer: a slow driver is no driver that hangs
USUAL_SHARE = 0.2  # weight of the newest answer in what is usual
END_S = 10.0  # s without an answer after which the drive ends
WAITING_LIMIT_S = 10.0  # s that a driver may take for an answer where the simulator waits for it
STANDING_END_S = 300.0  # s, if the car stood when it began: a first answer may compile, or load a network
BREAK_POLL_S = 0.25  # s between attempts to break off a call, or to wake it for signals
BREAK_LIMIT_S = 15.0  # s of such attempts after which the drive is given up with the call still under way

A = TypeVar("A")
B = TypeVar("B")
T = TypeVar("T")


BROKEN_OFF = (AnswerDiscarded, CallBroken)


class BrakableCar(Protocol):
    """A car that can be braked in place of its drive loop."""

    supervisor: Supervisor
    speed: float

    def brake_tick(self, now: float, *, notify: bool) -> None:
        """Read, and send the controls of a safe stop."""


class ProtectedCar(BrakableCar, Protocol):
    """A car of a drive loop in real time."""

    link: Link
    pace: DriverPace | None

    def attach_watchdog(self, watchdog: "DriverWatchdog") -> None:
        """Let it watch the calls of the driver and of what watches the drive."""


class DriverWatchdog:
    """Watches the calls of one drive loop.

    Args:
        cars: all cars that the loop drives.
        say: takes a line for the user. Called in a thread of its own: a terminal may block.
        record: takes the same line for the recording.
        limit: returns s that an answer may take at least, as a simulator's slow pace demands.
        ends: whether a driver that does not answer for END_S ends the drive.
        breakable: breaks off a call.
        beat: called with the first car's speed at each poll: the interpreter runs.
        give_up: called in the watchdog's thread with a reason if a call cannot be broken off; ends the process.
    """

    def __init__(
        self,
        cars: Sequence[BrakableCar],
        say: Callable[[str], None],
        *,
        record: Callable[[str], None] = lambda text: None,
        limit: Callable[[], float] = lambda: 0.0,
        ends: bool = True,
        breakable: BreakableCall | None = None,
        give_up: Callable[[str], None] = lambda reason: None,
        beat: Callable[[float], None] = lambda speed: None,
    ) -> None:
        self._cars, self._say, self._record = cars, say, record
        self._least_limit, self._ends, self._give_up, self._beat = limit, ends, give_up, beat
        self._breakable = breakable or BreakableCall()
        self._lock = threading.Lock()  # held by the loop, but during calls
        self._closes = False
        self._running = threading.Lock()  # held while the loop runs; a wait for it costs less than one for an Event
        # Written by the loop:
        self._calls = 0
        self._called: tuple[Supervisor, bool] = (Supervisor(), False)  # whose call, and whether it is a driver's
        # Written by the thread, and read by the loop under the lock:
        self._took_over = False
        self._error: Exception | None = None
        self._seen_call, self._saw_driver = 0, False
        self._usual = self._elapsed = self._polled_at = self._break_at = self._end_s = 0.0
        self._breaking_since = -1.0  # s of `_elapsed`

    def watch_driver(self, call: Callable[[A, B], T], supervisor: Supervisor) -> Callable[[A, B], T]:
        """Return a driver's `call` as a watched one, which raises one of BROKEN_OFF in place of a late answer."""
        called = supervisor, True
        lock, breakable = self._lock, self._breakable

        def watched(first: A, second: B) -> T:
            __tracebackhide__ = True
            self._called = called
            self._calls += 1
            breakable.is_active = True
            lock.release()
            try:
                try:
                    result = call(first, second)
                finally:
                    breakable.is_active = False
            finally:  # twice, because CallBroken may be raised between the lines above
                breakable.is_active = False
                lock.acquire()
                late = self._took_over
                if late:
                    self._end_episode()
            if late:
                raise AnswerDiscarded
            return result

        return watched

    def watch_observer(self, call: Callable[[A, B], None], supervisor: Supervisor) -> Callable[[A, B], None]:
        """Return a `call` of what watches the drive as a watched one."""
        called = supervisor, False
        lock = self._lock

        def watched(first: A, second: B) -> None:
            self._called = called
            self._calls += 1
            lock.release()
            try:
                call(first, second)
            finally:
                lock.acquire()
                if self._took_over:
                    self._end_episode()

        return watched

    def _end_episode(self) -> None:
        """Return to normal; the loop calls it when the late call has returned."""
        self._took_over = False
        self._breakable.clear_requests()
        error, self._error = self._error, None
        if error is not None:
            raise error
        if self._called[1] and not self._called[0].stop_reason:
            self._announce("the driver answers again")

    @contextmanager
    def run(self) -> Iterator[None]:
        """Watch during the `with`, in which the calling thread owns the links."""
        self._lock.acquire()
        self._running.acquire()
        thread = threading.Thread(target=self._run_polls, name="driver watchdog", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._closes = True
            self._lock.release()
            self._running.release()
            thread.join(1.0)

    def _run_polls(self) -> None:
        wait = POLL_S
        while not self._running.acquire(timeout=wait):
            self._beat(self._cars[0].speed)
            wait = self.poll(steady_clock.now())

    def poll(self, now: float) -> float:
        """Look at the call under way, and brake if it takes too long; return s until the next poll."""
        call = self._calls
        passed = min(now - self._polled_at, 2.0 * POLL_S)
        self._polled_at = now
        if call != self._seen_call:
            if self._saw_driver:  # calls that no poll has seen were quick, and most that one has seen are
                self._usual += USUAL_SHARE * (min(self._elapsed, END_S) - self._usual)
            self._saw_driver = self._called[1]
            self._seen_call, self._elapsed = call, 0.0
        if self._lock.locked():  # by the loop: no call is under way
            return POLL_S
        self._elapsed += passed
        limit = ANSWER_LIMIT_S
        if not self._cars[0].supervisor.stop_reason:  # a stop waits for no driver
            limit = max(limit, USUAL_ANSWERS * self._usual, self._least_limit())
        if self._elapsed < limit and not self._took_over:
            return POLL_S
        if not self._lock.acquire(blocking=False):
            return POLL_S  # it has just returned
        try:
            if self._calls == call and not self._closes:
                self._brake_cars(now, limit)
                return BRAKE_POLL_S
        finally:
            self._lock.release()
        return POLL_S

    def _brake_cars(self, now: float, limit: float) -> None:
        supervisor, is_driver = self._called
        begins = not self._took_over
        self._took_over = True
        for car in self._cars:
            try:
                car.brake_tick(now, notify=is_driver)
            except Exception as error:  # raised in the loop when the call has returned; the others are braked
                self._error = error
        if begins:
            supervisor.counters.hung += 1
            self._breaking_since, self._break_at = -1.0, 0.0
            self._end_s = STANDING_END_S if self._cars[0].speed < STANDSTILL_SPEED else END_S
            if is_driver and not supervisor.stop_reason:  # a blocked terminal is told nothing
                self._announce(f"the driver has not answered for {limit:.1g} s: braking, waiting for it")
        if not is_driver:
            return
        if self._ends and self._elapsed > self._end_s and not self._cars[0].supervisor.stop_reason:
            for car in self._cars:
                car.supervisor.request_stop(self._describe_hang())
        if self._cars[0].supervisor.stop_reason:
            self._break_call()
        elif self._elapsed >= self._break_at:
            self._break_at = self._elapsed + BREAK_POLL_S
            self._breakable.wake()

    def _describe_hang(self) -> str:
        place = find_call_place(self._breakable.thread)
        return f"the driver has not answered for {self._end_s:g} s{place and f', at {place}'}"

    def _break_call(self) -> None:
        if self._breaking_since < 0.0:
            self._breaking_since, self._break_at = self._elapsed, 0.0
        if self._elapsed - self._breaking_since > BREAK_LIMIT_S:
            self._give_up(f"{self._cars[0].supervisor.stop_reason}; {self._describe_stuck()}")
        elif self._elapsed >= self._break_at:
            self._break_at = self._elapsed + BREAK_POLL_S
            self._breakable.break_off()

    def _describe_stuck(self) -> str:
        place = find_call_place(self._breakable.thread)
        return f"the driver cannot be interrupted{place and f', at {place}'}: the process ends"

    def _announce(self, text: str) -> None:
        self._record(text)
        threading.Thread(target=self._say, args=(text,), name="driver watchdog's line", daemon=True).start()


def find_call_place(thread: int) -> str:
    """Return FILE:LINE at which the watched call of a thread is, in the file that was called; "" if there is none."""
    frames: list[tuple[str, int]] = []
    frame: FrameType | None = sys._current_frames().get(thread)
    while frame is not None and not (frame.f_code.co_name == "watched" and frame.f_code.co_filename == __file__):
        frames.append((frame.f_code.co_filename, frame.f_lineno or 0))
        frame = frame.f_back
    if frame is None or not frames:
        return ""
    file = frames[-1][0]
    return f"{file}:{next(line for name, line in frames if name == file)}"


@contextmanager
def protect_cars(
    seats: Sequence[ProtectedCar],
    say: Callable[[str], None],
    record: Callable[[str], None],
    close: Callable[[], None],
    breakable: BreakableCall,
    *,
    guard: DriveGuard | None = None,
    waits: bool = False,
) -> Iterator[None]:
    """Watch the drivers of a drive in real time; run its loop in the `with`.

    Args:
        seats: all cars of the loop.
        say: takes a line for the user.
        record: takes a line for the recording.
        close: ends the recordings; called if the process has to end with a driver that cannot be interrupted.
        breakable: breaks off a driver's call; made in the thread of the loop.
        guard: that of the connection. None: the drive starts one of its own.
        waits: whether the simulator waits for the driver.
    """
    pace = seats[0].pace

    def find_limit() -> float:
        if pace is not None:
            return USUAL_ANSWERS * pace.step_time
        return WAITING_LIMIT_S if waits else 0.0

    def give_up(reason: str) -> None:
        with suppress(Exception):
            record(reason)
        for step in (close, *(seat.link.release for seat in seats), *(seat.link.close for seat in seats)):
            with suppress(Exception):
                step()
        with suppress(Exception):
            say(f"trailbrake: {reason}")
        os._exit(1)  # the loop's thread is in machine code and will not come back

    own = _start_guard(say) if guard is None else None
    guard = guard or own
    watchdog = DriverWatchdog(
        seats, say, record=record, limit=find_limit, ends=not waits, breakable=breakable, give_up=give_up,
        beat=guard.beat if guard is not None else lambda speed: None,
    )  # fmt: skip
    for seat in seats:
        seat.attach_watchdog(watchdog)
    try:
        with watchdog.run():
            yield
    finally:
        if own is not None:
            own.close()
        elif guard is not None:
            guard.rest()


def _start_guard(say: Callable[[str], None]) -> DriveGuard | None:
    try:
        return DriveGuard([])
    except OSError as error:
        say(f"no guard process: {error.strerror}; a driver that keeps the interpreter keeps the car")
        return None
