"""The controller's end of BeamNG's wire: receives states and answers with commands.

Source: protocol page beamng-coupling, sections 5 and 6. The link answers the newest message and skips older ones. The
id of an answer is the number of messages received so far, from 1, so that one answer for several messages reopens the
simulator's whole window. The simulator refuses ids that are not above the highest one so far. Therefore the link starts
to count anew only where the simulator has done so: it was started anew ("resync"), or it has waited in vain for an
answer for its time-out ("timeout"). A backlog alone is no sign of either.
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from trailbrake.errors import SimulatorError, UsageError, WireError
from trailbrake.roles import LONGEST_LOSS_S, LinkCounters
from trailbrake.sims.beamng import spec
from trailbrake.sims.beamng.codec import NO_CHANGE_COMMAND, NO_CUSTOM, encode_command
from trailbrake.sims.beamng.message_format import MessageFormat, find_accepted, find_supplied, make_message_format
from trailbrake.sims.beamng.timing import PeriodCheck
from trailbrake.simulator_tools import Doors, Idle
from trailbrake.state import CarState, Controls, Phase, Signal, SignalValues, SimCommand
from trailbrake.transport.rendezvous import lookup_port, publish_port, withdraw_port
from trailbrake.transport.udp import Address, SenderGuard, UdpSocket, parse_address

_MAX_ID = 2.0**53  # largest double up to which all integers are exact
_MAX_GAP = 100.0  # ids by which a message may be ahead of the newest one without a second message that confirms it
_MAX_DATAGRAMS_PER_READ = 256  # more than the system keeps; so that a flooded port does not hold the loop
_RESTART_AFTER_S = 2.0  # s without a new message after which a lower id means a restarted simulator (section 5)
_TIMEOUT_S = 1.9  # s since the last answer after which the simulator's time-out of 2 s may have passed
_QUICK_RESTART_S = 0.5  # s between an answer and the first message of a new numbering; a game takes longer to load
_SILENCE_S = 1.0  # s for which a simulator that waits has been seen to send nothing


@dataclass(slots=True)
class BeamngLinkCounters(LinkCounters):
    """Counts of messages at the controller's end."""

    sent: int = 0  # answers
    timeouts: int = 0  # times that the simulator has waited in vain for an answer, and has started to count anew
    passed_over: int = 0  # messages that were not read because a newer one was there
    old: int = 0  # messages whose id was not higher than an earlier one: repeated or overtaken
    jumps: int = 0  # messages whose id was far ahead: the first of a new sequence, or a wrong one
    bad_ids: int = 0  # messages whose id was no whole number from 0
    foreign: int = 0  # messages of a second sender, while the first one sends
    wrong_size: int = 0  # datagrams of another size than a state message's


class Link:
    """Drives a car over UDP.

    Args:
        options: addresses and timing.
        doors: rendezvous folder in which both ends publish their ports; None = the ports in the options.
        idle: `open` calls it while it waits; it lets time pass (sleeps, or ticks a host in lockstep) and returns the
            new `now`. Without it `open` does not wait: the phase is LOST until a message arrives.

    Attributes:
        counters: counts of messages.
        custom: the custom values of the newest message: 50 in generation 1, else the unknown signals of the contract.
        custom_out: the custom values that every answer carries; NaN: none.
        period: s of simulator time between two messages.
    """

    SUPPLIES = spec.SUPPLIES  # of generation 1
    ACCEPTS = spec.ACCEPTS
    LEAVES = spec.LEAVES

    def __init__(
        self, options: spec.LiveOptions | None = None, *, doors: Doors = None, idle: Idle | None = None
    ) -> None:
        self._options = options = options or spec.LiveOptions()
        self.counters: BeamngLinkCounters = BeamngLinkCounters()
        self._format: MessageFormat = make_message_format(options)
        self.custom: tuple[float, ...] = NO_CUSTOM
        self.custom_out: tuple[float, ...] = NO_CUSTOM
        if options.generation == 2:
            self.SUPPLIES, self.ACCEPTS = find_supplied(options), find_accepted(options)
            self.custom = (math.nan,) * len(self._format.state_custom_names)
            self.custom_out = (math.nan,) * len(self._format.command_custom_names)
        timing = options.timing
        self.period, self._unanswered = timing.message_period, timing.unanswered
        self._period_check: PeriodCheck | None = PeriodCheck(self.period)
        self._signal_places: dict[str, int] = {}
        self._doors, self._idle, self._vehicle = doors, idle, options.vehicle
        self._udp: UdpSocket | None = None
        self._peer: Address | None = None
        self._controls = Controls(brake=1.0)
        self._unread_message: Any = None  # newest message that `read` has not returned
        self._newest_id = -1.0  # of the newest message
        self._read_id = -1.0  # id of the message that `read` returned last
        self._answered_id = -1.0  # id of the newest answered message
        self._previous_answered_id = 0.0  # id of the message answered before that
        self._reply_base: float | None = None  # reply ids count from the message after this id
        self._accept_any_id = False  # whether a lower id means a restarted simulator
        self._jump_id = -math.inf  # id of the newest message that was far ahead
        self._answered_at = 0.0  # s, as `now`, of the newest answer
        self._silent_s = 0.0  # s since the newest message, when `read` last found none
        self._last_reply = 0.0  # id of the newest answer
        self._first_reply = 1.0  # id of the answer to the first message of a numbering
        self._foreign_at = math.inf  # s, as `now`, of the first datagram of another sender since the newest message
        self._is_late = False  # whether an answer was held back, because more messages than the window have come
        self._guard = SenderGuard(spec.NAME)
        self._now = 0.0  # s, of the newest `read`
        self._is_released = True  # whether `close` may leave the controls as they are
        self._state: CarState | None = None
        self._received_at: float | None = None
        self._stale = False

    def select_signals(self, signals: Sequence[Signal]) -> None:
        """Fill `signals`, in this order, in every state from the next message on."""
        names = [signal.name for signal in signals]
        self._signal_places = {name: place for place, name in enumerate(names)}
        self._format = self._format.select_signals(names)

    def open(self, now: float) -> None:
        """Listen, and wait for the first message."""
        options = self._options
        if self._doors is None:
            host, port = parse_address(options.peer, where="--peer")
            self._peer = host, port + 2 * self._vehicle
            host, port = parse_address(options.listen, where="--listen")
            self._udp = UdpSocket((host, port + 2 * self._vehicle), where=f"--listen {options.listen}")
        else:
            self._udp = UdpSocket(where="a private door")
            publish_port(self._doors, spec.controller_rendezvous_name(self._vehicle), self._udp.port)
        self._received_at = self._answered_at = self._now = now
        if self._doors is None:
            _print_note(f"expects {options.timing.describe_timing()}")
        if self._idle is None:
            return
        try:
            deadline = now + options.wait
            while not self.has_new_sample():
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
        self._received_at = self._answered_at = now

    def has_new_sample(self) -> bool:
        """Return whether there is a message newer than the last one that `read` returned."""
        # After a whole window of messages the simulator sends no more; `write`, which must be sure, reads again.
        if self._unread_message is None or self._newest_id - self._answered_id < self._unanswered:
            self._drain_socket(self._unanswered)
        return self._unread_message is not None

    def _drain_socket(self, until_unanswered: float = math.inf) -> None:
        """Receive the waiting messages, until `until_unanswered` are unanswered; keep the newest unread one."""
        udp, counters, guard = self._udp, self.counters, self._guard
        if udp is None:
            return
        for _ in range(_MAX_DATAGRAMS_PER_READ):
            got = udp.receive()
            if got is None:
                return
            data, sender = got
            if sender != guard.sender and not guard.admit(sender, self._now):
                counters.foreign = guard.foreign
                self._foreign_at = min(self._foreign_at, self._now)
                continue
            try:
                message = self._format.decode_state(data)
            except WireError as error:
                if not counters.wrong_size:
                    _print_note(f"dropped {error}: is --contract that of the simulator, and is the port its own?")
                counters.wrong_size += 1
                continue
            message_id = message[0]
            if sender == guard.sender:
                guard.heard_at = self._now
            elif not self._change_sender(sender, message_id):
                continue
            # Most ids are the next one; the others take longer.
            is_near = 0.0 < message_id - self._newest_id <= _MAX_GAP and message_id.is_integer()
            if not is_near and not self._admit_id(message_id):
                continue
            self._accept_any_id, self._foreign_at = False, math.inf
            counters.received += 1
            if self._reply_base is None:
                self._answered_id = message_id - 1.0
                self._reply_base = message_id - self._first_reply
            else:
                self._count_lost(message_id - self._newest_id)
            counters.passed_over += self._unread_message is not None
            self._unread_message, self._newest_id = message, message_id
            if message_id - self._answered_id >= until_unanswered:
                return

    def _change_sender(self, sender: Address, message_id: float) -> bool:
        """Hold a new sender, which counts by itself; return False where its message has no id."""
        if not _is_id(message_id):
            self.counters.bad_ids += 1
            return False
        if self._guard.sender is not None:
            self._reset_numbering()
        self._guard.hold(sender, self._now)
        return True

    def _admit_id(self, message_id: float) -> bool:
        """Return whether to take a message whose id is not among the next ones.

        An id that is far ahead is wrong, or the numbering has jumped: a second message of the same sequence shows
        which. The first message of all has no other to compare with. Only a simulator that was started anew sends id 0
        after many others.
        """
        counters = self.counters
        if not _is_id(message_id):
            counters.bad_ids += 1
            return False
        if self._reply_base is None:
            return True
        if message_id <= self._newest_id:
            if self._accept_any_id or (message_id == 0.0 and self._newest_id > _MAX_GAP):
                self._reset_numbering()
                return True
            counters.old += 1
            return False
        if self._accept_any_id or 0.0 < message_id - self._jump_id <= _MAX_GAP:
            self._reply_base += message_id - self._newest_id - 1.0  # the ids of the answers do not jump along
            return True
        self._jump_id = message_id
        counters.jumps += 1
        return False

    def _count_lost(self, gap: float) -> None:
        """Count the messages that are missing where the id has grown by `gap`."""
        if gap * self.period > LONGEST_LOSS_S:
            self.counters.resyncs += 1
        elif gap > 1.0:
            self.counters.lost += int(gap) - 1

    def _reset_numbering(self) -> None:
        """Start to count from 0, as a restarted simulator does.

        One that began again right after an answer may have received that answer, and refuses lower ids: then those of
        the answers go on.
        """
        began = min(self._foreign_at, self._now)
        self._first_reply = self._last_reply + 1.0 if began - self._answered_at < _QUICK_RESTART_S else 1.0
        self.counters.resyncs += 1
        self._newest_id = self._read_id = self._answered_id = -1.0
        self._previous_answered_id = 0.0
        self._reply_base = self._state = self._unread_message = None

    @property
    def waits(self) -> bool:
        """Whether no unread message is known; does not look at the socket."""
        return self._unread_message is None

    def wait(self, seconds: float) -> None:
        """Sleep until a datagram from the simulator arrives, at most `seconds`; return at once unless `waits`."""
        if self._unread_message is None and self._udp is not None:
            self._udp.wait_readable(seconds)

    def read(self, now: float) -> CarState:
        """Return the newest state. The phase is LOST after 0.25 s of `now` without a message."""
        self._now = now
        if self._received_at is None:
            self._received_at = self._answered_at = now
        if now - self._answered_at >= _TIMEOUT_S:
            self._drain_socket()
            self._recognise_timeout()
        if self.has_new_sample():
            message = self._unread_message
            self._silent_s = 0.0
            self._unread_message, self._read_id = None, message[0]
            self._received_at = now
            self._stale = False
            self.custom = self._format.extract_state_custom(message)
            self._state = self._format.state_from_message(message, self.period, self._state)
            if self._signal_places:
                self._state.signals = SignalValues(self._signal_places, self._format.read_signals(message))
            if self._period_check is not None:
                self._check_period(self._state, self._format.read_clock(message))
            return self._state
        self._guard.observe(now)
        state = self._state or CarState()
        state.age = self._silent_s = now - self._received_at
        self._accept_any_id = state.age > _RESTART_AFTER_S
        if state.age > spec.STALE_S or self._state is None:
            state.phase = Phase.LOST
            if not self._stale and self._state is not None:
                self.counters.stale += 1
            self._stale = self._state is not None
        return state

    def _check_period(self, state: CarState, clock: float) -> None:
        """Compare the period with the messages until it is known; print a line if the options are wrong."""
        assert self._period_check is not None
        self._period_check.add_state(state, clock)
        if self._period_check.done:
            if self._period_check.finding:
                _print_note(self._period_check.finding)
            self._period_check = None

    def write(self, controls: Controls) -> None:
        """Answer the message that was read last; send nothing if it is already answered."""
        self._controls, self._is_released = controls, False
        if controls.custom:
            self._set_custom_values(controls.custom)
        if self._udp is None:
            raise SimulatorError("the link is not open", where="beamng")
        self._drain_socket()
        if self._newest_id - self._answered_id > self._unanswered and self._unread_message is not None:
            # So late that the simulator may have timed out: the next `read`, which is given the time, finds out.
            self._is_late = not self._is_late
            if self._is_late:
                return
        self._is_late = False
        if self._read_id > self._answered_id:
            self._send_reply(self._read_id)

    def _recognise_timeout(self) -> None:
        """Count answers anew if the simulator does: it has waited for its time-out, and has sent again.

        A link that was looking has seen nothing for a long time. One that was late finds more messages than the window
        allows; fewer are still waiting for their answer, and its id must be the next one.
        """
        unanswered = self._newest_id - self._answered_id
        if self._unread_message is None or self._reply_base is None:
            return
        if self._silent_s >= _SILENCE_S or unanswered > self._unanswered:
            self.counters.timeouts += 1
            self._reply_base = self._newest_id - min(unanswered, self._unanswered)
            self._silent_s = 0.0
            self._answered_at = self._now  # until the next time-out

    def _set_custom_values(self, custom: tuple[float, ...]) -> None:
        """Send `custom` with every answer from now on; values beyond the room of a message are left out."""
        room = len(self.custom_out)
        self.custom_out = custom[:room] + self.custom_out[len(custom) :]

    def _send_reply(self, message_id: float) -> None:
        assert self._udp is not None
        peer = self._peer or self._find_simulator()
        if peer is None or self._reply_base is None:
            return
        how = self._options.reply_id
        reply_id = message_id - self._reply_base
        if how == "echo":
            reply_id = message_id
        elif how == "echo_delayed":
            reply_id = self._previous_answered_id
        self._previous_answered_id = self._answered_id = message_id
        self._answered_at, self._last_reply = self._now, reply_id
        self._udp.send(self._encode_reply(reply_id), peer)
        self.counters.sent += 1

    def _encode_reply(self, reply_id: float) -> bytes:
        return self._format.encode_controls(self._controls, reply_id, self.custom_out)

    def _find_simulator(self) -> Address | None:
        """Look up the simulator's port in the rendezvous folder; None if it is not there yet."""
        assert self._doors is not None
        port = lookup_port(self._doors, spec.simulator_rendezvous_name(self._vehicle))
        if port is not None:
            self._peer = ("127.0.0.1", port)
        return self._peer

    def send_command(self, command: SimCommand) -> None:
        """Do nothing: the wire has no commands besides driving."""

    def release(self) -> None:
        """Answer the next message with full brake and no throttle.

        Generation 1 leaves the torques to the car. A contract that lists brake torques brakes by them: they stay.
        """
        if self._udp is None:
            return
        self._is_released = True
        self._controls = Controls(brake=1.0)
        self._drain_socket()
        self._unread_message = None
        self._send_reply(self._newest_id if self._newest_id > self._answered_id else self._newest_id + 1.0)

    def close(self) -> None:
        """Close the socket; release the car first unless that has been done."""
        if self._udp is not None:
            if not self._is_released:  # an interrupt has come before `release`
                self.release()
            self._udp.close()
            self._udp = None
            if self._doors is not None:
                withdraw_port(self._doors, spec.controller_rendezvous_name(self._vehicle))


def _is_id(number: float) -> bool:
    """Return whether a number is an id: whole, from 0, and so small that all ids near it are exact."""
    return 0.0 <= number < _MAX_ID and number.is_integer()


def _print_note(text: str) -> None:
    print(f"beamng: {text}", file=sys.stderr, flush=True)


class PassiveLink(Link):
    """Only watches the car of a player or of the game's AI: `read` answers the message that it returns with no change.

    Source: protocol page beamng-coupling, section 4: NaN leaves a control as it is. The simulator waits for an answer
    to each message. The coupling serves one program, so that no other controller can drive at the same time.

    Args:
        options: addresses and timing.
        doors: rendezvous folder in which both ends publish their ports; None = the ports in the options.
        idle: lets time pass while `open` waits and returns the new `now`.

    Raises:
        UsageError: generation 2, whose commands have no value that leaves a control as it is.
    """

    ACCEPTS: frozenset[str] = frozenset()

    def __init__(self, options: spec.LiveOptions, *, doors: Doors = None, idle: Idle | None = None) -> None:
        if options.generation != 1:
            raise UsageError("a contract's answers always set its controls, so its car cannot be watched",
                             where="--contract", hint="drive with --watch")  # fmt: skip
        super().__init__(options, doors=doors, idle=idle)

    def read(self, now: float) -> CarState:
        """Return the newest state, and answer its message; the phase is LOST after 0.25 s without one."""
        is_new = self.has_new_sample()
        state = super().read(now)
        if is_new:
            super().write(Controls())
        return state

    def _encode_reply(self, reply_id: float) -> bytes:
        return encode_command(NO_CHANGE_COMMAND._replace(message_id=reply_id))

    def write(self, controls: Controls) -> None:
        """Send nothing: `read` has answered."""

    def release(self) -> None:
        """There is nothing to release: the last answer has changed no control."""


def make_link(options: spec.LiveOptions, *, doors: Doors = None, idle: Idle | None = None) -> Link | PassiveLink:
    """Return a link that drives, or one that watches where the options say so."""
    return Link(options, doors=doors, idle=idle) if options.take else PassiveLink(options, doors=doors, idle=idle)
