"""Windows' events that end a console program: the window is closed, the user logs off, the machine shuts down.

They are no signals of Python's. The system runs a handler in a thread of its own, and ends the process when the handler
returns, or about 5 s after the event (HandlerRoutine and SetConsoleCtrlHandler in Microsoft's documentation).
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

CLOSE, LOGOFF, SHUTDOWN = 2, 5, 6  # CTRL_CLOSE_EVENT and its relatives
STOP_S = 3.0  # s that a stop may take: of the 5 that Windows gives, the others are for recording and report
LONGEST_S = 30.0  # s, longer than Windows waits


class ConsoleEndHandler:
    """Handles an event; returns to Windows only when it will wait no longer.

    Args:
        end: called once with the seconds that a stop may take, in a thread of Windows'.
        sleep: lets the rest of the process do what is left, and end; s.
    """

    def __init__(self, end: Callable[[float], None], sleep: Callable[[float], None] = time.sleep) -> None:
        self._end, self._sleep, self._has_ended = end, sleep, False

    def __call__(self, event: int) -> bool:
        """Return whether the event was handled: Ctrl-C and Ctrl-Break are signals, and not of this handler."""
        if event not in (CLOSE, LOGOFF, SHUTDOWN):
            return False
        if not self._has_ended:
            self._has_ended = True
            self._end(STOP_S)
        self._sleep(LONGEST_S)
        return True


@contextmanager
def handle_console_end(end: Callable[[float], None]) -> Iterator[None]:
    """Call `end` at such an event during the `with`; other systems have none."""
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
