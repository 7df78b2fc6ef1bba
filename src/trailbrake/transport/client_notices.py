"""What a host says about its clients on stderr: one line each, once, so that silence is never the only symptom.

A host holds one `ClientNotices` and reports to it what it sees; the notices decide what is worth a line. Times are the
host's `now`, s of any steady clock.
"""

import select
import sys
from collections.abc import Callable

from trailbrake.system import steady_clock

Address = tuple[str, int]
WAITING_S = 5.0  # s without a client after which the host says where it waits
MOST_LINES = 60  # in a row; then ...
LINE_EVERY_S = 60.0  # ... one in so many s, with the number of those left out: strangers may knock without an end
MOST_DETAILS = 5  # different faults in the messages of one client
UNFINISHED_S = 1.0  # s after which bytes without the end of a message are worth a line


def accepts_line() -> bool:
    """Return whether standard error takes a line of up to 4 KiB now, without a wait. True where it cannot be known.

    A pipe whose reader has stopped, or a terminal that Ctrl-S holds, blocks the next write once it is full.
    """
    if not hasattr(select, "poll"):  # Windows has none, for files
        return True
    try:
        number = sys.stderr.fileno()
    except (AttributeError, OSError, ValueError):  # there is none, or it is no file of the system
        return True
    poll = select.poll()
    poll.register(number, select.POLLOUT)
    return any(events == select.POLLOUT for _, events in poll.poll(0))


def print_to_stderr(text: str) -> None:
    """Print a line for the user; characters of the other end that would steer a terminal become question marks."""
    print("".join(c if c.isprintable() else "?" for c in text), file=sys.stderr, flush=True)


class LineBudget:
    """Prints lines, and leaves out those of a flood: MOST_LINES in a row, then one in LINE_EVERY_S.

    It also leaves out a line that would block its caller.

    Args:
        say: prints a line.
        clock: s, steady.
        accepts_line: whether `say` would return at once.
    """

    def __init__(
        self,
        say: Callable[[str], None] = print_to_stderr,
        clock: Callable[[], float] = steady_clock.now,
        accepts_line: Callable[[], bool] = accepts_line,
    ) -> None:
        self._say, self._clock, self._accepts_line = say, clock, accepts_line
        self._left, self._at, self._omitted = float(MOST_LINES), clock(), 0

    def __call__(self, text: str) -> None:
        """Print a line, or count it among those left out."""
        now = self._clock()
        self._left = min(self._left + (now - self._at) / LINE_EVERY_S, float(MOST_LINES))
        self._at = now
        if self._left < 1.0 or not self._accepts_line():
            self._omitted += 1
            return
        self._left -= 1.0
        more = f" ({self._omitted} lines like these left out before)" if self._omitted else ""
        self._omitted = 0
        self._say(text + more)


class ClientNotices:
    """Prints each kind of notice once per client, and no flood of them.

    Args:
        name: of the simulator, in front of each line.
        waiting: what the host does while it has no client, as "no client has called 127.0.0.1:9091 yet"; "" where the
            wire is private and the other end is ours.
        say: prints a line.
    """

    def __init__(self, name: str, waiting: str = "", say: Callable[[str], None] = print_to_stderr) -> None:
        self._name, self._waiting, self._say = name, waiting, LineBudget(say)
        self._waits_since: float | None = None
        self._unfinished_since: float | None = None
        self._unreadable: set[str] = set()
        self._has_unfinished = self._has_rivals = False
        self._senders: tuple[Address | None, Address | None] = (None, None)  # the newest two, the newest one last
        self._substitutes: set[str] = set()

    def note_waiting(self, now: float) -> None:
        """There is no client at `now`."""
        if self._waits_since is None:
            self._waits_since = now
        if self._waiting and now - self._waits_since >= WAITING_S:
            self._say(f"{self._name}: {self._waiting}")
            self._waiting = ""

    def note_client(self) -> None:
        """A new client has come: what was said of another one may be said of this one too."""
        self._unfinished_since = None
        self._unreadable.clear()
        self._has_unfinished = False
        self._waiting = ""  # one has called

    def note_end(self, reason: str) -> None:
        """A connection has ended; `reason` says why."""
        self._say(f"{self._name}: {reason}")

    def note_substitute(self, text: str) -> None:
        """The host shows something else than the client has requested; `text` says what."""
        if text not in self._substitutes:
            self._substitutes.add(text)
            self._say(f"{self._name}: {text}")

    def note_unreadable(self, detail: str, sender: str = "") -> None:
        """A whole message could not be read; `detail` says what is wrong with it. MOST_DETAILS of a client are said."""
        if len(self._unreadable) < MOST_DETAILS and detail not in self._unreadable:
            self._unreadable.add(detail)
            self._say(f"{self._name}: a message that cannot be read{_describe_sender(sender)}: {detail}")

    def note_sender(self, sender: Address) -> None:
        """A datagram of `sender` has come; a line says so where two senders take turns.

        A client may send each datagram from a port of its own: then no sender comes back.
        """
        before, newest = self._senders
        if sender == newest:
            return
        self._senders = newest, sender
        if sender == before and newest is not None and not self._has_rivals:
            self._has_rivals = True
            one, other = sorted((sender, newest))
            self._say(
                f"{self._name}: two clients send controls, {one[0]}:{one[1]} and {other[0]}:{other[1]}; the newest "
                "message counts: stop one of them"
            )

    def note_unfinished(self, count: int, now: float, sender: str = "") -> None:
        """`count` received bytes at `now` are no whole message; 0 where nothing is left over."""
        if not count or self._has_unfinished:
            self._unfinished_since = None
        elif self._unfinished_since is None:
            self._unfinished_since = now
        elif now - self._unfinished_since >= UNFINISHED_S:
            self._has_unfinished = True
            self._say(f"{self._name}: {count} bytes without the end of a message{_describe_sender(sender)}")


def _describe_sender(sender: str) -> str:
    return f" from {sender}" if sender else ""
