"""What a coupling went through, seen from the simulator's end; times in s of whatever clock the host is given.

The host is told the time once per tick. So a round trip is from the tick that sent a message to the tick that took its
answer: the simulator's own step is in it, and nothing shorter than a tick is seen.
"""

from collections import deque
from typing import Any

from trailbrake.histogram import Durations


class Statistics:
    """Counts and times of one vehicle's coupling."""

    def __init__(self) -> None:
        self.messages_in = self.messages_out = self.bytes_in = self.bytes_out = 0
        self.wrong_size = 0  # datagrams that are no message
        self.copies = 0  # datagrams that came twice in a row
        self.accepted = 0
        self.steps = 0  # physics steps
        self.overruns = 0  # steps in which the physics stood still and waited
        self.blocked = 0.0  # s that it stood still
        self.longest_blocked = 0.0
        self.most_in_flight = 0.0
        self.round_trip = Durations()
        self._under_way: deque[float] = deque()  # when the unanswered messages left

    def sent(self, size: int, now: float, in_flight: float) -> None:
        """Count a message that leaves at `now`."""
        self.messages_out += 1
        self.bytes_out += size
        self._under_way.append(now)
        if in_flight > self.most_in_flight:
            self.most_in_flight = in_flight

    def answered(self, now: float, in_flight: float) -> None:
        """Count an answer that was accepted, behind which `in_flight` messages are still under way."""
        self.accepted += 1
        waiting = self._under_way
        if not waiting:
            return
        left = waiting.popleft()
        while len(waiting) > in_flight >= 0.0:  # it answered more than one
            left = waiting.popleft()
        self.round_trip.add(now - left)

    def given_up(self) -> None:
        """Forget what is under way."""
        self._under_way.clear()

    def stood_still(self, seconds: float) -> None:
        """Count a physics step that had to wait for so long."""
        self.overruns += 1
        self.blocked += seconds
        self.longest_blocked = max(self.longest_blocked, seconds)

    def report(self) -> dict[str, Any]:
        """Return all of it for people and programs; times in us or s as the names say."""
        trip = self.round_trip
        return {
            "messages_in": self.messages_in,
            "messages_out": self.messages_out,
            "bytes_in": self.bytes_in,
            "bytes_out": self.bytes_out,
            "accepted": self.accepted,
            "wrong_size": self.wrong_size,
            "copies": self.copies,
            "steps": self.steps,
            "overruns": self.overruns,
            "blocked_s": self.blocked,
            "blocked_per_step_us": 1e6 * self.blocked / self.steps if self.steps else 0.0,
            "longest_blocked_s": self.longest_blocked,
            "most_in_flight": self.most_in_flight,
            "round_trip_p50_us": 1e6 * trip.percentile(0.5),
            "round_trip_p99_us": 1e6 * trip.percentile(0.99),
            "round_trip_p999_us": 1e6 * trip.percentile(0.999),
        }
