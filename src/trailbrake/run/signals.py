"""Ctrl-C and SIGTERM as a request, not an exception, so that the controls are left safe first."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def on_stop(request: Callable[[], None]) -> Iterator[None]:
    """Call `request` on the first SIGINT or SIGTERM; a second one raises KeyboardInterrupt as usual.

    Outside the main thread, where Python allows no handlers, it does nothing.
    """
    previous: dict[int, object] = {}

    def restore() -> None:
        while previous:
            number, handler = previous.popitem()
            signal.signal(number, handler)  # type: ignore[arg-type]

    def handle(number: int, frame: FrameType | None) -> None:
        restore()
        request()

    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            previous[number] = signal.signal(number, handle)
    except ValueError:
        previous.clear()
    try:
        yield
    finally:
        restore()
