"""One vehicle's coupling at the simulator's end: its window, its socket, what it holds of the commands, its figures."""

from collections import deque
from typing import Any

from trailbrake.errors import WireError
from trailbrake.roles import Plant
from trailbrake.sims.beamng.codec import NO_CUSTOM
from trailbrake.sims.beamng.custom import Custom
from trailbrake.sims.beamng.debug import DebugLog
from trailbrake.sims.beamng.dialect import Dialect
from trailbrake.sims.beamng.statistics import Statistics
from trailbrake.sims.beamng.window import DONE, SEND, SEND_AND_WAIT, WAIT, Window
from trailbrake.state import CarState
from trailbrake.transport.faults import Faults
from trailbrake.transport.udp import Address, Udp


class Coupling:
    """Does after each physics step what the window says.

    Args:
        plant: the world, whose
        index: th car it is.
        window: decides.
        udp: the vehicle's socket.
        to: the controller's address; None as long as it is not known: messages are then lost.
        dialect: of the messages.
        timeout: s after which an answer counts as lost; 0 = never.
        faults: (out, in), what goes wrong on the way; None for nothing.
        custom: fills the free values.
        debug: writes down all of it, or None.

    Attributes:
        held: what the controller has asked for.
        waits: whether the physics has to stand still for it.
        changed: set when `held` has changed; for the host to clear.
        statistics: figures.
    """

    def __init__(
        self,
        plant: Plant,
        index: int,
        window: Window,
        udp: Udp,
        to: Address | None,
        dialect: Dialect,
        timeout: float,
        faults: tuple[Faults, Faults] | None = None,
        custom: Custom | None = None,
        debug: DebugLog | None = None,
    ) -> None:
        self.window, self.udp, self.to, self.held, self.statistics = window, udp, to, dialect.held(), Statistics()
        self.waits = self.changed = False
        self._plant, self._index = plant, index
        self._dialect, self._timeout, self._custom, self._debug = dialect, timeout, custom, debug
        self._faults = faults
        self._arrived: deque[bytes] = deque()
        self._told: tuple[CarState, Any] | None = None  # the state behind the present step, and what is told of it
        self._act = DONE
        self._answers_early = False  # whether the newest step found its answer there, without a wait
        self._waits_since = self._asked_at = 0.0
        self._accepted = b""
        self._frame = b""  # the message at the newest graphics frame
        self._stale_banks = False

    def begin(self, now: float, stale_banks: bool) -> None:
        """Begin the coupling of one physics step, which the plant has done.

        Args:
            now: s.
            stale_banks: whether what the game works out once per graphics frame stays as it was.
        """
        self._stale_banks = stale_banks
        self.statistics.steps += 1
        self.waits = False
        self._act = self.window.step()
        self._told = self._tell() if self._act is WAIT else None  # now, while the controller is still at work
        self.go_on(now)

    def go_on(self, now: float) -> None:
        """Go on as far as it goes; `waits` tells whether that is the end of the step."""
        act, window, statistics = self._act, self.window, self.statistics
        while act is not DONE:
            if act is SEND or act is SEND_AND_WAIT:
                size = self._send(now)
                statistics.sent(size, now, window.in_flight)
                if act is SEND:
                    break
                act, self._asked_at = WAIT, now
                continue
            data = self._receive(now)
            if not self.waits:
                self._answers_early = data is not None
            if data is None:
                if act is WAIT:
                    if not self.waits:
                        self.waits = True
                        self._waits_since = self._asked_at = now
                    if not 0.0 < self._timeout <= now - self._asked_at:
                        self._act = act
                        return
                    statistics.given_up()
                act = window.silence()
                continue
            statistics.messages_in += 1
            statistics.bytes_in += len(data)
            try:
                command = self._dialect.decode_command(data)
            except WireError:
                statistics.wrong_size += 1
                continue
            if self._debug is not None:
                self._debug.received(data)
            copy = data == self._accepted
            accepted, act = window.datagram(command[0], copy)
            statistics.copies += copy
            if accepted:
                self._accept(command, data)
                size = self._send(now) if act is SEND else 0  # first of all: the controller waits for it
                statistics.answered(now, window.in_flight)
                if size:
                    statistics.sent(size, now, window.in_flight)
                    break
        self._act = DONE
        if self.waits:
            self.waits = False
            statistics.stood_still(now - self._waits_since)

    def _accept(self, command: Any, data: bytes) -> None:
        self._accepted = data
        self._dialect.take(command, self.held)
        self.changed = True
        if self._custom is not None:
            self._custom.received = self._dialect.custom_of_command(command)

    def _receive(self, now: float) -> bytes | None:
        if self._faults is None:
            return self.udp.expected_data() if self._answers_early else self.udp.receive_data()
        _, inward = self._faults
        while (got := self.udp.receive()) is not None:
            inward.push(got[0], now)
        self._arrived.extend(inward.pop(now))
        return self._arrived.popleft() if self._arrived else None

    def _tell(self) -> tuple[CarState, Any]:
        state = self._plant.state(self._index)
        return state, self._dialect.told_of(state, self._plant.cars[self._index])

    def _send(self, now: float) -> int:
        """Send the message that is due; return its size."""
        dialect = self._dialect
        state, told = self._told or self._tell()
        free = NO_CUSTOM if self._custom is None else self._custom.fill(state)
        data = dialect.message_of(told, self.window.last_id, self.held, free)
        if self._stale_banks and self._frame:
            data = dialect.stair(data, self._frame)
        else:
            self._frame = data
        if self._debug is not None:
            self._debug.sent(data)
        if self._faults is not None:
            self._faults[0].push(data, now)
        elif self.to is not None:
            self.udp.send(data, self.to)
        return len(data)

    def deliver(self, now: float) -> None:
        """Pass on what the bad network has had for long enough."""
        if self._faults is not None and self.to is not None:
            for data in self._faults[0].pop(now):
                self.udp.send(data, self.to)

    @property
    def next_at(self) -> float | None:
        """When the bad network has something again; None where it has nothing."""
        if self._faults is None:
            return None
        times = [faults.next_at for faults in self._faults if faults.next_at is not None]
        return min(times, default=None)
