"""The donkeycar simulator's end of its wire: a server with one scene, the plant's track, for one client at a time.

Source: protocol page formula-trend, section 10. Telemetry goes out 20 times a second, whether the client answers or
not; in lockstep one goes out per `control`. There is one camera and no lidar.
"""

import os
import sys
from typing import Any

from trailbrake.errors import SimulatorError, UsageError, WireError
from trailbrake.roles import Plant, Seeing
from trailbrake.sims.donkeycar import codec, convert, spec
from trailbrake.state import Controls, SimCommand
from trailbrake.transport import picture, rendezvous
from trailbrake.transport.lines import LineChannel, LineListener
from trailbrake.transport.udp import address

_LISTEN_S = 0.02  # s of wall time that a tick in lockstep waits for the client, so that waiting costs no processor
_MOST_UNSENT = 1 << 20  # bytes that may wait for a client which does not read; telemetry beyond that is dropped
_FORMS = {"JPG": "JPEG", "PNG": "PNG", "TGA": "TGA"}


class Host:
    """Shows a client one car of `plant` and drives it by the client's commands.

    Args:
        plant: the world; its states carry the camera's image.
        options: of this simulator.
        doors: a folder known to nobody but the other end: any free port is taken and written down there.

    Attributes:
        is_done: the laps asked for are driven.
    """

    def __init__(
        self,
        plant: Plant,
        options: spec.ServeOptions | None = None,
        *,
        doors: "str | os.PathLike[str] | None" = None,
    ) -> None:
        self._plant, self._options, self._doors = plant, options or spec.ServeOptions(), doors
        self._lock = plant.cars[0].steering.max_angle
        self._listener: LineListener | None = None
        self._channel: LineChannel | None = None
        self._row = -1  # of the road, where the car was
        self._controls = Controls()
        self._form = "JPEG"
        self._in_scene = self._waits = self.is_done = False
        self._lap, self._contacts = 0.0, 0.0
        self._counts = dict.fromkeys(
            ("messages_in", "messages_out", "bytes_in", "bytes_out", "rejected", "ignored", "dropped", "clients",
             "refused"), 0,
        )  # fmt: skip

    @property
    def port(self) -> int:
        """The port that it listens on."""
        assert self._listener is not None
        return self._listener.address[1]

    def open(self, now: float) -> None:
        """Listen."""
        bind = ("127.0.0.1", 0) if self._doors is not None else address(self._options.listen, where="--listen")
        self._listener = LineListener(bind, where="--listen")
        if self._doors is not None:
            rendezvous.publish(self._doors, spec.NAME, self.port)

    def tick(self, now: float) -> None:
        """Take the client's messages, step the world, and show it."""
        self._answer_calls()
        channel = self._channel
        if channel is None:
            return
        lockstep = self._options.pace == "lockstep"
        if lockstep and (self._waits or not self._in_scene):
            channel.wait(_LISTEN_S)
        for line in channel.poll():
            self._counts["messages_in"] += 1
            self._counts["bytes_in"] += len(line)
            try:
                self._obey(*codec.decode(line))
            except (WireError, UsageError) as error:
                self._counts["rejected"] += 1
                if self._counts["rejected"] == 1:
                    print(f"donkeycar: a message that cannot be read: {error}", file=sys.stderr, flush=True)
        if self._in_scene and not (lockstep and self._waits):
            self._step()
            self._show(channel)
        if channel.is_closed:
            print(f"donkeycar: {channel.why}", file=sys.stderr, flush=True)
            self._channel, self._in_scene = None, False

    def _answer_calls(self) -> None:
        assert self._listener is not None
        called = self._listener.accept()
        if called is None:
            return
        if self._channel is not None:
            self._counts["refused"] += 1
            called.close()
            return
        self._counts["clients"] += 1
        self._channel, self._in_scene, self._controls = called, False, Controls(brake=1.0)
        self._aim(codec.CamConfig())
        self._say(codec.SCENE_SELECTION_READY)

    def _obey(self, kind: str, data: dict[str, Any]) -> None:
        scene = self._plant.track.name
        if kind == codec.CONTROL:
            message = codec.decode_control(data)
            self._controls = convert.controls_from_wire(message, self._plant.state(0).velocity_x, self._lock)
            self._waits = False
        elif kind == codec.GET_SCENE_NAMES:
            self._say(codec.SCENE_NAMES, {"scene_names": [scene]})
        elif kind == codec.LOAD_SCENE:
            if data.get("scene_name") != scene:
                raise WireError("no such scene", where="scene_name", expected=scene, got=str(data.get("scene_name")))
            self._restart()
            self._in_scene, self._waits = True, False
            self._say(codec.CAR_LOADED)
        elif kind == codec.RESET_CAR:
            self._restart()
        elif kind == codec.EXIT_SCENE:
            self._in_scene = False
            self._say(codec.SCENE_SELECTION_READY)
        elif kind == codec.CAM_CONFIG:
            self._aim(codec.decode_cam_config(data))
        elif kind != codec.CAR_CONFIG:
            self._counts["ignored"] += 1  # a second camera, a lidar, a racer's biography

    def _aim(self, message: codec.CamConfig) -> None:
        if isinstance(self._plant, Seeing):
            self._plant.aim(convert.camera_from_wire(message))
        self._form = _FORMS[message.img_enc]

    def _restart(self) -> None:
        self._plant.command(0, SimCommand(restart=True))
        self._controls = Controls(brake=1.0)
        self._lap = self._contacts = 0.0
        self.is_done = False

    def _step(self) -> None:
        if self.is_done:
            return
        self._plant.step([self._controls])
        state = self._plant.state(0)
        if state.lap > self._lap:  # the car starts on the line, and crosses it at once
            self._lap = state.lap
            at = state.time - state.lap_time
            self._say(codec.STARTING_LINE, {"timeStamp": at, "starting_line_index": 0})
        laps = self._options.laps
        self.is_done = bool(laps) and state.lap > laps

    def _show(self, channel: LineChannel) -> None:
        if channel.unsent > _MOST_UNSENT:
            self._counts["dropped"] += 1
            return
        state = self._plant.state(0)
        if state.image is None:
            raise SimulatorError("the world has no camera", where="serve donkeycar")
        _, offset, self._row = self._plant.track.road.locate(state.x, state.y, self._row)
        frame = picture.encode(state.image.pixels, self._form)
        hit = state.contacts > self._contacts
        self._contacts = state.contacts
        message = convert.state_to_wire(state, offset, self._lock, frame, hit=hit)
        self._say(codec.TELEMETRY, codec.encode_telemetry(message))
        self._waits = True

    def _say(self, kind: str, data: dict[str, Any] | None = None) -> None:
        assert self._channel is not None
        line = codec.encode(kind, data)
        self._counts["messages_out"] += 1
        self._counts["bytes_out"] += len(line) + 1
        self._channel.send(line)

    def counters(self) -> dict[str, Any]:
        """Return messages and bytes in and out, messages rejected, ignored and dropped, clients, and contacts."""
        return self._counts | {"contacts": self._plant.state(0).contacts}

    def close(self) -> None:
        """Hang up and stop listening."""
        if self._channel is not None:
            self._channel.close()
        if self._listener is not None:
            self._listener.close()
            if self._doors is not None:
                rendezvous.withdraw(self._doors, spec.NAME)
        self._channel = self._listener = None
