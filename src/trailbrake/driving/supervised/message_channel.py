"""`MessageChannel`: messages of bytes between two processes over a connected socket, each behind its length."""

import socket
import struct
from collections.abc import Callable
from contextlib import suppress

from trailbrake.errors import WireError

_LENGTH = struct.Struct("<I")
LARGEST_MESSAGE = 64 << 20  # bytes; a picture of 4 million pixels has less
_CHUNK = 1 << 16  # bytes received at once
_SEND_POLL_S = 0.02  # s between calls of `on_wait` while the other end does not receive


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
