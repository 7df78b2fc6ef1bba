"""A stub of BeamNG's game side (generation 1), written from the description of its protocol alone.

`GameWindow` is the window algorithm, without clock or socket. `CoupledGame` runs it with a car at rest, in bursts
of 0.5 ms steps once per graphics frame; `FaultPlan` says what goes wrong. Choices where the description leaves room:

* Datagrams that are not 512 bytes are discarded before the algorithm sees them, as are lost ones: neither ends a wait.
* A frame computes the steps due since the frame before, at most 50 ms of them: longer blocks are never caught up.
* A restart waits for the end of a block and opens new sockets: unread answers are gone.
"""

import math
import random
import struct
from dataclasses import dataclass
from typing import NamedTuple

STEP_S, FRAME_S, LONGEST_FRAME_S = 0.0005, 1.0 / 60.0, 0.05
BLOCK_TIMEOUT_S = 2.0
STATE, COMMAND = struct.Struct("<111d"), struct.Struct("<64d")


class StepOutcome(NamedTuple):
    """What one physics step did: the id to send or None; whether the datagram was accepted, refused; a time-out."""

    send_id: int | None = None
    accepted: bool = False
    refused: bool = False
    timed_out: bool = False


class GameWindow:
    """The game's window algorithm for a controller's period and round trip, in s. `step` runs it once."""

    def __init__(self, simulink_time=0.005, ping_time=0.00001):
        self.send_skips = math.ceil(simulink_time / STEP_S) - 1
        self.unanswered = math.ceil(ping_time / simulink_time)
        self.sent = self.highest = self.since = self.next_id = 0

    @property
    def blocks(self):
        """Whether the next step waits for a datagram, at most `BLOCK_TIMEOUT_S`. Else it reads without waiting."""
        # Not `>=`: after an id of NaN no comparison holds, and the window is full.
        return self.since >= self.send_skips and not self.sent - self.highest < self.unanswered

    def step(self, answer_id=None):
        """Run one physics step with the id of the datagram that it read, None if none came, and return its outcome."""
        came, blocks = answer_id is not None, self.blocks
        refused = came and answer_id <= self.highest  # NaN is not refused
        if came and not refused:
            self.highest = answer_id
        if self.since < self.send_skips:
            self.since += 1
            return StepOutcome(None, came and not refused, refused)
        if blocks and not came:
            self.sent = self.highest = 0
            return StepOutcome(timed_out=True)
        if blocks and refused and self.highest != 0:
            return StepOutcome(refused=True)
        self.next_id, self.sent, self.since = self.next_id + 1, self.sent + 1, 0
        return StepOutcome(self.next_id - 1, came and not refused, refused)


@dataclass
class FaultPlan:
    """What goes wrong: the share of answers that are lost, and when, s, the script is loaded anew."""

    lose_answers: float = 0.0
    restarts: tuple = ()
    seed: int = 0


@dataclass
class GameStatistics:
    """Counts of one run; times in s of the clock. An accepted answer answers all messages of the window."""

    messages_sent: int = 0
    messages_answered: int = 0
    answers_accepted: int = 0
    answers_refused: int = 0
    answers_lost: int = 0
    time_outs: int = 0
    restarts: int = 0
    longest_block_s: float = 0.0
    last_accepted_at_s: float = 0.0


class CoupledGame:
    """The game: window, faults and pace, on a port with `receive`, `send` and `reopen`, and its `clock` and `sleep`."""

    def __init__(self, port, window_times, faults):
        self.port, self.window_times, self.faults = port, window_times, faults
        self.statistics, self.losses, self.restarts = GameStatistics(), random.Random(faults.seed), [*faults.restarts]
        self._load_script()

    def run(self, seconds):
        frame, due_s, self.end = self.port.clock(), 0.0, self.port.clock() + seconds
        while (now := self.port.clock()) < self.end:
            due_s, frame = due_s + min(now - frame, LONGEST_FRAME_S), now
            while due_s >= STEP_S and self.port.clock() < self.end:
                self._run_step()
                due_s -= STEP_S
            if (wait := min(frame + FRAME_S, self.end) - self.port.clock()) > 0.0:
                self.port.sleep(wait)
        return self.statistics

    def _run_step(self):
        counts = self.statistics
        if self.restarts and self.restarts[0] <= self.port.clock():
            del self.restarts[0]
            counts.restarts += 1
            self.port.reopen()
            self._load_script()
        blocks, before = self.window.blocks, self.port.clock()
        answer_id = self._receive(BLOCK_TIMEOUT_S if blocks else 0.0)
        if blocks:
            blocked = self.port.clock() - before
            counts.longest_block_s = max(counts.longest_block_s, blocked)
            if answer_id is None and blocked < BLOCK_TIMEOUT_S and self.port.clock() >= self.end:
                return  # the run ends in a block that is no time-out yet
        outcome = self.window.step(answer_id)
        counts.time_outs += outcome.timed_out
        counts.answers_refused += outcome.refused
        if outcome.accepted:
            counts.answers_accepted += 1
            counts.messages_answered += self.pending
            counts.last_accepted_at_s, self.pending = self.port.clock(), 0
        if outcome.send_id is not None:
            counts.messages_sent += 1
            self.pending = min(self.pending + 1, max(self.window.unanswered, 1))
            self.port.send(STATE.pack(float(outcome.send_id), *[0.0] * 110))

    def _receive(self, timeout_s):
        """Return the id of the next answer that the plan does not lose, None if none comes in time."""
        deadline = min(self.port.clock() + timeout_s, self.end)
        while (data := self.port.receive(max(deadline - self.port.clock(), 0.0) if timeout_s else 0.0)) is not None:
            if len(data) == COMMAND.size and self.losses.random() >= self.faults.lose_answers:
                return COMMAND.unpack(data)[0]
            self.statistics.answers_lost += 1
        return None

    def _load_script(self):
        self.window = GameWindow(*self.window_times)
        self.pending = 0  # newest messages without an accepted answer, as many as can still be answered
