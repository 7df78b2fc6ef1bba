"""JSON objects over TCP, neither end ever blocking: each ends where its braces close, with or without a newline.

Simulators of the Unity world end a message with a newline; many of their clients send bare objects and rely on the
simulator to count braces. `JsonObjectSplitter` reads both, and finds its way back after text that is no object.
"""

import re
import socket
from collections import deque
from collections.abc import Iterator

from trailbrake.transport.tcp import (
    MAX_MESSAGE,
    MAX_MESSAGES_PER_POLL,
    RECEIVE_SIZE,
    TcpCaller,
    TcpChannel,
    TcpListener,
)
from trailbrake.transport.udp import Address

_OUTSIDE_STRING = re.compile(rb'["{}\n]')
_IN_STRING = re.compile(rb'["\\\n]')
_NO_SPACE = re.compile(rb"\S")
# The first line of a browser's request. A page of any site can send one to any port, with objects in its body.
_HTTP_REQUEST = re.compile(rb"(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|CONNECT|TRACE) ")
_BEFORE_VALUE = b"{[:,"  # characters after which an object on the next line belongs to the one around it


class JsonObjectSplitter:
    """Cuts a stream of bytes into JSON objects.

    An object ends with the brace that closes its first one; braces in strings do not count. Text between objects comes
    out as a message of its own, up to the end of its line or the next object, so that the codec above can reject it.
    A string that a newline breaks, or an object that begins on a new line where no value can stand, ends the text
    before it in the same way: one damaged message does not swallow those after it.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._scanned = 0  # bytes of the buffer that have been looked at
        self._depth = 0  # open braces
        self._in_string = False

    @property
    def pending_bytes(self) -> int:
        """Bytes of a message that has not ended."""
        return len(self._buffer)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Add received bytes; yield the messages that they complete, oldest first, without the space around them."""
        self._buffer += data
        while (end := self._find_end()) >= 0:
            message = bytes(self._buffer[:end]).strip()
            del self._buffer[:end]
            self._scanned = self._depth = 0
            self._in_string = False
            if message:
                yield message
        if not self._buffer.strip():
            self._buffer.clear()
            self._scanned = 0

    def _find_end(self) -> int:
        """Return the length of the first message in the buffer; -1 where none has ended yet."""
        buffer = self._buffer
        while True:
            pattern = _IN_STRING if self._in_string else _OUTSIDE_STRING
            found = pattern.search(buffer, self._scanned)
            if found is None:
                self._scanned = len(buffer)
                return -1
            at, mark = found.start(), buffer[found.start()]
            if mark == ord("\\"):
                if at + 1 == len(buffer):  # what it escapes has not come
                    self._scanned = at
                    return -1
                self._scanned = at + 2
                continue
            if mark == ord("\n"):
                if self._in_string or not self._depth:
                    return at + 1
                following = _NO_SPACE.search(buffer, at)  # without a copy: a message may have a million line ends
                if following is None:  # whether the object goes on is not known yet
                    self._scanned = at
                    return -1
                if following[0] == b"{" and _last_character(buffer, at) not in _BEFORE_VALUE:
                    return at + 1
                self._scanned = following.start()
                continue
            elif mark == ord("{"):
                if not self._depth and buffer[:at].strip():  # text before an object
                    return at
                self._depth += 1
            elif mark == ord("}"):
                self._depth -= self._depth > 0
                if not self._depth:
                    return at + 1
            elif self._depth:  # a quotation mark; outside an object it means nothing
                self._in_string = not self._in_string
            self._scanned = at + 1


def _last_character(buffer: bytearray, end: int) -> int:
    """Return the last byte before `end` that is no space; there is one."""
    while chr(buffer[end - 1]).isspace():
        end -= 1
    return buffer[end - 1]


class JsonObjectChannel(TcpChannel):
    """One connection that carries JSON objects, as UTF-8 text. Sent ones end with a newline.

    A browser's request ends the connection: its body could hold objects that a page of another site has chosen.

    Attributes:
        unreadable: messages that the owner could not read; counted by the owner.
    """

    def __init__(self, connection: socket.socket) -> None:
        super().__init__(connection)
        self.unreadable = 0
        self._splitter = JsonObjectSplitter()
        self._received: deque[bytes] = deque()  # messages that are not returned yet

    @property
    def pending_bytes(self) -> int:
        """Received bytes of a message that has not ended."""
        return self._splitter.pending_bytes

    def poll_objects(self) -> list[str]:
        """Receive and send what is possible; return the received objects, oldest first.

        Bytes that are not UTF-8 become replacement characters: the codec above judges the content of a message. A
        message that is too long ends the connection.
        """
        if not self.is_closed:
            try:
                self._flush_output()
                self._receive_messages()
            except OSError as error:
                self._mark_broken(error)
        count = min(len(self._received), MAX_MESSAGES_PER_POLL)
        return [self._received.popleft().decode("utf-8", "replace") for _ in range(count)]

    def _receive_messages(self) -> None:
        while not self.is_closed and len(self._received) < MAX_MESSAGES_PER_POLL:
            try:
                data = self._socket.recv(RECEIVE_SIZE)
            except BlockingIOError:  # there is no more yet
                return
            if not data:
                self._mark_closed("the other end hung up")
            for message in self._splitter.feed(data):
                if _HTTP_REQUEST.match(message):
                    self._mark_closed("a browser's request: this port is for simulators' clients")
                    return
                self._received.append(message)
            if self._splitter.pending_bytes > MAX_MESSAGE:
                self._mark_closed(f"a message of more than {MAX_MESSAGE} bytes")

    def send_object(self, text: str) -> None:
        """Send one object; what the system does not accept at once goes with the next poll."""
        if not self.is_closed:
            self._outgoing += text.encode() + b"\n"
            self._try_flush()


def listen_for_objects(bind: Address = ("127.0.0.1", 0), *, where: str = "tcp") -> TcpListener[JsonObjectChannel]:
    """Return a listener whose clients send JSON objects; arguments and errors are those of `TcpListener`."""
    return TcpListener(JsonObjectChannel, bind, where=where)


def call_for_objects(address: Address) -> TcpCaller[JsonObjectChannel]:
    """Return a connection attempt to a server that sends JSON objects."""
    return TcpCaller(JsonObjectChannel, address)
