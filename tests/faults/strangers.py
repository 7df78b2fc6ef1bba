"""Clients that are not ours: each drives a host by the protocol page alone, straight on and in gentle bends.

`change` may damage what they send; `frozen` keeps them from sending. `die` ends them as a kill does: the system closes
what they had open, and nothing is said.
"""

import contextlib
import json
import math
import os
import socket
import struct
import threading
import time

from websockets.exceptions import ConnectionClosed
from websockets.sync.server import serve

from faults.page_door import CAR, CONTROLS, PAGE_SIZE
from faults.trace import Trace


class Stranger:
    """What all of them share.

    Attributes:
        trace: speeds that the host reports, and when commands were sent.
        frozen: send nothing.
        change: turns a command's bytes into those that are sent: a list, none for a lost one.
    """

    def __init__(self, wire):
        self.wire, self.trace = wire, Trace()
        self.frozen = False
        self.change = lambda data: [data]
        self._began = time.monotonic()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        with contextlib.suppress(OSError, ConnectionClosed):
            self.drive()

    def drive(self):
        raise AssertionError("each has its own")

    def note_state(self, data):
        speed = self.wire.view.speed(data)
        if speed is not None and math.isfinite(speed):
            self.trace.add_speed(speed)
        return speed

    def pedals(self):
        """Return steering (share, positive to the right) and throttle: hold 1.5 times the speed of a fault."""
        steer = 0.03 * math.sin(0.7 * (time.monotonic() - self._began))
        return steer, 0.5 if self.trace.speed < 1.5 * self.wire.fast else 0.0

    def outgoing(self, data):
        """Return what to send instead of the command `data`."""
        if self.frozen:
            return []
        return self.change(data)

    def die(self):
        self._over.set()
        self._thread.join(5.0)


class PadStranger(Stranger):
    """Forza: reads Data Out, sends pad reports."""

    def __init__(self, wire, state_port, host_port):
        self._host_port = host_port
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", state_port))
        self._socket.settimeout(0.05)
        super().__init__(wire)

    def drive(self):
        while not self._over.is_set():
            with contextlib.suppress(TimeoutError, ConnectionError):
                data = self._socket.recv(4096)
                self.note_state(data)
                for changed in self.outgoing(self.command(data)):
                    self._socket.sendto(changed, ("127.0.0.1", self._host_port))
        self._socket.close()

    def command(self, state):
        steer, throttle = self.pedals()
        return struct.pack("<H2B4h", 0, 0, round(255 * throttle), round(32767 * 4 * steer), 0, 0, 0)


class ReplyStranger(PadStranger):
    """BeamNG: answers every state. Ids follow those of the states, so that a second one can go on."""

    shift = 0  # of the ids

    def command(self, state):
        steer, throttle = self.pedals()
        number = struct.unpack_from("<d", state)[0] + 1.0 + self.shift
        nan = [math.nan]
        return struct.pack("<64d", number, throttle, 0.0, steer, *nan * 9, 0.0, *nan * 50)  # 0: by pedals


class PageStranger(Stranger):
    """Assetto Corsa: makes CarControls0 and writes it some 200 times a second."""

    def __init__(self, wire, folder):
        self._folder = folder
        super().__init__(wire)

    def drive(self):
        controls = os.open(self._folder / CONTROLS, os.O_RDWR | os.O_CREAT, 0o666)
        os.ftruncate(controls, PAGE_SIZE)
        try:
            while not self._over.is_set():
                with contextlib.suppress(FileNotFoundError, struct.error):  # a page in the making is empty
                    self.note_state((self._folder / CAR).read_bytes()[:672])
                for data in self.outgoing(self.command()):
                    if len(data) < 72:
                        os.ftruncate(controls, len(data))
                    else:
                        os.ftruncate(controls, PAGE_SIZE)
                        os.pwrite(controls, data, 0)
                self._over.wait(0.005)
        finally:
            os.close(controls)

    def command(self):
        steer, throttle = self.pedals()
        data = bytearray(72)
        struct.pack_into("<5f", data, 0, throttle, 0.0, 1.0, steer, 0.0)
        data[41] = data[42] = data[43] = 1  # clutch by the game
        data[68] = 1  # gears too
        return bytes(data)


class AgentStranger(Stranger):
    """Socket.IO: the server that a simulator calls; answers each telemetry."""

    def __init__(self, wire, port):
        self._port, self._numbers = port, wire.name in ("udacity_pid", "udacity_mpc")
        self._server = serve(self._answer, "127.0.0.1", port, max_size=None, compression=None, ping_interval=None)
        self._connections, self._moved_at = [], time.monotonic()
        super().__init__(wire)

    def drive(self):
        self._server.serve_forever()

    def _answer(self, connection):
        self._connections.append(connection)
        with contextlib.suppress(ConnectionClosed, OSError):
            if self.wire.name == "trend":
                connection.send('42["restart",{}]')
            for text in connection:
                if not text.startswith("42") or self.note_state(text.encode()) is None:
                    continue
                while self.frozen and not self._over.wait(0.01):
                    pass
                if self.wire.name == "trend" and self._stands_at_a_wall():
                    connection.send('42["restart",{}]')
                for data in self.outgoing(("42" + json.dumps(["steer", self.command()])).encode()):
                    connection.send(data.decode(errors="replace"))

    def _stands_at_a_wall(self):
        """Return whether the car has not moved for a second: in the narrow world it meets walls."""
        now = time.monotonic()
        if self.trace.speed > 0.1:
            self._moved_at = now
        if now - self._moved_at < 1.0:
            return False
        self._moved_at = now + 1.0
        return True

    def command(self):
        steer, throttle = self.pedals()
        if self._numbers:
            return {"steering_angle": steer, "throttle": throttle, "mpc_x": [], "mpc_y": [], "next_x": [],
                    "next_y": []}  # fmt: skip
        return {"steering_angle": str(steer), "throttle": str(throttle)}

    def die(self):
        for connection in self._connections:
            with contextlib.suppress(OSError):
                connection.socket.shutdown(socket.SHUT_RDWR)
        self._over.set()
        self._server.shutdown()
        self._thread.join(5.0)


class CallStranger(Stranger):
    """donkeycar: calls the simulator, again where it is sent away, loads the first scene, answers each telemetry."""

    def __init__(self, wire, port):
        self._port = port
        self._socket = self._call()
        super().__init__(wire)

    def drive(self):
        while not self._over.is_set():
            with contextlib.suppress(ConnectionError), self._socket, self._socket.makefile("rb") as lines:
                for line in lines:
                    self.hear(line)
            if self.trace.speeds:
                return
            self._over.wait(0.1)
            self._socket = self._call()

    def _call(self):
        connection = socket.create_connection(("127.0.0.1", self._port), 10.0)
        connection.settimeout(None)  # a suspended host says nothing for half a minute
        return connection

    def hear(self, line):
        message = json.loads(line)
        kind = message.get("msg_type")
        if kind == "scene_selection_ready":
            self._send(b'{"msg_type":"get_scene_names"}')
        elif kind == "scene_names":
            scene = message["scene_names"][0]
            self._send(json.dumps({"msg_type": "load_scene", "scene_name": scene}).encode())
        elif kind == "telemetry":
            self.note_state(line)
            steer, throttle = self.pedals()
            command = {"msg_type": "control", "steering": str(steer), "throttle": str(throttle), "brake": "0.0"}
            for data in self.outgoing(json.dumps(command).encode()):
                self._send(data)

    def _send(self, data):
        self._socket.sendall(data + b"\n")

    def die(self):
        self._over.set()
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join(5.0)
        self._socket.close()
