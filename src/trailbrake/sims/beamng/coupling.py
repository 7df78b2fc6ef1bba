"""The simulator's end of one vehicle's coupling: sends states, receives commands, and blocks the physics if needed.

Counts and times of a vehicle's coupling, at the simulator's end; times in s of the host's clock.

The host receives the time once per tick. A round trip therefore lasts from the tick that sent a message to the tick
that received its answer: it includes the simulator's own step, and its resolution is one tick.

`DebugLog` writes the three CSV files of the real controller: sent messages, received messages and physics steps.
Source: protocol page beamng-coupling, section 12. Columns are the 1-based numbers of the message's doubles. The page
does not say which time the real logs have; here it is simulator time in s.

The custom values of each state message, computed by a function of the user: `custom(state, received)`.

They are bank H of generation 1, and the signals of a contract whose meaning is not known.

Ignition, headlights and turn signals of the stand-in. No command of the wire sets them; options of `serve` do.
"""

import sys
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from struct import Struct
from typing import Any, NamedTuple, TextIO

from trailbrake.errors import DataError, UsageError, WireError, raised_at
from trailbrake.histogram import DurationHistogram
from trailbrake.roles import RoadPlant
from trailbrake.sims.beamng.codec import CUSTOM_COUNT, NO_CUSTOM, Doubles
from trailbrake.sims.beamng.message_format import MessageFormat
from trailbrake.sims.beamng.window import COPY_WAIT_S, DONE, SEND, SEND_AND_WAIT, WAIT, Window
from trailbrake.state import CarState
from trailbrake.system.user_module import import_user_file
from trailbrake.transport.client_notices import ClientNotices
from trailbrake.transport.network_faults import FaultyQueue
from trailbrake.transport.udp import Address, UdpSocket

CustomFunction = Callable[[CarState, Doubles], Sequence[float]]
BLINK_PERIOD = 2.0 / 3.0  # s: 90 flashes a minute, within the 60 to 120 of UN Regulation 6
STARTED = 2.0  # ignition level from which the engine runs


class CustomValues:
    """Computes the custom values with a user's function of the state and of the received ones.

    Args:
        function: `custom(state, received)`, which returns up to 50 numbers; the others are 0.
        where: the function's file, for errors.
        count: number of values in a message.

    Attributes:
        received: the custom values of the newest accepted command.
    """

    def __init__(self, function: CustomFunction, where: str, count: int = CUSTOM_COUNT) -> None:
        self._function, self._where, self._count = function, where, count
        self.received = NO_CUSTOM

    def compute_values(self, state: CarState) -> Doubles:
        """Return the values of a message; DataError if the function raises or does not return numbers."""
        try:
            values = tuple(map(float, self._function(state, self.received)))
        except (Exception, SystemExit) as error:
            where = raised_at(error) or self._where
            raise DataError(f"custom() raised {type(error).__name__}: {error}", where=where) from error
        if len(values) > self._count:
            raise DataError("custom() returned too much", where=self._where, expected=f"up to {self._count} numbers",
                            got=str(len(values)))  # fmt: skip
        return values + (0.0,) * (self._count - len(values))


def load_custom_values(path: Path, count: int = CUSTOM_COUNT) -> CustomValues:
    """Load the function `custom` of a Python file.

    Args:
        path: the file.
        count: number of values in a message.

    Raises:
        UsageError: the file does not exist.
        DataError: the file cannot be imported, or has no function `custom`.
    """
    function = vars(import_user_file(path, "custom")).get("custom")
    if not callable(function):
        raise DataError("has no function custom", where=str(path), expected="def custom(state, received)")
    return CustomValues(function, str(path), count)


class Electrics(NamedTuple):
    """What the messages of a vehicle report.

    Attributes:
        ignition: 0 off, 1 accessory, 2 on, 3 starting.
        lights: off, low or high.
        turn_signal: off, left, right or hazard.
    """

    ignition: float = STARTED
    lights: str = "off"
    turn_signal: str = "off"

    def set_lights(self, state: CarState) -> None:
        """Fill in the lights of a state; a turn signal is lit for the first half of each period."""
        lit = 1.0 if state.time % BLINK_PERIOD < 0.5 * BLINK_PERIOD else 0.0
        state.low_beam = 1.0 if self.lights == "low" else 0.0
        state.high_beam = 1.0 if self.lights == "high" else 0.0
        state.left_signal = lit if self.turn_signal in ("left", "hazard") else 0.0
        state.right_signal = lit if self.turn_signal in ("right", "hazard") else 0.0

    @property
    def engine_runs(self) -> bool:
        """Whether the engine gives torque."""
        return self.ignition >= STARTED


_KINDS = ("send", "receive", "physics")


class DebugLog:
    """Writes PATH_send.csv, PATH_receive.csv and PATH_physics.csv.

    Args:
        path: folder and common beginning of the three names.
        sent: number of doubles of a sent message.
        received: number of doubles of a received message.

    Attributes:
        time: s of simulator time of the present physics step; the host sets it.

    Raises:
        UsageError: a file cannot be opened.
    """

    def __init__(self, path: Path, sent: int, received: int) -> None:
        self.time = 0.0
        self._files: list[TextIO] = []
        try:
            for kind in _KINDS:
                self._files.append(path.with_name(f"{path.name}_{kind}.csv").open("w", encoding="ascii", newline="\n"))
        except OSError as error:
            self.close()
            raise UsageError(f"cannot write: {error.strerror}", where=f"--debug-file {path}") from error
        for file, count in zip(self._files, (sent, received, 0), strict=True):
            file.write(",".join(["time", *map(str, range(1, count + 1))]) + "\n")
        self._sent, self._received = Struct(f"<{sent}d"), Struct(f"<{received}d")

    def write_sent(self, data: bytes) -> None:
        """Log a sent message."""
        self._write_row(0, self._sent.unpack(data))

    def write_received(self, data: bytes) -> None:
        """Log a received message, accepted or not."""
        self._write_row(1, self._received.unpack(data))

    def write_step(self) -> None:
        """Log a physics step."""
        self._write_row(2, ())

    def _write_row(self, kind: int, values: tuple[float, ...]) -> None:
        self._files[kind].write(",".join(map(repr, (self.time, *values))) + "\n")

    def close(self) -> None:
        """Close the files."""
        for file in self._files:
            file.close()


_MAX_DATAGRAMS = 256  # per call, more than the system keeps; so that a flooded port does not hold a tick


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


def print_note(text: str) -> None:
    """Print a line for the user."""
    print(f"beamng: {text}", file=sys.stderr, flush=True)


class CouplingSettings(NamedTuple):
    """How a vehicle's coupling encodes its messages, and what it does with them besides.

    Attributes:
        message_format: encodes and decodes the messages.
        timeout: s after which an answer counts as lost; 0 = never.
        faults: simulated network faults for the messages (to, from) the controller; None = none.
        custom: computes the custom values; None = zeros.
        debug: log of all messages; None = no log.
        electrics: what the messages report of ignition and lights.
    """

    message_format: MessageFormat
    timeout: float
    faults: tuple[FaultyQueue, FaultyQueue] | None = None
    custom: CustomValues | None = None
    debug: DebugLog | None = None
    electrics: Electrics = Electrics()


class VehicleCoupling:
    """Exchanges messages with one controller after each physics step, as the window requires.

    Args:
        plant: the world.
        index: of the car in the plant.
        window: decides when to send, read and wait.
        udp: the vehicle's socket.
        settings: message format and extras.

    Attributes:
        controller_address: where states go; None while it is not known: messages are then lost.
        latched: the controller's inputs.
        blocked: whether the physics must wait for the controller.
        command_changed: True after `latched` has changed; the host clears it.
        statistics: counts and times.
    """

    def __init__(
        self, plant: RoadPlant, index: int, window: Window, udp: UdpSocket, settings: CouplingSettings
    ) -> None:
        self.window, self.udp = window, udp
        self.controller_address: Address | None = None
        self.latched = settings.message_format.make_latched_command()
        self.statistics = CouplingStatistics()
        self.blocked = self.command_changed = False
        self._plant, self._index = plant, index
        self._format, self._timeout, self._faults, self._custom, self._debug, self._electrics = settings
        self._delivered: deque[bytes] = deque()  # datagrams that the faulty network has delivered
        self._plant_part: tuple[CarState, Any] | None = None  # state after the present step, and its encoded part
        self._action = DONE
        self._answered_without_wait = False  # whether the answer to the newest step was there at once
        self._blocked_since = self._wait_start = 0.0
        self._last_accepted = b""
        self._frame_message = b""  # the message at the newest graphics frame
        self._hold_slow_banks = False
        self._watches_senders = False  # it costs more than receiving alone
        self._notices = ClientNotices(f"beamng: vehicle {index + 1}")

    def begin_step(self, now: float, hold_slow_banks: bool) -> None:
        """Start the coupling of the physics step that the plant has just done.

        Args:
            now: s.
            hold_slow_banks: whether the slow banks keep the values of the last graphics frame.
        """
        self._hold_slow_banks = hold_slow_banks
        self.statistics.steps += 1
        self.blocked = False
        self._action = self.window.step()
        # Encode while the controller is still computing: its answer then waits less for the next message.
        self._plant_part = self._encode_plant_part() if self._action is WAIT else None
        self.continue_step(now)

    def continue_step(self, now: float) -> None:
        """Continue until the step is done, or until it must wait for the controller (`blocked`)."""
        action, window, statistics = self._action, self.window, self.statistics
        left = _MAX_DATAGRAMS
        while action is not DONE:
            if action is SEND or action is SEND_AND_WAIT:
                size = self._send_state(now)
                statistics.count_sent(size, now, window.in_flight)
                if action is SEND:
                    break
                action, self._wait_start = WAIT, now
                continue
            data = self._receive_command(now) if left > 0 else None  # a flooded port: as if nothing more had come
            left -= 1
            if not self.blocked:
                self._answered_without_wait = data is not None
            if data is None:
                if action is WAIT:
                    if not self.blocked:
                        self.blocked = True
                        self._blocked_since = self._wait_start = now
                    timeout = COPY_WAIT_S if window.has_unclear_copy else self._timeout
                    if not 0.0 < timeout <= now - self._wait_start:
                        self._action = action
                        return
                    if not window.has_unclear_copy:
                        statistics.clear_in_flight()
                action = window.handle_no_reply()
                continue
            statistics.messages_in += 1
            statistics.bytes_in += len(data)
            try:
                command = self._format.decode_command(data)
            except WireError as error:
                if not statistics.wrong_size:
                    print_note(f"vehicle {self._index + 1}: dropped {error}")
                statistics.wrong_size += 1
                continue
            if self._debug is not None:
                self._debug.write_received(data)
            is_duplicate = data == self._last_accepted
            accepted, action = window.handle_reply(command[0], is_duplicate)
            statistics.copies += is_duplicate
            if not accepted and self._faults is None:
                self._watches_senders = True  # does a second controller answer too?
            if accepted:
                self._accept_command(command, data)
                size = self._send_state(now) if action is SEND else 0  # before counting: the controller waits for it
                statistics.count_answered(now, window.in_flight)
                if size:
                    statistics.count_sent(size, now, window.in_flight)
                    break
        self._action = DONE
        if self.blocked:
            self.blocked = False
            statistics.count_blocked(now - self._blocked_since)

    def _accept_command(self, command: Any, data: bytes) -> None:
        self._last_accepted = data
        self._format.apply_command(command, self.latched)
        self.command_changed = True
        if self._custom is not None:
            self._custom.received = self._format.extract_command_custom(command)

    def _receive_command(self, now: float) -> bytes | None:
        if self._watches_senders:
            got = self.udp.receive()
            if got is None:
                return None
            self._notices.note_sender(got[1])
            return got[0]
        if self._faults is None:
            return self.udp.receive_expected() if self._answered_without_wait else self.udp.receive_data()
        _, incoming = self._faults
        for _ in range(_MAX_DATAGRAMS):
            got = self.udp.receive()
            if got is None:
                break
            incoming.push(got[0], now)
        self._delivered.extend(incoming.pop(now))
        return self._delivered.popleft() if self._delivered else None

    def _encode_plant_part(self) -> tuple[CarState, Any]:
        state = self._plant.car_state(self._index)
        self._electrics.set_lights(state)
        return state, self._format.encode_plant_part(state, self._plant.cars[self._index], self._electrics.ignition)

    def _send_state(self, now: float) -> int:
        """Send the message that is due, and return its size in bytes."""
        message_format = self._format
        state, partial = self._plant_part or self._encode_plant_part()
        custom = NO_CUSTOM if self._custom is None else self._custom.compute_values(state)
        data = message_format.finish_message(partial, self.window.last_id, self.latched, custom)
        if self._hold_slow_banks and self._frame_message:
            data = message_format.hold_slow_banks(data, self._frame_message)
        else:
            self._frame_message = data
        if self._debug is not None:
            self._debug.write_sent(data)
        if self._faults is not None:
            self._faults[0].push(data, now)
        elif self.controller_address is not None:
            self.udp.send(data, self.controller_address)
        return len(data)

    def send_delayed(self, now: float) -> None:
        """Send the messages whose simulated network delay is over."""
        if self._faults is not None and self.controller_address is not None:
            for data in self._faults[0].pop(now):
                self.udp.send(data, self.controller_address)

    @property
    def next_delivery(self) -> float | None:
        """Time of the next delivery by the simulated network, s; None if no message is under way."""
        if self._faults is None:
            return None
        times = [faults.next_at for faults in self._faults if faults.next_at is not None]
        return min(times, default=None)
