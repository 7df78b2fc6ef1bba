"""The simulator's end of one vehicle's coupling: sends states, receives commands, and blocks the physics if needed."""

import sys
from collections import deque
from typing import Any, NamedTuple

from trailbrake.errors import WireError
from trailbrake.roles import RoadPlant
from trailbrake.sims.beamng.codec import NO_CUSTOM
from trailbrake.sims.beamng.coupling_statistics import CouplingStatistics
from trailbrake.sims.beamng.custom_values import CustomValues
from trailbrake.sims.beamng.debug_log import DebugLog
from trailbrake.sims.beamng.electrics import Electrics
from trailbrake.sims.beamng.message_format import MessageFormat
from trailbrake.sims.beamng.window import COPY_WAIT_S, DONE, SEND, SEND_AND_WAIT, WAIT, Window
from trailbrake.state import CarState
from trailbrake.transport.client_notices import ClientNotices
from trailbrake.transport.network_faults import FaultyQueue
from trailbrake.transport.udp import Address, UdpSocket

_MAX_DATAGRAMS = 256  # per call, more than the system keeps; so that a flooded port does not hold a tick


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
