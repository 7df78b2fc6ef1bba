"""The simulator's end of the Formula Trend wire: calls the agent, shows it the camera, obeys its commands.

Source: protocol page formula-trend, sections 1.2 and 2. One telemetry per command, and one or two to begin with.

In lockstep the world stands still until every telemetry sent has been answered, so that a bot which keeps several loops
going (each command beyond the first answer starts one) drives as freshly as one that keeps a single loop.
"""

import math
import os
import sys
from io import BytesIO
from typing import Any

from trailbrake.errors import SimulatorError, WireError
from trailbrake.roles import Plant
from trailbrake.sims.trend import codec, convert, spec
from trailbrake.state import CarState, Controls, SimCommand
from trailbrake.transport import rendezvous, socketio
from trailbrake.transport.udp import Address, address
from trailbrake.transport.websocket import Caller, Channel, wait

# s that a silent agent is waited for before it is asked for the modern dialect.
_PATIENCE = {"auto": socketio.CONNECT_S, "legacy": math.inf, "modern": 0.0}
_CALL_AGAIN_S = 0.02  # s between calls of an agent that is not there
# s without a command after which a greeting is over. What an agent says when it is called counts as one round of
# commands, however the system cuts it up: else a drive in lockstep would not repeat.
_SETTLED_S = 0.1
_LISTEN_S = 0.02  # s of wall time that a tick in lockstep waits for the agent, so that waiting costs no processor
QUALITY = 75  # of the JPEG, with chroma at half size (section 2)


class Host:
    """Shows the agent one car of `plant` and drives it by the agent's commands.

    Args:
        plant: the world; its states carry the camera's image.
        options: of this simulator.
        doors: a folder known to nobody but the other end, where the agent writes down its port.

    Attributes:
        is_done: the race's laps are driven.
    """

    def __init__(
        self,
        plant: Plant,
        options: spec.ServeOptions | None = None,
        *,
        doors: "str | os.PathLike[str] | None" = None,
    ) -> None:
        self._plant, self._options, self._doors = plant, options or spec.ServeOptions(), doors
        self._address: Address | None = None
        self._caller: Caller | None = None
        self._channel: Channel | None = None
        self._session: socketio.Client | None = None
        self._eio = 3 if self._options.dialect == "legacy" else 4
        self._call_at = self._heard_at = 0.0
        self._begun = self.is_done = False
        self._controls = Controls()
        self._wanted = 0  # commands that wait for their telemetry
        self._unanswered = 0  # telemetries that wait for their command
        self._counts = dict.fromkeys(
            ("messages_in", "messages_out", "bytes_in", "bytes_out", "rejected", "calls", "timeouts"), 0
        )

    def open(self, now: float) -> None:
        """Look where the agent is to be called."""
        if self._doors is None:
            self._address = address(self._options.connect, where="--connect")
        self._call_at = now

    def tick(self, now: float) -> None:
        """Take the agent's commands, step the world, and answer each command with a telemetry."""
        if self._channel is None and not self._call(now):
            return
        channel = self._channel
        assert channel is not None
        if self._options.pace == "lockstep" and self._session is not None and not self._wanted:
            wait([channel], _LISTEN_S)
        texts = channel.poll()
        session = self._session or self._shake_hands(channel, now)
        if session is not None:
            self._listen(texts, session, now)
            free = self._options.pace == "real"
            if self._begun and session.is_connected and (free or (self._wanted and self._unanswered <= 0)):
                self._step()
                self._answer(session)
            self._send(channel, session)
        self._hang_up_if_over(channel, session, now)

    def _call(self, now: float) -> bool:
        """Return whether there is a channel, after trying for one."""
        if self._caller is None:
            if now < self._call_at:
                return False
            if self._doors is not None:
                port = rendezvous.lookup(self._doors, spec.NAME)
                self._address = ("127.0.0.1", port) if port else None
            if self._address is None:
                return False
            self._caller = Caller(self._address, socketio.query(self._eio))
        self._channel = self._caller.channel()
        if self._caller.failed:
            self._caller, self._call_at = None, now + _CALL_AGAIN_S
        elif self._channel is not None:
            self._caller = None
            self._counts["calls"] += 1
        return self._channel is not None

    def _shake_hands(self, channel: Channel, now: float) -> socketio.Client | None:
        if channel.is_open:
            self._session = socketio.Client(now, _PATIENCE[self._options.dialect])
            self._heard_at, self._begun = now, False
            self._wanted = self._unanswered = 0
            self._controls = Controls()
        elif channel.status == 400 and self._options.dialect == "auto":
            self._eio = 3 if self._eio == 4 else 4  # a server of one generation refuses the other's number
        return self._session

    def _listen(self, texts: list[str], session: socketio.Client, now: float) -> None:
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
            self._wanted += 2 if session.dialect == "legacy" else 1

    def _obey(self, event: socketio.Event) -> None:
        if event.name == codec.RESTART:
            self._plant.command(0, SimCommand(restart=True))
            self._controls = Controls()
            self.is_done = False
        elif event.name == codec.STEER:
            try:
                message = codec.decode_steer(event.data)
            except WireError as error:
                self._counts["rejected"] += 1
                if self._counts["rejected"] == 1:
                    print(f"trend: a command that cannot be read: {error}", file=sys.stderr, flush=True)
            else:
                self._controls = convert.controls_from_wire(message, self._plant.state(0).velocity_x)
        elif event.name != codec.MANUAL:
            return  # not ours
        self._wanted += 1
        self._unanswered -= 1

    def _step(self) -> None:
        if not self.is_done:
            self._plant.step([self._controls])
            laps = self._options.laps
            self.is_done = bool(laps) and self._plant.state(0).lap > laps

    def _answer(self, session: socketio.Client) -> None:
        if not self._wanted:
            return
        state = self._plant.state(0)
        data = codec.encode_telemetry(convert.state_to_wire(state, self._picture(state), finished=self.is_done))
        for _ in range(self._wanted):
            session.emit(codec.TELEMETRY, data)
        self._unanswered = max(self._unanswered, 0) + self._wanted
        self._wanted = 0

    def _picture(self, state: CarState) -> bytes:
        from PIL import Image as Picture

        if state.image is None:
            raise SimulatorError("the world has no camera", where="serve trend")
        out = BytesIO()
        Picture.fromarray(state.image.pixels).save(out, "JPEG", quality=QUALITY, subsampling="4:2:0")
        return out.getvalue()

    def _send(self, channel: Channel, session: socketio.Client) -> None:
        for text in session.take():
            self._counts["messages_out"] += 1
            self._counts["bytes_out"] += len(text)
            channel.send(text)

    def _hang_up_if_over(self, channel: Channel, session: socketio.Client | None, now: float) -> None:
        why = channel.why if channel.is_closed else session.why if session is not None and session.is_over else ""
        if session is not None and not why and self._unanswered > 0 and now - self._heard_at > self._options.patience:
            why = f"the agent has not answered for {self._options.patience:g} s"
            self._counts["timeouts"] += 1
        if not why:
            return
        print(f"trend: {why}", file=sys.stderr, flush=True)
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
