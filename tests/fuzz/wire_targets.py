"""Targets: what comes over the wires, from the bytes to the state or the controls."""

import contextlib
import itertools
import math
import struct
from functools import cache
from typing import Any

import msgspec
from helpers.beamng.contracts import make_default_interface
from websockets.server import ServerProtocol

from fuzz.fuzz_target import FuzzTarget, scratch_folder
from trailbrake.dashboard import frame_source, page_messages
from trailbrake.errors import SimulatorError, WireError
from trailbrake.event_sims.options import EventLiveOptions
from trailbrake.sims.assetto import codec as assetto
from trailbrake.sims.assetto import convert as assetto_convert
from trailbrake.sims.assetto.signals import compile_numbers, find_number, list_signals
from trailbrake.sims.assetto.spec import LiveOptions as AssettoOptions
from trailbrake.sims.assetto.wire import acpmf
from trailbrake.sims.assetto.wire.player_sampler import state_from_pages
from trailbrake.sims.beamng import codec as beamng
from trailbrake.sims.beamng import convert as beamng_convert
from trailbrake.sims.beamng.signal_contract import parse_contract
from trailbrake.sims.beamng.signal_format import SignalListFormat
from trailbrake.sims.donkeycar import codec as donkeycar
from trailbrake.sims.donkeycar import convert as donkeycar_convert
from trailbrake.sims.forza import codec as forza
from trailbrake.sims.forza import convert as forza_convert
from trailbrake.sims.forza.telemetry_stream import TelemetryStream
from trailbrake.sims.trend import codec as trend
from trailbrake.sims.trend import convert as trend_convert
from trailbrake.sims.trend.link import Link as TrendLink
from trailbrake.sims.udacity import codec as udacity
from trailbrake.sims.udacity import convert as udacity_convert
from trailbrake.sims.udacity.link import Link as UdacityLink
from trailbrake.sims.udacity_mpc import codec as udacity_mpc
from trailbrake.sims.udacity_mpc import convert as udacity_mpc_convert
from trailbrake.sims.udacity_mpc.link import Link as UdacityMpcLink
from trailbrake.sims.udacity_pid import codec as udacity_pid
from trailbrake.sims.udacity_pid import convert as udacity_pid_convert
from trailbrake.sims.udacity_pid.link import Link as UdacityPidLink
from trailbrake.sims.udacity_pid.spec import LiveOptions as UdacityPidOptions
from trailbrake.state.tables import controls_row, state_row
from trailbrake.transport import image_codec, pad_report, plain_events, socketio
from trailbrake.transport.capture.view_page import ViewReader, ViewWriter
from trailbrake.transport.json_objects import JsonObjectSplitter
from trailbrake.transport.json_values import parse_number
from trailbrake.transport.websocket import WebSocketChannel

FLOATS = tuple(struct.pack("<f", v) for v in (float("nan"), float("inf"), -1.0, 1e38, 1e-40))
DOUBLES = tuple(struct.pack("<d", v) for v in (float("nan"), float("inf"), -1.0, 1e308, 1e-310))
INTEGERS = (b"\xff\xff\xff\xff", b"\x00\x00\x00\x80", b"\xff\xff\xff\x7f")
JSON = (
    b"{", b"}", b"[", b"]", b":", b",", b'"', b"null", b"true", b"1e999", b"-0", b'"NaN"', b'"Infinity"', b'"1,5"',
    b"\\ud800", b"12345678901234567890", b'"-1e308"', b'""',
)  # fmt: skip


def split_pieces(data: bytes) -> list[bytes]:
    """Return the pieces of a case that holds several messages: each has its length (u16) before it."""
    pieces, at = [], 0
    while at + 2 <= len(data):
        (length,) = struct.unpack_from("<H", data, at)
        pieces.append(data[at + 2 : at + 2 + length])
        at += 2 + length
    return pieces


def check_finite(message: Any) -> Any:
    """Return a decoded message; fail where one of its numbers is none."""
    for value in message or ():
        for number in value if isinstance(value, tuple) else (value,):
            assert not isinstance(number, float) or math.isfinite(number), message
    return message


def run_assetto_controls(data: bytes) -> None:
    message = assetto.decode_controls(data)
    controls_row(assetto_convert.controls_from_wire(message, 1))
    assetto_convert.pose_from_wire(message, 0.0)


def run_assetto_car(data: bytes) -> None:
    state_row(assetto_convert.state_from_wire(assetto.decode_car_subset(data)))
    assetto.decode_car(data)
    assetto.decode_packet_id(data)


def run_assetto_public(data: bytes) -> None:
    assetto_convert.other_from_wire(1, assetto.decode_public(data))


def run_assetto_sim(data: bytes) -> None:
    assetto.decode_sim_v0(data)
    assetto.decode_sim_v1(data)


def run_classic_page(data: bytes) -> None:
    kind = data[0] % 3 if data else 0
    layout = (acpmf.PHYSICS_LAYOUT, acpmf.GRAPHICS_LAYOUT, acpmf.STATIC_LAYOUT)[kind]
    message: Any = layout.decode(data[1:])
    if kind == 0:
        state_row(state_from_pages(message, acpmf.Graphics()))
    elif kind == 2:
        acpmf.track_id(message)
    elif kind == 1:
        acpmf.milliseconds_text(message.i_last_time)


@cache
def _signal_reader() -> Any:
    numbers = [find_number(signal.name) for signal in list_signals(AssettoOptions())]
    return compile_numbers([number for number in numbers if number.car < 0])


def run_assetto_signals(data: bytes) -> None:
    _signal_reader()(data)


@cache
def _view_page() -> tuple[ViewWriter, ViewReader]:
    return ViewWriter(str(scratch_folder())), ViewReader(str(scratch_folder()))


def run_view_page(data: bytes) -> None:
    writer, reader = _view_page()
    writer._page.write(data[:64])  # header and a few pixels, by a writer that is not ours
    reader.grab_pixels()
    with contextlib.suppress(SimulatorError):
        ViewReader(str(scratch_folder())).close()


def run_forza(data: bytes) -> None:
    stream = TelemetryStream()
    now = 0.0
    for piece in split_pieces(data)[:20]:
        now += 1.0 / 60.0
        stream.feed_datagram(piece, now)
        state_row(stream.current_state(now))
    if stream.packet is not None:
        forza.encode_packet(stream.packet)


def run_forza_packet(data: bytes) -> None:
    forza.decode_packet(data)
    state_row(forza_convert.state_from_wire(forza.decode_state_subset(data)))


def run_pad(data: bytes) -> None:
    report = pad_report.decode_report(data)
    controls_row(forza_convert.controls_from_wire(report, forza_convert.stick_from_wire(report, 0.1)))


def run_beamng_state(data: bytes) -> None:
    previous = None
    for piece in split_pieces(data)[:4] or [b""]:
        previous = beamng_convert.state_from_wire(beamng.decode_state_subset(piece), 0.0005, previous)
        state_row(previous)
        beamng.decode_state(piece)
        beamng.decode_state_doubles(piece)


def run_beamng_command(data: bytes) -> None:
    latched = beamng_convert.LatchedCommand()
    beamng_convert.apply_command(beamng.decode_command(data), latched)
    controls_row(beamng_convert.controls_from_wire(latched))


@cache
def _signal_format() -> SignalListFormat:
    return SignalListFormat(parse_contract(make_default_interface(), "fuzz"))


def run_beamng_signals(data: bytes) -> None:
    form = _signal_format()
    message = form.decode_state(data)
    state_row(form.state_from_message(message, 0.0005, None))
    form.extract_state_custom(message)
    form.read_clock(message)


def run_beamng_signal_command(data: bytes) -> None:
    form = _signal_format()
    command, latched = form.decode_command(data), form.make_latched_command()
    form.apply_command(command, latched)
    form.extract_command_custom(command)
    controls_row(beamng_convert.controls_from_wire(latched))


def _decode_json(data: bytes) -> Any:
    try:
        return msgspec.json.decode(data.decode("utf-8", "replace"))
    except (msgspec.DecodeError, RecursionError) as error:
        raise WireError("no JSON") from error


def event_telemetry(link_class: Any, options: Any) -> Any:
    """Return a function that reads events, one in a line, as the link of that simulator does."""

    def run(data: bytes) -> None:
        link = link_class(options)
        for number, line in enumerate(data.decode("utf-8", "replace").split("\n")[:8]):
            event = socketio.decode_event(socketio.EVENT + line)
            if event is not None:
                check_finite(link._decode_telemetry(event.data))
                link._handle_telemetry(event.data)
                state_row(link.read(0.05 * number))

    return run


def run_trend_steer(data: bytes) -> None:
    controls_row(trend_convert.controls_from_wire(check_finite(trend.decode_steer(_decode_json(data))), 1.0))


def run_udacity_steers(data: bytes) -> None:
    values = _decode_json(data)
    for codec, convert in (
        (udacity, udacity_convert), (udacity_pid, udacity_pid_convert), (udacity_mpc, udacity_mpc_convert)
    ):  # fmt: skip
        try:
            message = check_finite(codec.decode_steer(values))  # type: ignore[attr-defined]
            controls_row(convert.controls_from_wire(message, 1.0, 0.4))  # type: ignore[attr-defined]
        except WireError:
            continue


def run_donkeycar(data: bytes) -> None:
    splitter = JsonObjectSplitter()
    for piece in (data[k : k + 700] for k in range(0, len(data), 700)):
        for message in splitter.feed(piece):
            try:
                _read_donkeycar(*donkeycar.decode_message(message.decode("utf-8", "replace")))
            except WireError:
                continue


def _read_donkeycar(kind: str, data: dict[str, Any]) -> None:
    if kind == donkeycar.TELEMETRY:
        state_row(donkeycar_convert.state_from_wire(check_finite(donkeycar.decode_telemetry(data)), 2.0, None))
    elif kind == donkeycar.CONTROL:
        controls_row(donkeycar_convert.controls_from_wire(check_finite(donkeycar.decode_control(data)), 1.0, 0.4))
    elif kind == donkeycar.CAM_CONFIG:
        donkeycar_convert.camera_from_wire(donkeycar.decode_cam_config(data))
    elif kind == donkeycar.SCENE_NAMES:
        donkeycar.decode_scene_names(data)
    else:
        parse_number(data.get("timeStamp"), "timeStamp")


def run_socketio(data: bytes) -> None:
    """Frames to a server and to a client, by lines; the first line is the path of the request."""
    path, *frames = data.decode("utf-8", "replace").split("\n")
    sessions: list[Any] = [socketio.SocketIoServer(path, 0.0, "fuzz"), socketio.SocketIoClient(0.0)]
    for session in sessions:
        now = 0.0
        session.emit("steer", {"steering_angle": "0"})
        for frame in frames[:50]:
            now += 0.3
            session.receive_frame(frame, now)
            session.check_timers(now)
            session.pop_frames()


def run_plain_events(data: bytes) -> None:
    server, client = plain_events.PlainServer(), plain_events.PlainClient()
    for frame in data.decode("utf-8", "replace").split("\n")[:50]:
        server.receive_frame(frame, 0.0)
        client.receive_frame(frame, 0.0)
        server.emit("steer", {"throttle": 0.0})
        server.pop_frames()
        client.pop_frames()


class _PiecewiseConnection:
    """Stands in for a socket: each piece is received at once, an empty one as a pause; then the other end hangs up."""

    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = pieces

    def recv(self, size: int) -> bytes:
        if not self._pieces:
            return b""
        piece = self._pieces.pop(0)
        if not piece:
            raise BlockingIOError
        return piece

    def send(self, data: bytes) -> int:
        return len(data)

    def getpeername(self) -> tuple[str, int]:
        return "127.0.0.1", 1

    def setblocking(self, value: bool) -> None: ...

    def setsockopt(self, *values: int) -> None: ...

    def shutdown(self, how: int) -> None: ...

    def close(self) -> None: ...

    def fileno(self) -> int:
        return -1


def run_websocket(data: bytes) -> None:
    """Bytes of a client that calls: the handshake, then frames."""
    connection: Any = _PiecewiseConnection([part for piece in split_pieces(data)[:20] for part in (piece, b"")])
    channel = WebSocketChannel(connection, ServerProtocol(max_size=1 << 20), "")
    for _ in range(42):
        channel.poll_texts()
        channel.send_text("42[]")
    channel.close()


_damaged = itertools.count()


def run_image(data: bytes) -> None:
    decoder = image_codec.ImageDecoder(8, 8, lambda: next(_damaged))
    assert decoder.decode_image(data).ndim == 3


def run_base64(data: bytes) -> None:
    image_codec.decode_base64(data.decode("latin-1"), "image")


def run_page_answer(data: bytes) -> None:
    page_messages.decode_answer(data)


def run_page_request(data: bytes) -> None:
    frame_source.decode_request(data.decode("utf-8", "replace"))


WIRE_TARGETS = [
    FuzzTarget("assetto_controls", run_assetto_controls, FLOATS, 200),
    FuzzTarget("assetto_car", run_assetto_car, FLOATS + INTEGERS, 1000),
    FuzzTarget("assetto_public", run_assetto_public, FLOATS, 200),
    FuzzTarget("assetto_sim_state", run_assetto_sim, FLOATS, 64),
    FuzzTarget("assetto_debug_lines", assetto.decode_debug_lines, FLOATS + INTEGERS, 1000),
    FuzzTarget("assetto_signals", run_assetto_signals, FLOATS, 1000),
    FuzzTarget("view_page", run_view_page, INTEGERS, 64),
    FuzzTarget("assetto_classic_page", run_classic_page, (*FLOATS, b"\x00\xd8", b"\x00\xdc"), 1000),
    FuzzTarget("forza_stream", run_forza, FLOATS + INTEGERS, 2000),
    FuzzTarget("forza_packet", run_forza_packet, FLOATS + INTEGERS, 400),
    FuzzTarget("pad_report", run_pad, INTEGERS, 32),
    FuzzTarget("beamng_state", run_beamng_state, DOUBLES, 2000),
    FuzzTarget("beamng_command", run_beamng_command, DOUBLES, 600),
    FuzzTarget("beamng_signals", run_beamng_signals, DOUBLES, 600),
    FuzzTarget("beamng_signal_command", run_beamng_signal_command, DOUBLES, 600),
    FuzzTarget("trend_telemetry", event_telemetry(TrendLink, EventLiveOptions()), (*JSON, b"1:02:03")),
    FuzzTarget("trend_steer", run_trend_steer, JSON),
    FuzzTarget("udacity_telemetry", event_telemetry(UdacityLink, EventLiveOptions()), JSON),
    FuzzTarget("udacity_pid_telemetry", event_telemetry(UdacityPidLink, UdacityPidOptions()), JSON),
    FuzzTarget("udacity_mpc_telemetry", event_telemetry(UdacityMpcLink, EventLiveOptions()), JSON),
    FuzzTarget("udacity_steers", run_udacity_steers, JSON),
    FuzzTarget("donkeycar_messages", run_donkeycar, JSON),
    FuzzTarget("socketio_frames", run_socketio, (*JSON, b"\n", b"0{", b"40", b"41", b"42[", b"44", b"2probe", b"3")),
    FuzzTarget("plain_events", run_plain_events, (*JSON, b"\n", b'42["telemetry",')),
    FuzzTarget("websocket_bytes", run_websocket, (b"\r\n", b"\x81\x85", b"\x88\x80", b"\x09\x80", b"\xff\x7f"), 2000),
    FuzzTarget("camera_image", run_image, (b"\xff\xd8\xff", b"IHDR", b"IDAT", b"\xff\xda", b"\xff\xc4"), 4096),
    FuzzTarget("base64_text", run_base64, (b"=", b"-", b"_", b"\xff"), 400),
    FuzzTarget("page_answer", run_page_answer, DOUBLES, 80),
    FuzzTarget("page_request", run_page_request, JSON, 1024),
]
