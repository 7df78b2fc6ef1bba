"""Our end of BeamNG's wire: answers the simulator's messages, each with one command.

Source: protocol page beamng-coupling, sections 5 and 6. The newest message is answered and the older ones are passed
over. An answer's id says how many messages it answers, counted from 1, so that one which answers several leaves the
simulator's window whole. More messages at hand than may be unanswered mean that the simulator has given up waiting in
the meantime and has begun to count anew: all of them are then dealt with by one answer, and so do we ("resync").
"""

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from trailbrake.errors import SimulatorError, WireError
from trailbrake.roles import LinkCounters
from trailbrake.sims.beamng import spec
from trailbrake.sims.beamng.codec import NO_CUSTOM
from trailbrake.sims.beamng.dialect import Dialect, of_options
from trailbrake.state import CarState, Controls, Phase, SimCommand
from trailbrake.transport.rendezvous import lookup, publish, withdraw
from trailbrake.transport.udp import Address, Udp, address

_MOST_ID = 2.0**53  # beyond it doubles do not count in ones
_TAKE_ANY_AFTER = 2.0  # s of nothing new after which any id is taken: the simulator was started again (section 5)


@dataclass(slots=True)
class Counters(LinkCounters):
    """What went over the wire, from the controller's side."""

    sent: int = 0  # answers
    passed_over: int = 0  # messages that a newer one had made old before they were looked at
    old: int = 0  # messages whose id was not higher than one before: repeated or overtaken
    wrong_size: int = 0  # datagrams that are no message


class Link:
    """Drives a car over UDP.

    Args:
        options: where, and with which timing.
        doors: a folder in which both ends find each other's ports; None = those of the options.
        idle: called by `open` between looks; lets time pass (sleeps, or ticks a host in lockstep) and returns the new
            `now`. Without it `open` does not wait: the phase is LOST until there is a message.

    Attributes:
        counters: what went over the wire.
        custom: the 50 free values of the newest message.
        custom_out: the 50 free values that go with every answer.
        period: s of simulator time from message to message.
    """

    SUPPLIES = spec.SUPPLIES
    ACCEPTS = spec.ACCEPTS

    def __init__(
        self,
        options: spec.LiveOptions | None = None,
        *,
        doors: "str | os.PathLike[str] | None" = None,
        idle: Callable[[], float] | None = None,
    ) -> None:
        self._options = options = options or spec.LiveOptions()
        self.counters: Counters = Counters()
        self.custom = self.custom_out = NO_CUSTOM
        timing = options.timing
        self.period, self._unanswered = timing.step, timing.unanswered
        self._dialect: Dialect = of_options(options)
        self._doors, self._idle, self._vehicle = doors, idle, options.vehicle
        self._udp: Udp | None = None
        self._peer: Address | None = None
        self._last = Controls(brake=1.0)
        self._newest: Any = None  # the newest message that has not been read
        self._id = -1.0  # of the newest message
        self._read_id = -1.0  # of the message that was read last
        self._answered = -1.0  # id of the newest message that was answered
        self._before = 0.0  # and of the one before it
        self._base: float | None = None  # id of the message before the first that we count
        self._any_id = False  # the next message, whatever its id, is from a simulator that was started again
        self._state: CarState | None = None
        self._came_at: float | None = None
        self._stale = False

    def open(self, now: float) -> None:
        """Listen, and wait for the first message."""
        options = self._options
        if self._doors is None:
            host, port = address(options.peer, where="--peer")
            self._peer = host, port + 2 * self._vehicle
            host, port = address(options.listen, where="--listen")
            self._udp = Udp((host, port + 2 * self._vehicle), where=f"--listen {options.listen}")
        else:
            self._udp = Udp(where="a private door")
            publish(self._doors, spec.controller_door(self._vehicle), self._udp.port)
        self._came_at = now
        if self._idle is None:
            return
        try:
            deadline = now + options.wait
            while not self.fresh():
                now = self._idle()
                if now >= deadline:
                    raise SimulatorError(
                        "no message from the simulator", where=f"--listen {options.listen}",
                        expected=f"one within {options.wait:g} s",
                        hint="load the coupling in the game (`trailbrake setup beamng` says how), or "
                        "`trailbrake serve beamng`",
                    )  # fmt: skip
        except BaseException:
            self.close()
            raise
        self._came_at = now

    def fresh(self) -> bool:
        """Return whether there is a message newer than the one read last."""
        # With a whole window at hand there cannot be more; `write`, which must be sure of it, looks again.
        if self._newest is None or self._id - self._answered < self._unanswered:
            self._drain(self._unanswered)
        return self._newest is not None

    def _drain(self, enough: float = math.inf) -> None:
        """Take what has come, until `enough` messages are unanswered; the newest stays in `_newest`."""
        udp, counters = self._udp, self.counters
        if udp is None:
            return
        while (data := udp.receive_data()) is not None:
            try:
                message = self._dialect.decode_state(data)
            except WireError:
                counters.wrong_size += 1
                continue
            message_id = message[0]
            if self._any_id and not message_id > self._id and math.isfinite(message_id):
                self._begin_anew()
            if not self._id < message_id < _MOST_ID:
                counters.old += 1
                continue
            self._any_id = False
            counters.received += 1
            if self._base is None:
                self._base = self._answered = message_id - 1.0
            else:
                counters.lost += max(int(message_id - self._id) - 1, 0)
            counters.passed_over += self._newest is not None
            self._newest, self._id = message, message_id
            if message_id - self._answered >= enough:
                return

    def _begin_anew(self) -> None:
        """The simulator has been started again: its ids begin at 0, and so does everything that hangs on them."""
        self.counters.resyncs += 1
        self._id = self._read_id = self._answered = -1.0
        self._before = 0.0
        self._base = self._state = self._newest = None

    @property
    def waits(self) -> bool:
        """Whether there is nothing to read, as far as it is known without a look."""
        return self._newest is None

    def wait(self, seconds: float) -> None:
        """Let wall time pass until the simulator says something, at most `seconds`."""
        if self._newest is None and self._udp is not None:
            self._udp.wait(seconds)

    def read(self, now: float) -> CarState:
        """Return the newest state. Phase LOST when nothing has come for longer than 0.25 s of `now`."""
        if self._came_at is None:
            self._came_at = now
        if self.fresh():
            message = self._newest
            self._newest, self._read_id = None, message[0]
            self._came_at = now
            self._stale = False
            self.custom = self._dialect.custom_of_state(message)
            self._state = self._dialect.state_of(message, self.period, self._state)
            return self._state
        state = self._state or CarState()
        state.age = now - self._came_at
        self._any_id = state.age > _TAKE_ANY_AFTER
        if state.age > spec.STALE_S or self._state is None:
            state.phase = Phase.LOST
            if not self._stale and self._state is not None:
                self.counters.stale += 1
            self._stale = self._state is not None
        return state

    def write(self, controls: Controls) -> None:
        """Answer what has been read; where there is nothing to answer, nothing is sent."""
        self._last = controls
        if self._udp is None:
            raise SimulatorError("the link is not open", where="beamng")
        self._drain()
        answers = self._read_id
        if self._id - self._answered > self._unanswered:
            # The simulator has given up waiting, and sent again: this answer is for all that is at hand.
            self.counters.resyncs += 1
            self.counters.passed_over += self._newest is not None
            self._newest = None
            answers = self._id
            self._base = answers - 1.0
        if answers > self._answered:
            self._answer(answers)

    def _answer(self, message_id: float) -> None:
        assert self._udp is not None
        peer = self._peer or self._found()
        if peer is None or self._base is None:
            return
        how = self._options.reply_id
        reply_id = message_id - self._base
        if how == "echo":
            reply_id = message_id
        elif how == "echo_delayed":
            reply_id = self._before
        self._before = self._answered = message_id
        self._udp.send(self._dialect.command_of(self._last, reply_id, self.custom_out), peer)
        self.counters.sent += 1

    def _found(self) -> Address | None:
        """Look for the simulator's end behind private doors."""
        assert self._doors is not None
        port = lookup(self._doors, spec.simulator_door(self._vehicle))
        if port is not None:
            self._peer = ("127.0.0.1", port)
        return self._peer

    def command(self, command: SimCommand) -> None:
        """Nothing but driving can be asked of this simulator."""

    def release(self) -> None:
        """Leave the brake on, the throttle shut and the torques to the car, in an answer to what comes next."""
        if self._udp is None:
            return
        self._last = Controls(brake=1.0)
        self._drain()
        self._newest = None
        self._answer(self._id if self._id > self._answered else self._id + 1.0)

    def close(self) -> None:
        """Close the socket."""
        if self._udp is not None:
            self._udp.close()
            self._udp = None
            if self._doors is not None:
                withdraw(self._doors, spec.controller_door(self._vehicle))
