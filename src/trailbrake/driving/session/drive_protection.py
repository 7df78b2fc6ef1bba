"""What protects the cars of a drive in real time from their drivers: the watchdog, and the end of last resort."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from trailbrake.driving.loop.drive_loop import CarLoop
from trailbrake.driving.loop.driver_watchdog import USUAL_ANSWERS, DriverWatchdog
from trailbrake.roles import Link, SafeAfterDeath
from trailbrake.system.breakable_call import BreakableCall
from trailbrake.system.drive_guard import DriveGuard

WAITING_LIMIT_S = 10.0  # s that a driver may take for an answer where the simulator waits for it


@contextmanager
def protect_cars(
    seats: Sequence[CarLoop],
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


@contextmanager
def guard_links(links: Sequence[Link]) -> Iterator[DriveGuard | None]:
    """Start the process that writes to the pages of `links` if this one dies; None where they have no such pages.

    It also ends this process if that stops to beat, once it has begun.
    """
    resorts = [resort for link in links if isinstance(link, SafeAfterDeath) for resort in link.find_last_resorts()]
    guard = None
    if resorts:
        with suppress(OSError):  # `protect_cars` tries again, and says so
            guard = DriveGuard(resorts)
    try:
        yield guard
    finally:
        if guard is not None:
            guard.close(is_safe=_release_links(links))


def _release_links(links: Sequence[Link]) -> bool:
    """Leave the cars safe; return whether the wires accepted it: not if the driver's code has closed their files."""
    try:
        for link in links:
            link.release()
    except OSError:
        return False
    return True


def _start_guard(say: Callable[[str], None]) -> DriveGuard | None:
    try:
        return DriveGuard([])
    except OSError as error:
        say(f"no guard process: {error.strerror}; a driver that keeps the interpreter keeps the car")
        return None
