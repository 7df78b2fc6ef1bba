"""The messages between a program and the process that keeps its car, in MessagePack.

The program opens the car, answers states and sends commands; the keeper sends states. A picture that has not changed
since the state before is not sent again.

`MessageChannel`: messages of bytes between two processes over a connected socket, each behind its length.
"""

import os
import socket
import struct
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import SupportsFloat, TypeAlias

import msgspec

from trailbrake.driving.spec import DriveSpec
from trailbrake.errors import UsageError, WireError
from trailbrake.json_types import JsonObject
from trailbrake.state import CarState, Controls, Image, SignalValues, SimCommand
from trailbrake.transport.capture.picture_scaling import CapturedImage
from trailbrake.transport.image_codec import ImageDecoder, read_image_size

_LIKELY_SIZE = 160, 120  # width and height, pixels, of the black image that stands for a first one without a size
_LENGTH = struct.Struct("<I")
LARGEST_MESSAGE = 64 << 20  # bytes; a picture of 4 million pixels has less
_CHUNK = 1 << 16  # bytes received at once
_SEND_POLL_S = 0.02  # s between calls of `on_wait` while the other end does not receive


class OpenCar(msgspec.Struct, tag="open", array_like=True, frozen=True):
    """Requests a car.

    Attributes:
        spec: the drive: its site, signals and pace.
        pid: identity of the program's process.
    """

    spec: DriveSpec
    pid: int


class StepAnswer(msgspec.Struct, tag="answer", array_like=True):
    """Answers the newest state.

    Attributes:
        controls: made of plain numbers.
        custom: free values to send from now on; None: those before.
        repeats: whether the program has not computed it for this state: it says nothing about its pace.
    """

    controls: Controls
    custom: tuple[float, ...] | None = None
    repeats: bool = False


class CarRequest(msgspec.Struct, tag="command", array_like=True):
    """Requests something beside driving."""

    command: SimCommand


class LeaveCar(msgspec.Struct, tag="leave", array_like=True):
    """Ends the drive.

    Attributes:
        brakes: whether the car is stopped before.
    """

    brakes: bool


class CarOpened(msgspec.Struct, tag="opened", array_like=True, frozen=True):
    """The car is there.

    Attributes:
        accepts: names of CONTROL_FIELDS and COMMAND_FIELDS that its link accepts.
        period: s of simulator time between samples.
        signals: names of the selected signals.
        custom_room: how many free values an answer takes.
    """

    accepts: frozenset[str]
    period: float
    signals: tuple[str, ...]
    custom_room: int


class CarPicture(msgspec.Struct, array_like=True):
    """A new picture.

    Attributes:
        data: encoded.
        number: of a captured picture; 0 for one of the wire.
        taken_at: s, steady clock, of a captured picture.
    """

    data: bytes
    number: int = 0
    taken_at: float = 0.0


class CarSample(msgspec.Struct, tag="sample", array_like=True):
    """A state of the car.

    Attributes:
        state: its signals are values alone, and its picture is not there.
        has_picture: whether it has one: `picture`, or the one before.
        picture: a new one.
        custom: free values of its message.
        period: s of simulator time between samples.
        counters: of the link, in the order of LinkCounters.
        pace: how the simulator's pace is kept; None where the program does not set it.
    """

    state: CarState
    has_picture: bool
    picture: CarPicture | None
    custom: tuple[float, ...]
    period: float
    counters: tuple[int, ...]
    pace: JsonObject | None = None


class CarProblem(msgspec.Struct, tag="problem", array_like=True):
    """An error of the keeper.

    Attributes:
        kind: its class.
        parts: what, where, expected, got, hint.
    """

    kind: str
    parts: tuple[str, str, str, str, str]


class StillWaiting(msgspec.Struct, tag="waiting", array_like=True):
    """There is no new state yet."""


ProgramMessage: TypeAlias = OpenCar | StepAnswer | CarRequest | LeaveCar
KeeperMessage: TypeAlias = CarOpened | CarSample | CarProblem | StillWaiting


def _encode_extra(value: object) -> object:
    """Return what stands in a message for a value that MessagePack does not know."""
    if isinstance(value, SignalValues):
        return value.values
    if isinstance(value, Image):
        return None  # its bytes are sent beside the state
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, SupportsFloat):  # of NumPy
        return float(value)
    raise TypeError(type(value).__name__)


_encoder = msgspec.msgpack.Encoder(enc_hook=_encode_extra)
_program_decoder = msgspec.msgpack.Decoder(ProgramMessage)


def encode_message(message: ProgramMessage | KeeperMessage) -> bytes:
    """Return the bytes of a message."""
    return _encoder.encode(message)


def encode_request(request: OpenCar) -> bytes:
    """Return the bytes of a request for a car.

    Raises:
        UsageError: a live option is neither number, text, path nor a collection of these.
    """
    try:
        return _encoder.encode(request)
    except (TypeError, OverflowError) as error:
        raise UsageError("an option that cannot be sent to another process", where="connect",
                         expected="numbers, texts and paths", got=str(error)) from error  # fmt: skip


def decode_program_message(data: bytes) -> ProgramMessage:
    """Return the message of a program; WireError where it is none."""
    try:
        message: ProgramMessage = _program_decoder.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise WireError(f"no message of a program: {error}", where="channel") from error
    return message


class KeeperMessageDecoder:
    """Decodes the messages of a keeper and keeps the newest picture.

    Attributes:
        signals: names of the selected signals; `CarOpened` says them.
    """

    def __init__(self) -> None:
        self.signals: tuple[str, ...] = ()
        self._positions: dict[str, int] = {}
        self._decoder = msgspec.msgpack.Decoder(KeeperMessage, dec_hook=self._decode_extra)
        self._image: Image | None = None
        self._images: ImageDecoder | None = None

    def decode(self, data: bytes) -> KeeperMessage:
        """Return a message; its state has its signals by name, and its picture. WireError where it is none."""
        try:
            message: KeeperMessage = self._decoder.decode(data)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise WireError(f"no message of a keeper: {error}", where="channel") from error
        if isinstance(message, CarSample):
            if message.picture is not None:
                self._image = self._make_image(message.picture)
            message.state.image = self._image if message.has_picture else None
        elif isinstance(message, CarOpened):
            self._positions = {name: place for place, name in enumerate(message.signals)}
        return message

    def _decode_extra(self, kind: type, value: Sequence[float]) -> SignalValues:
        return SignalValues(self._positions if value else {}, tuple(value))

    def _make_image(self, picture: CarPicture) -> Image:
        if picture.number:
            return CapturedImage.restore(picture.data, picture.number, picture.taken_at)
        if self._images is None:
            width, height = read_image_size(picture.data)
            if not width * height:
                width, height = _LIKELY_SIZE
            self._images = ImageDecoder(height, width, lambda: None)
        return self._images.make_image(picture.data)


def make_picture(image: Image) -> CarPicture:
    """Return the message of a picture."""
    if isinstance(image, CapturedImage):
        return CarPicture(image.data, image.number, image.taken_at)
    return CarPicture(image.data)


class ChannelClosed(Exception):  # noqa: N818 - an event
    """The other end has closed the channel, or its process has ended."""


class MessageChannel:
    """One end of a channel.

    Args:
        connection: a stream socket; the channel closes it.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._received = bytearray()

    def send(self, data: bytes, on_wait: Callable[[], None] = lambda: None) -> None:
        """Send a message; wait until the other end has room for it.

        Args:
            data: the message.
            on_wait: called every 20 ms while there is no room.

        Raises:
            ChannelClosed: the other end is gone.
        """
        rest = memoryview(_LENGTH.pack(len(data)) + data)
        self._socket.settimeout(_SEND_POLL_S)
        while rest:
            try:
                rest = rest[self._socket.send(rest) :]
            except (TimeoutError, BlockingIOError):
                on_wait()
            except OSError as error:
                raise ChannelClosed from error

    def receive(self, timeout_s: float) -> bytes | None:
        """Return the next message; None where none is complete within `timeout_s`, s.

        Raises:
            ChannelClosed: the other end is gone, and all its messages are received.
            WireError: the length of a message is impossible.
        """
        received = self._received
        while True:
            if len(received) >= _LENGTH.size:
                (size,) = _LENGTH.unpack_from(received)
                if size > LARGEST_MESSAGE:
                    raise WireError("no length of a message", where="channel", got=str(size))
                if len(received) >= _LENGTH.size + size:
                    data = bytes(received[_LENGTH.size : _LENGTH.size + size])
                    del received[: _LENGTH.size + size]
                    return data
            try:
                self._socket.settimeout(timeout_s)
                part = self._socket.recv(_CHUNK)
            except (TimeoutError, BlockingIOError):
                return None
            except OSError as error:
                raise ChannelClosed from error
            if not part:
                raise ChannelClosed
            received += part

    def finish_sending(self) -> None:
        """Announce that no further message comes; messages of the other end still arrive."""
        with suppress(OSError):  # the other end is gone
            self._socket.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()
