"""The client's end of the donkeycar simulator's wire: calls the simulator, loads a scene and drives.

Source: protocol page formula-trend, section 10.
"""

from typing import Any

from trailbrake.errors import SimulatorError, WireError
from trailbrake.event_sims.options import check_half_width
from trailbrake.event_sims.telemetry_clock import TelemetryClock
from trailbrake.roles import LinkCounters
from trailbrake.sims.donkeycar import codec, convert, spec
from trailbrake.simulator_tools import Doors, Idle
from trailbrake.state import CarState, Controls, Phase, SimCommand
from trailbrake.transport import rendezvous
from trailbrake.transport.image_codec import ImageDecoder
from trailbrake.transport.json_objects import JsonObjectChannel, call_for_objects
from trailbrake.transport.json_values import find_decimal_mark, parse_number, write_decimal_commas
from trailbrake.transport.tcp import TcpCaller
from trailbrake.transport.udp import Address, parse_address

_MAX_HANG_UPS = 20  # calls in a row that are hung up on without a word: the simulator has another client
_RECALL_DELAY_S = 0.2  # between calls of a simulator that is not there
_BRAKE_CONTROL = codec.DonkeycarControl(0.0, 0.0, 1.0)


class Link:
    """Calls the simulator and drives a car in it.

    Args:
        options: where it listens, which scene to load, the road's width.
        doors: a folder that only the other end knows, where it writes down its port.
        idle: called by `open` while it waits; lets time pass and returns the new `now`. Without it `open` does not
            wait: the phase is LOST until a telemetry arrives.

    Attributes:
        counters: what arrived.
        unreadable: messages and images that could not be read; the last good image stands in for a damaged one.
        scenes: the simulator's scenes; empty until it has sent them.

    Raises:
        UsageError: the road of the options has no width.
    """

    SUPPLIES = spec.SUPPLIES
    ACCEPTS = spec.ACCEPTS
    period = spec.PERIOD

    def __init__(self, options: spec.LiveOptions, *, doors: Doors = None, idle: Idle | None = None) -> None:
        check_half_width(options.half_width)
        self._options, self._doors, self._idle = options, doors, idle
        self.counters = LinkCounters()
        self.unreadable = 0
        self.scenes: list[str] = []
        self._clock = TelemetryClock(self.counters, spec.STALE_AFTER_S)
        self._image_decoder = ImageDecoder(spec.HEIGHT, spec.WIDTH, self._count_unreadable)
        self._address: Address | None = None
        self._caller: TcpCaller[JsonObjectChannel] | None = None
        self._channel: JsonObjectChannel | None = None
        self._next_call_at = self._now = 0.0
        self._refusal = ""  # why the scene cannot be loaded
        self._is_greeted, self._hang_ups = False, 0  # whether this call was answered; calls in a row that were not
        self._decimal_mark = "."  # of the simulator's numbers, and so of the answers
        self._newest_message: codec.DonkeycarTelemetry | None = None
        self._is_fresh = self._was_hit = False
        self._lap, self._contacts = 1, 0
        self._start_line_index: float | None = None  # of the line that the car crossed first

    def _count_unreadable(self) -> None:
        self.unreadable += 1

    @property
    def is_connected(self) -> bool:
        """Whether the simulator has answered the call."""
        return self._channel is not None

    def open(self, now: float) -> None:
        """Call the simulator, load the scene, and wait for the first telemetry."""
        if self._doors is None:
            self._address = parse_address(self._options.connect, where="--connect")
        self._now = self._next_call_at = now
        self._clock.note_arrival(now)
        if self._idle is None:
            return
        deadline = now + self._options.wait
        while not self.has_new_sample():
            if self._hang_ups >= _MAX_HANG_UPS:
                self.close()
                raise SimulatorError(
                    "the simulator hangs up on each call", where=self._options.connect,
                    hint="does another client drive there?",
                )  # fmt: skip
            if self._refusal or self._now > deadline:
                said = "it has answered, and shows no car" if self.is_connected else "no answer"
                self.close()
                raise SimulatorError(
                    self._refusal or "no simulator",
                    where=self._options.connect,
                    expected="" if self._refusal else f"telemetry within {self._options.wait:g} s",
                    got="" if self._refusal else said,
                    hint=f"it has: {', '.join(self.scenes)}" if self._refusal else "trailbrake doctor donkeycar",
                )
            self._now = self._idle()

    def has_new_sample(self) -> bool:
        """Return whether a telemetry newer than the last read() is there."""
        self._poll_simulator()
        return self._is_fresh

    def _poll_simulator(self) -> None:
        if self._channel is None:
            self._call_simulator()
        channel = self._channel
        if channel is None:
            return
        for text in channel.poll_objects():
            self._is_greeted = True
            try:
                self._handle_message(*codec.decode_message(text))
            except WireError:
                self.unreadable += 1
        if channel.is_closed:
            self._channel, self._next_call_at = None, self._now + _RECALL_DELAY_S
            self._hang_ups = 0 if self._is_greeted else self._hang_ups + 1

    def _call_simulator(self) -> None:
        if self._caller is None:
            if self._now < self._next_call_at:
                return
            if self._doors is not None:
                port = rendezvous.lookup_port(self._doors, spec.NAME)
                self._address = ("127.0.0.1", port) if port else None
            if self._address is None:
                return
            self._caller = call_for_objects(self._address)
        self._channel = self._caller.poll_channel()
        if self._caller.failure:
            self._caller, self._next_call_at = None, self._now + _RECALL_DELAY_S
        elif self._channel is not None:
            self._caller, self._is_greeted = None, False
            if self._newest_message is not None:
                self.counters.resyncs += 1

    def _handle_message(self, kind: str, data: dict[str, Any]) -> None:
        if kind == codec.TELEMETRY:
            message = codec.decode_telemetry(data)
            self._decimal_mark = find_decimal_mark(data) or self._decimal_mark
            self._handle_telemetry(message)
        elif kind == codec.STARTING_LINE:
            line_index = parse_number(data.get("starting_line_index", 0.0), "starting_line_index")
            self._handle_crossing(parse_number(data.get("timeStamp"), "timeStamp"), line_index)
        elif kind == codec.SCENE_SELECTION_READY:
            self._send_message(codec.GET_SCENE_NAMES)
        elif kind == codec.SCENE_NAMES:
            self.scenes = codec.decode_scene_names(data)
            wanted = self._options.scene or (self.scenes[0] if self.scenes else "")
            if wanted in self.scenes:
                self._send_message(codec.LOAD_SCENE, {"scene_name": wanted})
            else:
                self._refusal = f"no scene {wanted}"
        elif kind in (codec.CAR_LOADED, codec.NEED_CAR_CONFIG):
            body = {"body_style": "donkey", "body_r": "40", "body_g": "90", "body_b": "200"}
            self._send_message(codec.CAR_CONFIG, {**body, "car_name": self._options.name, "font_size": "50"})

    def _handle_telemetry(self, message: codec.DonkeycarTelemetry) -> None:
        self._clock.note_arrival(self._now)
        self.counters.received += 1
        if self._clock.is_repeated(message.time):
            return
        if self._clock.accept_sample(message.time):
            self._lap, self._start_line_index, self._contacts = 1, None, 0
        hit = message.hit != codec.NO_HIT
        self._contacts += hit and not self._was_hit
        self._was_hit, self._newest_message, self._is_fresh = hit, message, True

    def _handle_crossing(self, time: float, line_index: float) -> None:
        # There may be several lines; the one that the car crosses first is the start.
        if self._start_line_index is None:
            self._start_line_index = line_index
            self._clock.start_lap(time)
        elif line_index == self._start_line_index:
            self._lap += 1
            self._clock.complete_lap(time)

    def read(self, now: float) -> CarState:
        """Return the newest telemetry as a state."""
        self._now = now
        self._poll_simulator()
        self._is_fresh = False
        message = self._newest_message
        if message is None:
            state = CarState(phase=Phase.LOST)
        else:
            image = self._image_decoder.make_image(message.image)
            state = convert.state_from_wire(message, self._options.half_width, image)
            state.lap, state.contacts = self._lap, self._contacts
            self._clock.fill_laps(state)
        self._clock.fill_age(state, now, is_connected=self._channel is not None)
        return state

    def write(self, controls: Controls) -> None:
        """Send the command."""
        self._send_message(codec.CONTROL, codec.encode_control(convert.controls_to_wire(controls)))

    def _send_message(self, kind: str, data: dict[str, str] | None = None) -> None:
        if self._channel is not None:
            if data and kind == codec.CONTROL and self._decimal_mark == ",":
                data = write_decimal_commas(data)
            self._channel.send_object(codec.encode_message(kind, data))

    def send_command(self, command: SimCommand) -> None:
        """Send the car back to the start."""
        if command.restart:
            self._send_message(codec.RESET_CAR)

    def release(self) -> None:
        """Brake, straight wheels."""
        self._send_message(codec.CONTROL, codec.encode_control(_BRAKE_CONTROL))

    def close(self) -> None:
        """Brake and hang up."""
        self.release()
        if self._channel is not None:
            self._channel.close()
        if self._caller is not None:
            self._caller.close()
        self._channel = self._caller = None
