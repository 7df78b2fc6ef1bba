"""Window flow control: decides when the simulator sends a message, reads an answer and stands still.

Source: protocol page beamng-coupling, sections 5 and 6. The classes have no socket and no clock. After each physics
step the host calls `step` and carries out the returned action and those that follow, until the step is done:

    READ             read one datagram if there is one; then call `handle_reply` or `handle_no_reply`
    WAIT             read one datagram and wait for it with the physics frozen; then call `handle_reply` or, after the
                     time-out, `handle_no_reply`
    SEND             send message `last_id`; the step is done
    SEND_AND_WAIT    send message `last_id`, then as WAIT
    DONE             the step is done

`GameWindow` is the game's own algorithm, faults included. `StrictWindow` is ours.
"""

from enum import Enum
from typing import TypeAlias

from trailbrake.sims.beamng.timing import CouplingTiming


class WindowAction(Enum):
    """The host's next action."""

    READ = 0
    WAIT = 1
    SEND = 2
    SEND_AND_WAIT = 3
    DONE = 4


_MAX_ID = 2.0**53  # largest double up to which all integers are exact
COPY_WAIT_S = 0.02  # s for which a copy of the first answer may be the network's
# Module constants: an enum member costs as much to look up as the comparison that it is for.
READ, WAIT, SEND, SEND_AND_WAIT, DONE = WindowAction


class GameWindow:
    """The game's algorithm, bit for bit.

    Attributes:
        last_id: id of the newest message, -1 before the first.
        rejected: count of answers whose id was not accepted.
        timeouts: count of time-outs without an answer.
        has_unclear_copy: whether a copy of the first answer may be the answer to the newest message. If nothing else
            arrives for COPY_WAIT_S, the host calls `handle_no_reply`, which then accepts it. Never in the game.

    The unanswered messages are the number of sent messages minus the highest accepted id. A time-out sets both to 0,
    but the controller's ids go on: the difference is then far below 0, and the simulator never waits again. The game
    reads at most one datagram in a physics step.
    """

    def __init__(self, timing: CouplingTiming) -> None:
        self._send_skips, self._unanswered = timing.send_skips, timing.unanswered
        self._sent_since_timeout = 0
        self._highest_reply_id = 0.0
        self._steps_since_send = 0
        self._branch = DONE  # of this step: DONE: no message is due; SEND: the window is open; WAIT: the window is full
        self.last_id = -1
        self.rejected = self.timeouts = 0
        self.has_unclear_copy = False

    @property
    def in_flight(self) -> float:
        """Messages since the last time-out minus the highest accepted id; can be NaN or far below 0."""
        return self._sent_since_timeout - self._highest_reply_id

    def step(self) -> WindowAction:
        """Start the coupling of one physics step; return the first action."""
        if self._steps_since_send < self._send_skips:
            self._branch = DONE
            return READ
        if self._sent_since_timeout - self._highest_reply_id < self._unanswered:
            self._branch = SEND
            return READ
        self._branch = WAIT
        return WAIT

    def handle_reply(self, reply_id: float, is_duplicate: bool = False) -> tuple[bool, WindowAction]:
        """Process an answer; return whether it is accepted, so that its controls act, and the next action.

        As in the game, an id of NaN is accepted: no comparison with NaN is true.

        Args:
            reply_id: id of the answer.
            is_duplicate: whether its bytes equal those of the newest accepted answer.
        """
        accepted = not reply_id <= self._highest_reply_id
        if accepted:
            self._highest_reply_id = reply_id
        else:
            self.rejected += 1
        if self._branch is DONE:
            self._steps_since_send += 1
            return accepted, DONE
        if self._branch is SEND or accepted or self._highest_reply_id == 0.0:
            return accepted, self._next_message()
        return False, DONE

    def handle_no_reply(self) -> WindowAction:
        """Skip the step, send a message, or count the unanswered messages as lost."""
        if self._branch is DONE:
            self._steps_since_send += 1
            return DONE
        if self._branch is SEND:
            return self._next_message()
        self.timeouts += 1
        self._sent_since_timeout, self._highest_reply_id = 0, 0.0
        return DONE

    def _next_message(self) -> WindowAction:
        self.last_id += 1
        self._sent_since_timeout += 1
        self._steps_since_send = 0
        return SEND


class StrictWindow:
    """Allows at most `unanswered` messages without an answer, whatever ids the controller gives its answers.

    The attributes are those of `GameWindow`.

    It reads answers only when a message is due and the window is full, one after the other: the answer to message k
    takes effect after message `k + unanswered`, however fast or slow the controller is in wall time. This makes a
    drive in lockstep repeatable.

    Matching of ids: the first answer defines the offset between the controller's ids and ours, so that a controller
    that counts, one that echoes and one that is one id behind all use the whole window. An id that is not higher than
    the highest is rejected, with one exception: controllers that are one id behind send 0 twice at the start. If the
    second command equals the first to the bit, it may be the network's copy: the window waits COPY_WAIT_S for another
    answer before it accepts it (the game waits for its time-out, 2 s). An id that is no whole number answers nothing.

    After a time-out the unanswered messages count as lost, one message is sent, and the physics stays frozen until
    that message is answered. The ids of late answers to lost messages identify them; their controls are accepted, and
    the physics continues to wait. Ids that start anew answer the newest message. If a controller's count is too low for
    the newest message because it did not receive some messages before, the next time-out corrects the offset.
    """

    def __init__(self, timing: CouplingTiming) -> None:
        self._send_skips, self._unanswered = timing.send_skips, timing.unanswered
        self._steps_since_send = 0
        self._last_answered = -1  # id of the newest answered message
        self._last_lost = -1  # id of the newest message that counts as lost
        self._highest_reply_id = 0.0
        self._id_offset: float | None = None  # id of a message minus the id of its answer; None before the first answer
        self._replied_since_timeout = False  # whether an answer was accepted since the last time-out
        self._frozen = False  # whether this step's message was sent at a time-out and is unanswered
        self.last_id = -1
        self.rejected = self.timeouts = 0
        self.has_unclear_copy = False

    @property
    def in_flight(self) -> float:
        """Number of unanswered messages that do not count as lost."""
        answered, given_up = self._last_answered, self._last_lost
        return self.last_id - (answered if answered > given_up else given_up)

    def step(self) -> WindowAction:
        """Start the coupling of one physics step; return the first action."""
        if self._steps_since_send < self._send_skips:
            self._steps_since_send += 1
            return DONE
        return WAIT if self.in_flight >= self._unanswered else self._next_message()

    def handle_reply(self, reply_id: float, is_duplicate: bool = False) -> tuple[bool, WindowAction]:
        """Process an answer; see `GameWindow.handle_reply`."""
        answers = self._match_reply(reply_id, is_duplicate)
        if answers is None:
            if is_duplicate and reply_id == 0.0 and self._can_repeat_zero(reply_id):
                self.has_unclear_copy = True
            self.rejected += 1
            return False, WAIT
        self.has_unclear_copy = False
        if answers > self._last_answered:
            self._last_answered = answers
        self._id_offset = answers - reply_id if self._id_offset is None else self._id_offset
        self._highest_reply_id, self._replied_since_timeout = reply_id, True
        if self._frozen:
            if self._last_answered <= self._last_lost:
                return True, WAIT
            self._frozen = False
            self._steps_since_send = 0
            return True, DONE
        return True, WAIT if self.in_flight >= self._unanswered else self._next_message()

    def _match_reply(self, reply_id: float, is_duplicate: bool) -> int | None:
        """Return the id of the message that an answer is for; None if the answer is rejected."""
        if not abs(reply_id) < _MAX_ID or not reply_id.is_integer():  # false for NaN
            return None
        oldest = max(self._last_answered, self._last_lost) + 1
        if self._id_offset is None:
            # A controller that follows our ids gives at most the id of the newest message plus 1.
            return int(reply_id) - 1 if oldest < reply_id <= self.last_id + 1 else oldest
        if reply_id > self._highest_reply_id:
            answers = reply_id + self._id_offset
            if answers <= self.last_id:
                return int(answers)
            self._id_offset = None  # the simulator never sent such a message: the offset has changed
            return oldest
        if self._can_repeat_zero(reply_id) and not is_duplicate:
            self._id_offset = None
            return oldest
        if self._frozen and not self._replied_since_timeout:
            self._id_offset = None
            return oldest
        return None

    def _can_repeat_zero(self, reply_id: float) -> bool:
        """Return whether an answer is the second 0 of a controller that is one id behind."""
        return reply_id == self._highest_reply_id == 0.0 and self._last_answered == 0

    def handle_no_reply(self) -> WindowAction:
        """Accept the unclear copy; without one count the unanswered messages as lost, and send one more."""
        if self.has_unclear_copy:
            return self.handle_reply(0.0)[1]
        self.timeouts += 1
        if self._frozen and self._replied_since_timeout:
            self._id_offset = (
                self.last_id - self._highest_reply_id
            )  # the controller has answered all messages that it received
        self._last_lost = self.last_id
        self._frozen, self._replied_since_timeout = True, False
        self._next_message()
        return SEND_AND_WAIT

    def _next_message(self) -> WindowAction:
        self.last_id += 1
        self._steps_since_send = 0
        return SEND


Window: TypeAlias = GameWindow | StrictWindow  # of one vehicle
