"""Signals that ask a program to stop, as a request and not an exception, so that the controls are left safe first.

On POSIX systems Ctrl-C (SIGINT), SIGTERM, Ctrl-Backslash (SIGQUIT), and the end of the terminal (SIGHUP: its window was
closed, or a connection dropped). On Windows Ctrl-C, Ctrl-Break, and the console's events for a closed window, a log-off
and a shutdown, after which the system ends the process.
"""

import errno
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from trailbrake.system.breakable_call import WAKING, BreakableCall, StopInsisted

CHILD_VARIABLE = "TRAILBRAKE_CHILD"  # set for a process of ours that is to end when its standard input does

_NO_TERMINAL = errno.ENOTTY
_HANGUP = getattr(signal, "SIGHUP", None)
_SIGNALS = [signal.SIGINT, signal.SIGTERM]
# The rest by name, because no system has all. SIGBREAK is the only one that reaches a process group of its own there.
_SIGNALS += [getattr(signal, name) for name in ("SIGHUP", "SIGQUIT", "SIGBREAK") if hasattr(signal, name)]
CTRL_CLOSE, CTRL_LOGOFF, CTRL_SHUTDOWN = 2, 5, 6  # Windows' names end with _EVENT
STOP_S = 3.0  # s that a stop may take: of the 5 that Windows gives, the others are for recording and report
LONGEST_S = 30.0  # s, longer than Windows waits
RECLAIM_S = 0.05  # s between looks at the handlers, which take as long as a tick
_reclaims: list[Callable[[], None]] = []  # one for each `handle_stop_signals` under way


class ConsoleEndHandler:
    """Handles the end of Windows' console: its window is closed, the user logs off, the machine shuts down.

    The system runs it in a thread of its own, and ends the process when it returns, or about 5 s after the event
    (HandlerRoutine and SetConsoleCtrlHandler in Microsoft's documentation): it returns only when that waits no longer.

    Args:
        end: called once with the seconds that a stop may take, in a thread of Windows'.
        sleep: lets the rest of the process do what is left, and end; s.
    """

    def __init__(self, end: Callable[[float], None], sleep: Callable[[float], None] = time.sleep) -> None:
        self._end, self._sleep, self._has_ended = end, sleep, False

    def __call__(self, event: int) -> bool:
        """Return whether the event was handled: Ctrl-C and Ctrl-Break are signals, and not of this handler."""
        if event not in (CTRL_CLOSE, CTRL_LOGOFF, CTRL_SHUTDOWN):
            return False
        if not self._has_ended:
            self._has_ended = True
            self._end(STOP_S)
        self._sleep(LONGEST_S)
        return True


@contextmanager
def handle_console_end(end: Callable[[float], None]) -> Iterator[None]:
    """Call `end` at an event that ends Windows' console during the `with`; other systems have none."""
    if sys.platform != "win32":
        yield
        return
    import ctypes

    kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    routine = ctypes.WINFUNCTYPE(ctypes.c_int, ctypes.c_uint)(ConsoleEndHandler(end))
    is_set = kernel.SetConsoleCtrlHandler(routine, True)
    try:
        yield
    finally:
        if is_set:
            kernel.SetConsoleCtrlHandler(routine, False)


class _StopHandlers:
    """Our handlers of the signals to stop, with those before and behind them; arguments as of `handle_stop_signals`."""

    def __init__(self, request: Callable[[], None], breakable: BreakableCall | None) -> None:
        self._request, self._breakable = request, breakable
        self._previous: dict[int, Any] = {}
        self._followers: dict[int, Any] = {}  # handlers of other people's code
        self._called: list[int] = []
        self._is_requested = False
        self._waking: Any = None  # what WAKING did before
        self._reclaimed_at = -math.inf  # s of wall time

    def install(self) -> None:
        """Set ours, where Python allows it."""
        with suppress(ValueError):
            for number in _SIGNALS:
                if number != _HANGUP or signal.getsignal(number) is not signal.SIG_IGN:
                    self._previous[number] = signal.signal(number, self.handle)
            if WAKING is not None and not callable(signal.getsignal(WAKING)):
                self._waking = signal.signal(WAKING, lambda number, frame: None)

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Request a stop; insist on it the second time."""
        if self._breakable is not None and self._breakable.handle_signal():
            return
        if number == _HANGUP:
            leave_lost_terminal()
        elif self._is_requested:
            raise StopInsisted
        self._is_requested = True
        self._request()
        self._called.append(number)

    def reclaim(self) -> None:
        """Set ours again where other people's code has set its own."""
        now = time.monotonic()
        if now - self._reclaimed_at < RECLAIM_S:
            return
        self._reclaimed_at = now
        for number in self._previous:
            if (current := signal.getsignal(number)) != self.handle:
                signal.signal(number, self.handle)
                self._followers[number] = current

    def restore(self) -> None:
        """Set those that were there before, and call the followers of what has come."""
        if WAKING is not None and self._waking is not None:
            signal.signal(WAKING, self._waking)
        while self._previous:
            number, handler = self._previous.popitem()
            signal.signal(number, handler)
        for heard in self._called:
            if callable(follower := self._followers.get(heard)):
                with suppress(BaseException):  # a handler may end the program, which is ending in order
                    follower(heard, None)


@contextmanager
def handle_stop_signals(
    request: Callable[[], None],
    breakable: BreakableCall | None = None,
    hurry: Callable[[float], None] = lambda seconds: None,
) -> Iterator[None]:
    """Call `request` on the first signal to stop; further ones raise StopInsisted, a KeyboardInterrupt.

    Handlers that other people's code sets during the `with` run after it: see `reclaim_stop_signals`.

    SIGHUP never raises: shells repeat it, and no person is left to insist. Once the terminal is gone, lines for it go
    nowhere. A SIGHUP that the process was started to ignore (nohup) stays ignored; shells start what runs in the
    background with the keys' signals ignored, and those are handled. Outside the main thread, where Python allows no
    handlers, it does nothing. In a process with TRAILBRAKE_CHILD set the end of standard input
    is such a request as well: it comes even when the parent was killed, and on Windows, where there is no SIGTERM.

    Args:
        request: called by the first signal, in the main thread; by an event of Windows' console in another one.
        breakable: a call that is broken off by the same signals.
        hurry: called after `request` with the seconds that are left, where the system then ends the process.
    """
    if os.environ.get(CHILD_VARIABLE):
        threading.Thread(target=_request_at_end_of_input, args=(request,), daemon=True).start()
    handlers = _StopHandlers(request, breakable)

    def end_console(seconds: float) -> None:
        request()
        hurry(seconds)

    handlers.install()
    _reclaims.append(handlers.reclaim)
    try:
        with handle_console_end(end_console):
            yield
    finally:
        _reclaims.remove(handlers.reclaim)
        handlers.restore()


def reclaim_stop_signals() -> None:
    """Take the signals to stop back from a handler that a driver has set; it is called when the stop is over.

    Call it in the main thread after code that may set one. It does nothing where no signals are handled.
    """
    if _reclaims and threading.current_thread() is threading.main_thread():
        _reclaims[-1]()


def leave_lost_terminal() -> None:
    """Send what is written to a terminal that has hung up to the null device: every write to it would fail."""
    import termios  # there is SIGHUP, so there is this

    for file in (1, 2):
        try:
            termios.tcgetattr(file)
        except termios.error as error:
            if error.args[0] == _NO_TERMINAL:  # a file or a pipe
                continue
            with suppress(OSError):
                null = os.open(os.devnull, os.O_WRONLY)
                os.dup2(null, file)
                os.close(null)


def _request_at_end_of_input(request: Callable[[], None]) -> None:
    # Below sys.stdin: a thread inside of its buffer would hold a lock that the interpreter needs to exit.
    while os.read(sys.stdin.fileno(), 4096):
        pass
    request()
