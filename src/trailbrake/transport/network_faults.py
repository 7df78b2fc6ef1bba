"""A bad network between two ends: delay, jitter, loss, duplicates and reordering, seeded and without a clock."""

import heapq
import random
from dataclasses import dataclass, fields

from trailbrake.errors import UsageError

_REORDER_DELAY_S = (
    0.02  # s that a reordered datagram is held back, where the delays alone would not swap it with the next
)
_ROUNDING_S = 1e-9  # s: a delay of whole periods arrives with its tick, whatever the sum of floats


@dataclass(frozen=True, kw_only=True)
class FaultOptions:
    """What goes wrong on the way.

    Attributes:
        loss: share of the datagrams that never arrive, 0 to 1.
        duplicate: share that arrives twice, 0 to 1.
        reorder: share that later ones overtake, 0 to 1.
        delay: seconds that each one takes.
        jitter: seconds, standard deviation of the delay; delays are never negative.
    """

    loss: float = 0.0
    duplicate: float = 0.0
    reorder: float = 0.0
    delay: float = 0.0
    jitter: float = 0.0

    def __post_init__(self) -> None:
        for field in fields(FaultOptions):  # not those that a subclass adds
            most = 1.0 if field.name in ("loss", "duplicate", "reorder") else 60.0
            value = getattr(self, field.name)
            if not 0.0 <= value <= most:
                raise UsageError("out of range", where=f"--{field.name}", expected=f"0 to {most:g}", got=f"{value:g}")


class FaultyQueue:
    """A queue of datagrams under way. Push what is sent, pop what arrives; `now` in s, any steady clock.

    Args:
        options: what goes wrong.
        seed: of the draws; equal seeds and equal pushes give equal faults.

    Attributes:
        lost, duplicated, reordered: how often each happened.
    """

    def __init__(self, options: FaultOptions, seed: int = 0) -> None:
        self._options = options
        self._random = random.Random(seed)
        self._queue: list[tuple[float, int, bytes]] = []
        self._pushed = 0
        self.lost = self.duplicated = self.reordered = 0

    def push(self, data: bytes, now: float) -> None:
        """Send `data` at `now`."""
        # Every datagram takes the same number of draws: changing one share leaves the other faults where they were.
        lost, twice, late = (self._random.random() for _ in range(3))
        delays = [self._draw_delay(), self._draw_delay()]
        if lost < self._options.loss:
            self.lost += 1
            return
        if late < self._options.reorder:
            self.reordered += 1
            delays[0] += _REORDER_DELAY_S
        copies = 1
        if twice < self._options.duplicate:
            self.duplicated += 1
            copies = 2
        for delay in delays[:copies]:
            heapq.heappush(self._queue, (now + delay, self._pushed, data))
            self._pushed += 1

    def _draw_delay(self) -> float:
        return max(0.0, self._random.gauss(self._options.delay, self._options.jitter))

    def pop(self, now: float) -> list[bytes]:
        """Return what has arrived by `now`, in order of arrival."""
        arrived = []
        while self._queue and self._queue[0][0] <= now + _ROUNDING_S:
            arrived.append(heapq.heappop(self._queue)[2])
        return arrived

    @property
    def next_at(self) -> float | None:
        """When the next datagram arrives; None where none is under way."""
        return self._queue[0][0] if self._queue else None
