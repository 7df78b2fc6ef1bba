"""Lines on standard error from loops that must go on, whatever the reader of those lines does.

A pipe whose reader has stopped, or a terminal that Ctrl-S holds, blocks the next write once it is full; a pipe without
a reader raises.
"""

import select
import sys


def accepts_line() -> bool:
    """Return whether standard error takes a line of up to 4 KiB now, without a wait. True where it cannot be known."""
    if not hasattr(select, "poll"):  # Windows has none, for files
        return True
    try:
        number = sys.stderr.fileno()
    except (AttributeError, OSError, ValueError):  # there is none, or it is no file of the system
        return True
    poll = select.poll()
    poll.register(number, select.POLLOUT)
    return any(events == select.POLLOUT for _, events in poll.poll(0))
