"""Ctrl-C and SIGTERM as a request, not an exception, so that the controls are left safe first."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from trailbrake.system.breakable_call import BreakableCall

CHILD_VARIABLE = "TRAILBRAKE_CHILD"  # set for a process of ours that is to end when its standard input does


_SIGNALS = [signal.SIGINT, signal.SIGTERM]
if sys.platform == "win32":
    _SIGNALS.append(signal.SIGBREAK)  # Ctrl-Break: the only one that reaches a process group of its own


@contextmanager
def handle_stop_signals(request: Callable[[], None], breakable: BreakableCall | None = None) -> Iterator[None]:
    """Call `request` on the first SIGINT or SIGTERM; further ones raise KeyboardInterrupt.

    On Windows Ctrl-Break is one, too. Outside the main thread, where Python allows no handlers, it does nothing. In a
    process with TRAILBRAKE_CHILD set the end of standard input is such a request as well: it comes even when the parent
    was killed, and on Windows, where there is no SIGTERM to send.

    Args:
        request: called by the first signal, in the main thread.
        breakable: a call that is broken off by the same signals.
    """
    if os.environ.get(CHILD_VARIABLE):
        threading.Thread(target=_request_at_end_of_input, args=(request,), daemon=True).start()
    previous: dict[int, object] = {}
    is_requested = False

    def restore() -> None:
        while previous:
            number, handler = previous.popitem()
            signal.signal(number, handler)  # type: ignore[arg-type]

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal is_requested
        if breakable is not None and breakable.handle_signal():
            return
        if is_requested:
            raise KeyboardInterrupt
        is_requested = True
        request()

    try:
        for number in _SIGNALS:
            previous[number] = signal.signal(number, handle)
    except ValueError:
        previous.clear()
    try:
        yield
    finally:
        restore()


def _request_at_end_of_input(request: Callable[[], None]) -> None:
    # Below sys.stdin: a thread inside of its buffer would hold a lock that the interpreter needs to exit.
    while os.read(sys.stdin.fileno(), 4096):
        pass
    request()
