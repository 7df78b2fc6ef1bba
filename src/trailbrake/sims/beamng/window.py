"""When the simulator sends, reads and stands still: the window control, without sockets and without a clock.

Source: protocol page beamng-coupling, sections 5 and 6. After each physics step the host calls `step` and does what
the answer says until it is done:

    READ             read one datagram if there is one; then `datagram` or `silence`
    WAIT             read one datagram, wait for it with the physics frozen; then `datagram` or, after the time-out,
                     `silence`
    SEND             send message `last_id`; the step is done
    SEND_AND_WAIT    send message `last_id`, then as WAIT
    DONE             the step is done

`GameWindow` is the game's own algorithm with all that comes of it. `StrictWindow` is ours.
"""

import math
from enum import Enum
from typing import Protocol

from trailbrake.sims.beamng.timing import Timing


class Act(Enum):
    """What the host has to do next."""

    READ = 0
    WAIT = 1
    SEND = 2
    SEND_AND_WAIT = 3
    DONE = 4


# Looked up in the class, each would cost as much as the comparison that it is for.
READ, WAIT, SEND, SEND_AND_WAIT, DONE = Act


class Window(Protocol):
    """Decides for one vehicle.

    Attributes:
        last_id: id of the newest message, -1 before the first.
        in_flight: messages that count as under way; may be anything in the game's own algorithm.
        rejected: answers whose id was not taken.
        timeouts: how often nothing came for the whole time-out.
    """

    last_id: int
    rejected: int
    timeouts: int

    @property
    def in_flight(self) -> float:
        """Messages that count as unanswered."""

    def step(self) -> Act:
        """Begin the coupling of one physics step."""

    def datagram(self, reply_id: float, copy: bool = False) -> tuple[bool, Act]:
        """Take an answer.

        Args:
            reply_id: its id.
            copy: whether it is, byte for byte, the newest accepted one.

        Returns:
            Whether its controls are to be applied, and what comes next.
        """

    def silence(self) -> Act:
        """Nothing was there to READ, or nothing came to WAIT for within the time-out."""


class GameWindow:
    """The game's algorithm, bit for bit.

    It trusts ids: `sent - highest` is what counts as under way, so that a time-out, which sets both to 0 while the
    controller's ids go on, leaves it far below 0, and the simulator then never waits again. At most one datagram is
    read in a physics step.
    """

    def __init__(self, timing: Timing) -> None:
        self._skips, self._unanswered = timing.send_skips, timing.unanswered
        self._sent = 0
        self._highest = 0.0
        self._since = 0
        self._at = DONE  # the branch of this step: DONE a skipped one, SEND the window is open, WAIT it is full
        self.last_id = -1
        self.rejected = self.timeouts = 0

    @property
    def in_flight(self) -> float:
        """Messages since a time-out less the highest id accepted: NaN or far below 0 where the game has it so."""
        return self._sent - self._highest

    def step(self) -> Act:
        """Begin the coupling of one physics step."""
        if self._since < self._skips:
            self._at = DONE
            return READ
        if self._sent - self._highest < self._unanswered:
            self._at = SEND
            return READ
        self._at = WAIT
        return WAIT

    def datagram(self, reply_id: float, copy: bool = False) -> tuple[bool, Act]:
        """Take an answer. A NaN is never `<=` anything, and so is accepted."""
        accepted = not reply_id <= self._highest
        if accepted:
            self._highest = reply_id
        else:
            self.rejected += 1
        if self._at is DONE:
            self._since += 1
            return accepted, DONE
        if self._at is SEND or accepted or self._highest == 0.0:
            return accepted, self._send()
        return False, DONE

    def silence(self) -> Act:
        """Skip, send, or give the messages under way up, as the branch of this step has it."""
        if self._at is DONE:
            self._since += 1
            return DONE
        if self._at is SEND:
            return self._send()
        self.timeouts += 1
        self._sent, self._highest = 0, 0.0
        return DONE

    def _send(self) -> Act:
        self.last_id += 1
        self._sent += 1
        self._since = 0
        return SEND


class StrictWindow:
    """Never more than `unanswered` messages under way, whatever ids the controller gives its answers.

    Answers are read only where a message is due and the window full, one after the other: the answer to message k
    takes effect behind the message `k + unanswered`, however fast or slow the controller is in wall time. That makes a
    lockstep repeatable.

    Which message an answer answers: the first one tells how far the controller's ids are off ours, so that a
    controller that counts, one that echoes and one that is an id behind all keep the whole window. An id that is not
    higher than the highest is rejected, with one exception: controllers that are an id behind give 0 twice at the
    start. A copy of the first answer, made by the network, is not taken for that; so where such a controller's first
    two commands are the same to the bit it costs time-outs, as in the game. An id that is no finite number answers
    nothing.

    After a time-out the messages under way count as lost, one is sent, and the physics stays frozen until that one is
    answered. Late answers to lost messages are known by their ids; their controls are taken, and the physics waits on.
    Ids that begin anew answer the newest message. Where a controller's count is too low for the newest message because
    it never got some before, the next time-out sets it right.
    """

    def __init__(self, timing: Timing) -> None:
        self._skips, self._unanswered = timing.send_skips, timing.unanswered
        self._since = 0
        self._answered = -1  # newest message that was answered
        self._given_up = -1  # newest message that counts as lost
        self._highest = 0.0
        self._offset: float | None = None  # message less the id of its answer, once there has been one
        self._heard = False  # whether anything was accepted since the last time-out
        self._frozen = False  # this physics step's message went out at a time-out, and has no answer yet
        self.last_id = -1
        self.rejected = self.timeouts = 0

    @property
    def in_flight(self) -> float:
        """Messages that count as unanswered."""
        answered, given_up = self._answered, self._given_up
        return self.last_id - (answered if answered > given_up else given_up)

    def step(self) -> Act:
        """Begin the coupling of one physics step."""
        if self._since < self._skips:
            self._since += 1
            return DONE
        return WAIT if self.in_flight >= self._unanswered else self._send()

    def datagram(self, reply_id: float, copy: bool = False) -> tuple[bool, Act]:
        """Take an answer."""
        answers = self._message_of(reply_id, copy)
        if answers is None:
            self.rejected += 1
            return False, WAIT
        if answers > self._answered:
            self._answered = answers
        self._offset = answers - reply_id if self._offset is None else self._offset
        self._highest, self._heard = reply_id, True
        if self._frozen:
            if self._answered <= self._given_up:
                return True, WAIT
            self._frozen = False
            self._since = 0
            return True, DONE
        return True, WAIT if self.in_flight >= self._unanswered else self._send()

    def _message_of(self, reply_id: float, copy: bool) -> int | None:
        """Return which message an answer answers, None where it answers nothing."""
        if not math.isfinite(reply_id):
            return None
        oldest = max(self._answered, self._given_up) + 1
        if self._offset is None:
            # No controller that is in step with our ids gives a higher one than the message's plus 1.
            return int(reply_id) - 1 if oldest < reply_id <= self.last_id + 1 else oldest
        if reply_id > self._highest:
            answers = reply_id + self._offset
            if answers <= self.last_id:
                return int(answers)
            self._offset = None  # a message that we never sent: the ids are off by something else now
            return oldest
        if reply_id == self._highest == 0.0 and self._answered == 0 and not copy:
            self._offset = None
            return oldest
        if self._frozen and not self._heard:
            self._offset = None
            return oldest
        return None

    def silence(self) -> Act:
        """Nothing came within the time-out: give up what is under way and ask once more."""
        self.timeouts += 1
        if self._frozen and self._heard:
            self._offset = self.last_id - self._highest  # it has answered all that it got
        self._given_up = self.last_id
        self._frozen, self._heard = True, False
        self._send()
        return SEND_AND_WAIT

    def _send(self) -> Act:
        self.last_id += 1
        self._since = 0
        return SEND
