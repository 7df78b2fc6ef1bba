"""Clients that mean harm, and how a process fares under them. Plain sockets, public descriptions of the protocols."""

import base64
import contextlib
import hashlib
import json
import os
import random
import socket
import statistics
import threading
import time

HANDSHAKE = (
    b"GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n"
    b"Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
)
_CROWD = 300  # connections of one burst; three bursts and the silent ones overlap


def text_frame(text, *, masked):
    """Return a WebSocket text frame, RFC 6455 section 5.2; the mask of a client is all zeros."""
    data, bit = text.encode(), 0x80 if masked else 0
    if len(data) < 126:
        head = bytes((0x81, bit | len(data)))
    elif len(data) < 1 << 16:
        head = bytes((0x81, bit | 126)) + len(data).to_bytes(2, "big")
    else:
        head = bytes((0x81, bit | 127)) + len(data).to_bytes(8, "big")
    return head + (bytes(4) if masked else b"") + data


class HostileCrowd:
    """Threads that harass one port until closed.

    Args:
        port: on this machine.
        speaks_json: whether the port takes JSON objects; else WebSockets.

    Attributes:
        rounds: how often each habit was shown.
    """

    def __init__(self, port, *, speaks_json=False):
        self.port, self.speaks_json = port, speaks_json
        self.rounds, self._ended = {}, threading.Event()
        habits = [self.be_silent, self.open_many, self.send_garbage, self.drip, self.send_oversized, self.flood,
                  self.send_page_requests]  # fmt: skip
        self._threads = [threading.Thread(target=self._repeat, args=(habit,), daemon=True) for habit in habits]
        for thread in self._threads:
            thread.start()

    def close(self):
        self._ended.set()
        for thread in self._threads:
            thread.join(30.0)

    def _repeat(self, habit):
        chance = random.Random(habit.__name__)
        while not self._ended.is_set():
            with contextlib.suppress(OSError):
                habit(chance)
            self.rounds[habit.__name__] = self.rounds.get(habit.__name__, 0) + 1
            self._ended.wait(0.05)

    def connect(self):
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=2.0)
        connection.settimeout(2.0)
        return connection

    def be_silent(self, chance):
        with contextlib.ExitStack() as stack:
            for _ in range(100):
                stack.enter_context(self.connect())
            self._ended.wait(8.0)

    def open_many(self, chance):
        with contextlib.ExitStack() as stack:
            for _ in range(_CROWD):
                stack.enter_context(self.connect())
            self._ended.wait(1.0)

    def send_garbage(self, chance):
        with self.connect() as connection:
            if chance.random() < 0.5 and not self.speaks_json:
                connection.sendall(HANDSHAKE + b"\r\n")
            for _ in range(20):
                connection.sendall(chance.randbytes(chance.randrange(1, 5000)))

    def drip(self, chance):
        with self.connect() as connection:
            for byte in HANDSHAKE if not self.speaks_json else b'{"msg_type":"get_scene_names","and":"so on' * 3:
                connection.sendall(bytes((byte,)))
                if self._ended.wait(0.05):
                    return

    def send_oversized(self, chance):
        with self.connect() as connection:
            if self.speaks_json:
                connection.sendall(b'{"a":[' + b"\n{},\n" * 1_500_000)
            else:
                connection.sendall(HANDSHAKE + b"\r\n" + text_frame("x" * (6 << 20), masked=True))

    def flood(self, chance):
        """Speak as a client does, ten thousand times, and never read."""
        with self.connect() as connection:
            if self.speaks_json:
                connection.sendall(b'{"msg_type":"get_scene_names"}' * 10_000)
            else:
                pong = text_frame("2", masked=True) * 5_000
                connection.sendall(HANDSHAKE + b"\r\n" + pong + b"\x89\xfd" + bytes(129) + pong)
            self._ended.wait(0.5)

    def send_page_requests(self, chance):
        with self.connect() as connection:
            if self.speaks_json:
                body = b'{"msg_type":"control","steering":"1","throttle":"1"}'
                connection.sendall(b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" + body)
            else:
                telemetry = text_frame('42["telemetry",{"speed":"1"}]', masked=True)
                connection.sendall(HANDSHAKE + b"Origin: http://evil.example\r\n\r\n" + telemetry)
            with contextlib.suppress(OSError):
                while connection.recv(4096):
                    pass


class HostileAgent:
    """A server that a simulator calls: of four calls three are mistreated, and one is answered as an agent does.

    Attributes:
        telemetries: that came in the calls that were answered.
        calls: so far.
    """

    def __init__(self):
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        self.telemetries = self.calls = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self):
        self._ended.set()
        self._server.close()
        self._thread.join(30.0)

    def _serve(self):
        habits = [self.be_silent, self.answer_for_a_while, self.send_garbage, self.answer_for_a_while, self.flood,
                  self.answer_for_a_while, self.send_oversized, self.answer_for_a_while]  # fmt: skip
        self._server.settimeout(1.0)
        while not self._ended.is_set():
            with contextlib.suppress(OSError):
                connection, _ = self._server.accept()
                with connection:
                    connection.settimeout(10.0)
                    habits[self.calls % len(habits)](connection)
            self.calls += 1

    def _shake_hands(self, connection):
        request = b""
        while b"\r\n\r\n" not in request:
            data = connection.recv(4096)
            if not data:
                raise OSError("it has left")
            request += data
        key = request.lower().split(b"sec-websocket-key:")[1].split(b"\r\n")[0]
        key = request[request.lower().index(key) :][: len(key)].strip()
        digest = hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest()
        connection.sendall(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Accept: " + base64.b64encode(digest) + b"\r\n\r\n"
        )

    def be_silent(self, connection):
        with contextlib.suppress(OSError):
            while connection.recv(4096):
                pass

    def send_garbage(self, connection):
        self._shake_hands(connection)
        connection.sendall(random.Random(self.calls).randbytes(100_000))

    def send_oversized(self, connection):
        self._shake_hands(connection)
        connection.sendall(text_frame("x" * (6 << 20), masked=False))

    def flood(self, connection):
        self._shake_hands(connection)
        steer = text_frame('42["steer",{"steering_angle":"0","throttle":"0.1"}]', masked=False)
        until = time.monotonic() + 8.0
        while time.monotonic() < until and not self._ended.is_set():
            connection.sendall(steer * 1000)

    def answer_for_a_while(self, connection):
        """Answer each telemetry for five seconds; frames of 42 alone, as Udacity's C++ agents do it."""
        self._shake_hands(connection)
        steer = text_frame('42["steer",{"steering_angle":"0","throttle":"0.1"}]', masked=False)
        connection.settimeout(30.0)
        until, tail = time.monotonic() + 5.0, b""
        while time.monotonic() < until:
            data = tail + connection.recv(1 << 16)
            # Frames of a client are masked: telemetries are counted by their lengths.
            while len(data) >= 14:
                size = data[1] & 0x7F
                head = 6 if size < 126 else 8 if size == 126 else 14
                size = size if size < 126 else int.from_bytes(data[2 : head - 4], "big")
                if len(data) < head + size:
                    break
                if size > 1000:  # it carries a picture
                    self.telemetries += 1
                    connection.sendall(steer)
                data = data[head + size :]
            tail = data


class ProcessWatch:
    """Samples memory and descriptors of a process (Linux), in a thread, until closed."""

    def __init__(self, pid):
        self.pid, self.memory, self.descriptors = pid, [], []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        while not self._ended.wait(1.0):
            with contextlib.suppress(OSError, StopIteration):
                with open(f"/proc/{self.pid}/status") as file:
                    line = next(line for line in file if line.startswith("VmRSS"))
                self.memory.append(int(line.split()[1]) / 1024.0)
                self.descriptors.append(len(os.listdir(f"/proc/{self.pid}/fd")))

    def close(self):
        self._ended.set()
        self._thread.join()

    def report(self):
        """Return MB at the first third and at the end, the most, and the most descriptors."""
        third = len(self.memory) // 3
        return {
            "memory_third_mb": round(statistics.median(self.memory[third : third + 10]), 1),
            "memory_end_mb": round(statistics.median(self.memory[-10:]), 1),
            "memory_most_mb": round(max(self.memory), 1),
            "descriptors_most": max(self.descriptors),
        }


def print_report(name, **figures):
    """Print figures of a campaign as one line of JSON."""
    print(json.dumps({"soak": name, **figures}), flush=True)
