"""Counts and times of a vehicle's coupling, at the simulator's end; times in s of the host's clock.

The host receives the time once per tick. A round trip therefore lasts from the tick that sent a message to the tick
that received its answer: it includes the simulator's own step, and its resolution is one tick.
"""

from collections import deque
from typing import Any

from trailbrake.histogram import DurationHistogram


class CouplingStatistics:
    """Counts and times of one vehicle's coupling."""

    def __init__(self) -> None:
        self.messages_in = self.messages_out = self.bytes_in = self.bytes_out = 0
        self.wrong_size = 0  # datagrams of another size than a command's
        self.copies = 0  # commands equal to the last accepted one
        self.accepted = 0
        self.steps = 0  # physics steps
        self.overruns = 0  # steps that had to wait for the controller
        self.blocked = 0.0  # s of waiting
        self.longest_blocked = 0.0
        self.most_in_flight = 0.0
        self.round_trip = DurationHistogram()
        self._send_times: deque[float] = deque()  # when each unanswered message was sent

    def count_sent(self, size: int, now: float, in_flight: float) -> None:
        """Count a message of `size` bytes, sent at `now`."""
        self.messages_out += 1
        self.bytes_out += size
        self._send_times.append(now)
        if in_flight > self.most_in_flight:
            self.most_in_flight = in_flight

    def count_answered(self, now: float, in_flight: float) -> None:
        """Count an accepted answer, after which `in_flight` messages are unanswered."""
        self.accepted += 1
        waiting = self._send_times
        if not waiting:
            return
        sent_at = waiting.popleft()
        while len(waiting) > in_flight >= 0.0:  # the answer is for several messages
            sent_at = waiting.popleft()
        self.round_trip.add_duration(now - sent_at)

    def clear_in_flight(self) -> None:
        """Count the unanswered messages as lost."""
        self._send_times.clear()

    def count_blocked(self, seconds: float) -> None:
        """Count a physics step that waited `seconds` for the controller."""
        self.overruns += 1
        self.blocked += seconds
        self.longest_blocked = max(self.longest_blocked, seconds)

    def as_report(self) -> dict[str, Any]:
        """Return all figures by name; the suffix of a name is the unit."""
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
