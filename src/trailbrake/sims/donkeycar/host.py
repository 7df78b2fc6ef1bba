"""The donkeycar simulator's end of its wire: a server with one scene, the plant's track, for one client at a time.

Source: protocol page formula-trend, section 10. Telemetry goes out 20 times a second, whether the client answers or
not; in lockstep one goes out per `control`. The scene has the track's name and those of the simulator's scenes, which
clients load by fixed names. There is one camera and no lidar.
"""

from typing import Any

from trailbrake.errors import UsageError, WireError
from trailbrake.roles import HasCamera, RoadPlant
from trailbrake.sims.donkeycar import codec, convert, spec
from trailbrake.simulator_tools import Doors
from trailbrake.state import Controls, SimCommand
from trailbrake.transport import image_codec, rendezvous
from trailbrake.transport.client_notices import ClientNotices, print_to_stderr
from trailbrake.transport.json_objects import JsonObjectChannel, listen_for_objects
from trailbrake.transport.tcp import PendingCalls, TcpListener, wait_readable
from trailbrake.transport.udp import parse_address
from trailbrake.transport.websocket import is_loopback

_IDLE_AFTER_S = 30.0  # s without a message after which another client may take the place
# s: gym-donkeycar hangs where the first message comes before it reads, and what it has missed is sent again.
_READY_AFTER_S, _READY_EVERY_S = 0.05, 1.0
_MAX_UNREADABLE = 100  # messages of a caller that cannot be read before it is hung up on
_LOCKSTEP_WAIT_S = 0.02  # s of wall time that a tick in lockstep sleeps for the client's next message
_MAX_UNSENT_BYTES = 1 << 20  # bytes that may wait for a client which does not read; telemetry beyond that is dropped
_ROLLED_OVER_LINE_M = 0.2  # m from its place on the line at which the car has rolled over it
_IMAGE_FORMATS = {"JPG": "JPEG", "PNG": "PNG", "TGA": "TGA"}


class Host:
    """Sends a client telemetry of the first car of `plant` and drives that car by the client's commands.

    Args:
        plant: the world; its states carry the camera's image.
        options: of this simulator.
        doors: a folder that only the other end knows: the host takes any free port and writes it down there.

    Attributes:
        is_done: the laps of the options are driven.
    """

    def __init__(self, plant: RoadPlant, options: spec.ServeOptions, *, doors: Doors = None) -> None:
        self._plant, self._options, self._doors = plant, options, doors
        self._lock = plant.cars[0].steering.max_angle
        self._listener: TcpListener[JsonObjectChannel] | None = None
        self._pending: PendingCalls[JsonObjectChannel] | None = None
        self._channel: JsonObjectChannel | None = None
        self._ready_at: dict[JsonObjectChannel, float] = {}  # s, when a caller gets SCENE_SELECTION_READY
        self._heard_at = 0.0  # s, when the client's newest message came
        self._road_row = -1  # of the car's last place on the road
        self._controls = Controls()
        self._image_format = "JPEG"
        self._in_scene = self._awaits_control = self.is_done = False
        self._lap, self._contacts = 0.0, 0.0
        waiting = "" if doors is not None else f"no client has called {options.listen} yet; it waits"
        self._notices = ClientNotices(spec.NAME, waiting)
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
        bind = ("127.0.0.1", 0) if self._doors is not None else parse_address(self._options.listen, where="--listen")
        self._listener = listen_for_objects(bind, where="--listen")
        self._pending = PendingCalls(self._listener)
        if not is_loopback(bind[0]):
            print_to_stderr(f"{spec.NAME}: any program that reaches {bind[0]}:{bind[1]} may drive: no password here")
        if self._doors is not None:
            rendezvous.publish_port(self._doors, spec.NAME, self.port)

    def tick(self, now: float) -> None:
        """Apply the client's messages, step the world, and send telemetry."""
        messages = self._accept_calls(now)
        channel = self._channel
        lockstep = self._options.pace == "lockstep"
        if channel is None:
            if self._pending is None or not self._pending.channels:
                self._notices.note_waiting(now)
            if lockstep and self._doors is None and self._listener is not None and self._pending is not None:
                wait_readable([self._listener, *self._pending.channels], _LOCKSTEP_WAIT_S)
            return
        if lockstep and not messages and (self._awaits_control or not self._in_scene):
            wait_readable([channel], _LOCKSTEP_WAIT_S)
        for text in [*messages, *channel.poll_objects()]:
            if self._count_message(text, channel):
                self._heard_at = now
        self._notices.note_unfinished(channel.pending_bytes, now, channel.peer)
        if self._in_scene and not (lockstep and self._awaits_control):
            self._step_world()
            self._send_telemetry(channel)
        if channel.is_closed:
            self._notices.note_end(channel.close_reason)
            self._channel, self._in_scene = None, False

    def _count_message(self, text: str, channel: JsonObjectChannel) -> bool:
        """Count a message and act on it; return whether it could be read."""
        self._counts["messages_in"] += 1
        self._counts["bytes_in"] += len(text)
        try:
            self._handle_message(*codec.decode_message(text))
        except (WireError, UsageError) as error:
            self._note_rejected(str(error), channel)
            return False
        return True

    def _note_rejected(self, detail: str, channel: JsonObjectChannel) -> None:
        self._counts["rejected"] += 1
        self._notices.note_unreadable(detail, channel.peer)

    def _accept_calls(self, now: float) -> list[str]:
        """Accept callers. The first that sends a message becomes the client; return its messages.

        A silent caller holds no place, nor does a client that has been silent for long.
        """
        assert self._pending is not None
        is_taken = self._channel is not None and now - self._heard_at <= _IDLE_AFTER_S
        for called in self._pending.accept_calls(now):
            self._ready_at[called] = now if self._doors is not None else now + _READY_AFTER_S
        if is_taken:
            self._counts["refused"] += len(self._pending.channels)
            self._pending.close()
        for called in self._pending.find_ready():
            texts = called.poll_objects()
            readable = [number for number, text in enumerate(texts) if codec.is_message(text)]
            for text in texts[: readable[0] if readable else len(texts)]:
                self._note_unreadable_call(text, called)
            if readable:
                self._welcome_client(called, now)
                return texts[readable[0] :]
        self._ready_at = {called: at for called, at in self._ready_at.items() if called in self._pending.channels}
        for called, at in self._ready_at.items():
            if now >= at:
                called.send_object(codec.encode_message(codec.SCENE_SELECTION_READY))
                self._ready_at[called] = now + _READY_EVERY_S
        if self._channel is None:
            unfinished = [called for called in self._pending.channels if called.pending_bytes]
            if unfinished:
                self._notices.note_unfinished(unfinished[0].pending_bytes, now, unfinished[0].peer)
        return []

    def _note_unreadable_call(self, text: str, called: JsonObjectChannel) -> None:
        self._counts["messages_in"] += 1
        self._counts["bytes_in"] += len(text)
        self._note_rejected(f"no message, got {text[:40]}", called)
        called.unreadable += 1
        if called.unreadable > _MAX_UNREADABLE:
            called.close()

    def _welcome_client(self, called: JsonObjectChannel, now: float) -> None:
        assert self._pending is not None
        if self._channel is not None:
            self._notices.note_end(f"silent for {_IDLE_AFTER_S:g} s: another client takes the place")
            self._channel.close()
        self._counts["clients"] += 1
        if not called.unreadable:
            self._notices.note_client()
        self._channel, self._in_scene, self._controls = self._pending.release(called), False, Controls(brake=1.0)
        self._heard_at = now
        self._set_camera(codec.CamConfig())

    def _handle_message(self, kind: str, data: dict[str, Any]) -> None:
        if kind == codec.CONTROL:
            message = codec.decode_control(data)
            self._controls = convert.controls_from_wire(message, self._plant.car_state(0).velocity_x, self._lock)
            self._awaits_control = False
        elif kind == codec.GET_SCENE_NAMES:
            self._send_message(codec.SCENE_NAMES, {"scene_names": self._list_scenes()})
        elif kind == codec.GET_PROTOCOL_VERSION:
            self._send_message(codec.PROTOCOL_VERSION, {"version": str(spec.PROTOCOL_VERSION)})
        elif kind == codec.LOAD_SCENE:
            self._load_scene(data.get("scene_name"))
        elif kind == codec.RESET_CAR:
            self._restart_drive()
        elif kind == codec.EXIT_SCENE:
            self._in_scene = False
            self._send_message(codec.SCENE_SELECTION_READY)
        elif kind == codec.CAM_CONFIG:
            self._set_camera(codec.decode_cam_config(data))
        elif kind != codec.CAR_CONFIG:
            self._counts["ignored"] += 1  # a second camera, a lidar, a racer's biography

    def _list_scenes(self) -> list[str]:
        """Return the names of the one scene: its track's first, then those that the simulator's clients load."""
        track = self._plant.track.name
        return [track, *(name for name in spec.SCENES if name != track)]

    def _load_scene(self, name: Any) -> None:
        scenes = self._list_scenes()
        if name not in scenes:
            raise WireError("no such scene", where="scene_name", expected=f"one of {', '.join(scenes)}", got=str(name))
        if name != scenes[0]:
            self._notices.note_substitute(f"the scene {name} is shown as the track {scenes[0]}")
        self._restart_drive()
        self._in_scene, self._awaits_control = True, False
        self._send_message(codec.CAR_LOADED)

    def _set_camera(self, message: codec.CamConfig) -> None:
        if isinstance(self._plant, HasCamera):
            self._plant.set_camera(convert.camera_from_wire(message))
        self._image_format = _IMAGE_FORMATS[message.img_enc]

    def _restart_drive(self) -> None:
        self._plant.execute_command(0, SimCommand(restart=True))
        self._controls = Controls(brake=1.0)
        self._lap = self._contacts = 0.0
        self.is_done = False

    def _step_world(self) -> None:
        if self.is_done:
            return
        self._plant.step([self._controls])
        state = self._plant.car_state(0)
        if self._lap == 0.0:
            # The car starts on the line. Clients begin to listen some time after a reset, so it is crossed when the car
            # rolls, not when it is put there.
            if state.lap_progress * self._plant.track.road.length >= _ROLLED_OVER_LINE_M:
                self._report_crossing(state.lap, state.time)
        elif state.lap > self._lap:
            self._report_crossing(state.lap, state.time - state.lap_time)
        laps = self._options.laps
        self.is_done = bool(laps) and state.lap > laps

    def _report_crossing(self, lap: float, time: float) -> None:
        """Send the event of the starting line, crossed at simulator time `time` (s) into `lap`."""
        self._lap = lap
        self._send_message(codec.STARTING_LINE, {"timeStamp": time, "starting_line_index": 0})

    def _send_telemetry(self, channel: JsonObjectChannel) -> None:
        if channel.unsent_bytes > _MAX_UNSENT_BYTES:
            self._counts["dropped"] += 1
            return
        state = self._plant.car_state(0)
        _, offset, self._road_row = self._plant.track.road.locate(state.x, state.y, self._road_row)
        frame = image_codec.encode_camera(state.image, spec.NAME, self._image_format)
        hit = state.contacts > self._contacts
        self._contacts = state.contacts
        message = convert.state_to_wire(state, offset, self._lock, frame, hit=hit)
        self._send_message(codec.TELEMETRY, codec.encode_telemetry(message))
        self._awaits_control = True

    def _send_message(self, kind: str, data: dict[str, Any] | None = None) -> None:
        assert self._channel is not None
        text = codec.encode_message(kind, data)
        self._counts["messages_out"] += 1
        self._counts["bytes_out"] += len(text) + 1
        self._channel.send_object(text)

    def read_counters(self) -> dict[str, Any]:
        """Return messages and bytes in and out, rejected, ignored and dropped messages, clients, and contacts."""
        return self._counts | {"contacts": self._plant.car_state(0).contacts}

    def close(self) -> None:
        """Hang up and stop listening."""
        if self._pending is not None:
            self._pending.close()
        if self._channel is not None:
            self._channel.close()
        if self._listener is not None:
            self._listener.close()
            if self._doors is not None:
                rendezvous.withdraw_port(self._doors, spec.NAME)
        self._channel = self._listener = self._pending = None
