"""The simulator's end of such a wire: calls the agent, shows it the car, obeys its commands.

Source: protocol page formula-trend, sections 1.2, 2 and 9. One telemetry per command, and one or two to begin with.

In lockstep the world stands still until every telemetry sent has been answered, so that a bot which keeps several loops
going (each command beyond the first answer starts one) drives as freshly as one that keeps a single loop.
"""

import math
import os
import sys
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Protocol

from trailbrake.errors import WireError
from trailbrake.exchange.link import MANUAL, STEER, TELEMETRY
from trailbrake.roles import Plant
from trailbrake.state import CarState, Controls, SimCommand
from trailbrake.transport import plain, rendezvous, socketio
from trailbrake.transport.udp import Address, address
from trailbrake.transport.websocket import Caller, Channel, wait

# s that a silent agent is waited for before it is asked for the modern dialect.
_PATIENCE = {"auto": socketio.CONNECT_S, "legacy": math.inf, "modern": 0.0}
_CALL_AGAIN_S = 0.02  # s between calls of an agent that is not there
# s without a command after which a greeting is over. What an agent says when it is called counts as one round of
# commands, however the system cuts it up: else a drive in lockstep would not repeat.
_SETTLED_S = 0.1
_LISTEN_S = 0.02  # s of wall time that a tick in lockstep waits for the agent, so that waiting costs no processor


class CallOptions(Protocol):
    """What every such simulator's ServeOptions have.

    Attributes:
        connect: the agent to call, HOST:PORT.
        laps: of a race; 0 = no end.
        pace: lockstep or real.
        dialect: auto, legacy, modern or bare.
        patience: s of wall time to wait for the agent's answer before hanging up.
    """

    connect: str
    laps: int
    patience: float

    @property
    def pace(self) -> str: ...  # noqa: D102 said above

    @property
    def dialect(self) -> str: ...  # noqa: D102


class EventHost(ABC):
    """Shows the agent one car of `plant` and drives it by the agent's commands.

    A simulator's own Host says what its messages mean: `_telemetry`, `_controls_of`.

    Args:
        plant: the world.
        options: of this simulator.
        doors: a folder known to nobody but the other end, where the agent writes down its port.

    Attributes:
        is_done: the race's laps are driven.
    """

    NAME: ClassVar[str]
    RESTART: ClassVar[str] = ""  # the event that sends the car back to the start; "" where there is none

    def __init__(self, plant: Plant, options: CallOptions, *, doors: "str | os.PathLike[str] | None" = None) -> None:
        self._plant, self._call_options, self._doors = plant, options, doors
        self._address: Address | None = None
        self._caller: Caller | None = None
        self._channel: Channel | None = None
        self._session: socketio.Client | plain.Client | None = None
        self._eio = 3 if options.dialect == "legacy" else 4
        self._call_at = self._heard_at = 0.0
        self._begun = self.is_done = False
        self._controls = Controls()
        self._wanted = 0  # commands that wait for their telemetry
        self._unanswered = 0  # telemetries that wait for their command
        self._counts = dict.fromkeys(
            ("messages_in", "messages_out", "bytes_in", "bytes_out", "rejected", "calls", "timeouts"), 0
        )

    @abstractmethod
    def _telemetry(self, state: CarState) -> dict[str, Any]:
        """Return the data of the telemetry event that shows `state`."""

    @abstractmethod
    def _controls_of(self, data: Any) -> Controls:
        """Return the controls behind the data of a `steer` event; WireError if unreadable."""

    def open(self, now: float) -> None:
        """Look where the agent is to be called."""
        if self._doors is None:
            self._address = address(self._call_options.connect, where="--connect")
        self._call_at = now

    def tick(self, now: float) -> None:
        """Take the agent's commands, step the world, and answer each command with a telemetry."""
        if self._channel is None and not self._call(now):
            return
        channel = self._channel
        assert channel is not None
        lockstep = self._call_options.pace == "lockstep"
        if lockstep and self._session is not None and not self._wanted:
            wait([channel], _LISTEN_S)
        texts = channel.poll()
        session = self._session or self._shake_hands(channel, now)
        if session is not None:
            self._listen(texts, session, now)
            if self._begun and session.is_connected and (not lockstep or (self._wanted and self._unanswered <= 0)):
                self._step()
                self._show(session)
            self._send(channel, session)
        self._hang_up_if_over(channel, session, now)

    def _call(self, now: float) -> bool:
        """Return whether there is a channel, after trying for one."""
        if self._caller is None:
            if now < self._call_at:
                return False
            if self._doors is not None:
                port = rendezvous.lookup(self._doors, self.NAME)
                self._address = ("127.0.0.1", port) if port else None
            if self._address is None:
                return False
            bare = self._call_options.dialect == "bare"
            self._caller = Caller(self._address, plain.PATH if bare else socketio.query(self._eio))
        self._channel = self._caller.channel()
        if self._caller.failed:
            self._caller, self._call_at = None, now + _CALL_AGAIN_S
        elif self._channel is not None:
            self._caller = None
            self._counts["calls"] += 1
        return self._channel is not None

    def _shake_hands(self, channel: Channel, now: float) -> socketio.Client | plain.Client | None:
        dialect = self._call_options.dialect
        if channel.is_open:
            self._session = plain.Client() if dialect == "bare" else socketio.Client(now, _PATIENCE[dialect])
            self._heard_at, self._begun = now, False
            self._wanted = self._unanswered = 0
            self._controls = Controls()
        elif channel.status == 400 and dialect == "auto":
            self._eio = 3 if self._eio == 4 else 4  # a server of one generation refuses the other's number
        return self._session

    def _listen(self, texts: list[str], session: socketio.Client | plain.Client, now: float) -> None:
        for text in texts:
            self._counts["messages_in"] += 1
            self._counts["bytes_in"] += len(text)
            event = session.receive(text, now)
            if event is not None:
                self._heard_at = now
                self._obey(event)
        session.tick(now)
        settled = now - self._heard_at >= (_SETTLED_S if session.is_greeted else socketio.CONNECT_S)
        if session.is_connected and settled and not self._begun:
            # The Unity client opens twice, once for the socket and once for the engine, and shows itself each time.
            self._begun = True
            self._wanted += 2 if session.dialect == "legacy" and session.is_opened else 1

    def _obey(self, event: socketio.Event) -> None:
        if self.RESTART and event.name == self.RESTART:
            self._plant.command(0, SimCommand(restart=True))
            self._controls = Controls()
            self.is_done = False
        elif event.name == STEER:
            try:
                self._controls = self._controls_of(event.data)
            except WireError as error:
                self._counts["rejected"] += 1
                if self._counts["rejected"] == 1:
                    print(f"{self.NAME}: a command that cannot be read: {error}", file=sys.stderr, flush=True)
        elif event.name != MANUAL:
            return  # not ours
        self._wanted += 1
        self._unanswered -= 1

    def _step(self) -> None:
        if not self.is_done:
            self._plant.step([self._controls])
            laps = self._call_options.laps
            self.is_done = bool(laps) and self._plant.state(0).lap > laps

    def _show(self, session: socketio.Client | plain.Client) -> None:
        if not self._wanted:
            return
        data = self._telemetry(self._plant.state(0))
        for _ in range(self._wanted):
            session.emit(TELEMETRY, data)
        self._unanswered = max(self._unanswered, 0) + self._wanted
        self._wanted = 0

    def _send(self, channel: Channel, session: socketio.Client | plain.Client) -> None:
        for text in session.take():
            self._counts["messages_out"] += 1
            self._counts["bytes_out"] += len(text)
            channel.send(text)

    def _hang_up_if_over(self, channel: Channel, session: socketio.Client | plain.Client | None, now: float) -> None:
        why = channel.why if channel.is_closed else session.why if session is not None and session.is_over else ""
        patience = self._call_options.patience
        if session is not None and not why and self._unanswered > 0 and now - self._heard_at > patience:
            why = f"the agent has not answered for {patience:g} s"
            self._counts["timeouts"] += 1
        if not why:
            return
        print(f"{self.NAME}: {why}", file=sys.stderr, flush=True)
        channel.close()
        self._channel = self._session = None
        self._call_at = now + _CALL_AGAIN_S

    def counters(self) -> dict[str, Any]:
        """Return messages and bytes in and out, commands that could not be read, calls made, agents given up.

        And the car's contacts, which the wire does not show.
        """
        return self._counts | {"contacts": self._plant.state(0).contacts}

    def close(self) -> None:
        """Say goodbye and hang up."""
        if self._channel is not None:
            self._channel.close()
        if self._caller is not None:
            self._caller.close()
        self._channel = self._session = self._caller = None
