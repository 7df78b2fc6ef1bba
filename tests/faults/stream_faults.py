"""What goes wrong with the states on their way to the client: seeded queues that a door pushes to and pops from."""

import math
from collections import deque

from faults.wire_views import HOUR_S, seeded
from trailbrake.transport.network_faults import FaultOptions, FaultyQueue

SHARE = 0.3  # of the messages that a fault damages
STALL_S = 0.2  # a lost segment of TCP comes that much later, and all after it


class Undisturbed:
    """Passes messages on as they come. The others change `alter`, or hold messages back."""

    def __init__(self):
        self._arrived = deque()

    def push(self, data, now):
        self._arrived.extend(self.alter(data))

    def alter(self, data):
        return [data]

    def pop(self, now):
        arrived = list(self._arrived)
        self._arrived.clear()
        return arrived


class Frozen(Undisturbed):
    """Nothing arrives. A stream of TCP holds what was sent (`holds`); datagrams and pages are gone."""

    def __init__(self, holds):
        super().__init__()
        self.held = deque() if holds else None

    def alter(self, data):
        if self.held is not None:
            self.held.append(data)
        return []


class Stalling(Undisturbed):
    """A share of the messages is late by STALL_S, with all that come after it: loss, as TCP shows it."""

    def __init__(self, share):
        super().__init__()
        self._queue, self._free_at, self._share, self._draw = deque(), 0.0, share, seeded()

    def push(self, data, now):
        if self._draw.random() < self._share:
            self._free_at = now + STALL_S
        self._queue.append((self._free_at, data))

    def pop(self, now):
        arrived = []
        while self._queue and self._queue[0][0] <= now:
            arrived.append(self._queue.popleft()[1])
        return arrived


class Twice(Undisturbed):
    def alter(self, data):
        return [data, data]


class Damaged(Undisturbed):
    """A share of the messages goes through `change`. With `lead` an intact copy follows, as a lockstep needs it."""

    def __init__(self, change, share=SHARE):
        super().__init__()
        self._change, self._share, self._draw = change, share, seeded()

    def alter(self, data):
        return [self._change(data, self._draw)] if self._draw.random() < self._share else [data]


class ShiftedClock(Undisturbed):
    """From the first message on the simulator's clock is `shift` further.

    "wrap": it overflows soon after; "zero": it begins anew.
    """

    def __init__(self, view, shift):
        super().__init__()
        self._view, self._shift = view, shift

    def alter(self, data):
        clock = self._view.clock(data)
        if clock is None:
            return [data]
        if self._shift == "wrap":
            self._shift = self._view.wrap_at - clock - self._view.rate // 3
        elif self._shift == "zero":
            self._shift = -clock
        return [self._view.shift_clock(data, self._shift)]


class SamePicture(Undisturbed):
    """The camera shows the first picture for ever."""

    def __init__(self, view):
        super().__init__()
        self._view, self._picture = view, None

    def alter(self, data):
        self._picture = self._picture or self._view.picture(data)
        return [self._view.set_picture(data, self._picture)]


class Delayed(Undisturbed):
    """Each message comes `low` to `high` s later, in order."""

    def __init__(self, low, high, seed):
        super().__init__()
        self._queue, self._low, self._high, self._draw = deque(), low, high, seeded(seed)
        self._free_at = 0.0

    def push(self, data, now):
        self._free_at = max(self._free_at, now + self._draw.uniform(self._low, self._high))
        self._queue.append((self._free_at, data))

    def pop(self, now):
        arrived = []
        while self._queue and self._queue[0][0] <= now:
            arrived.append(self._queue.popleft()[1])
        return arrived


def lossy_queue(**shares):
    return FaultyQueue(FaultOptions(**shares), seed=1)


def make_stream_fault(name, view, *, is_stream):
    """Return the queue of the fault `name`.

    Args:
        name: as in the table of outcomes.
        view: of the wire.
        is_stream: whether the wire is TCP.
    """
    hour = round(HOUR_S * view.rate)
    return {
        "telemetry frozen 0.2 s": lambda: Frozen(is_stream),
        "telemetry frozen 5 s": lambda: Frozen(is_stream),
        "20 % loss": lambda: Stalling(0.2) if is_stream else lossy_queue(loss=0.2),
        "duplicates": lambda: Twice(),
        "reordering": lambda: lossy_queue(reorder=0.2),
        "truncated": lambda: Damaged(lambda data, draw: view.cut(data)),
        "garbage": lambda: Damaged(view.scramble),
        "NaN": lambda: Damaged(lambda data, draw: view.set_values(data, math.nan, draw)),
        "infinity": lambda: Damaged(lambda data, draw: view.set_values(data, math.inf, draw)),
        "clock jumps forward": lambda: ShiftedClock(view, hour),
        "clock jumps back": lambda: ShiftedClock(view, "zero"),
        "clock wraps": lambda: ShiftedClock(view, "wrap"),
        "camera cannot be decoded": lambda: Damaged(lambda data, draw: view.set_picture(data, "AAAA"), 1.0),
        "camera frozen": lambda: SamePicture(view),
        "camera gone": lambda: Damaged(lambda data, draw: view.set_picture(data, None), 1.0),
    }[name]()
