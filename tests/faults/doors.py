"""Proxies between a host and a client, one per transport: they note what goes by and damage what the client gets.

A door runs in threads of the test. `stream` is the queue that states go through; setting it begins or ends a fault.
"""

import contextlib
import select
import socket
import threading
import time

from helpers.ports import free_port
from helpers.waiting import let_pass

from faults.stream_faults import Undisturbed
from faults.trace import Trace

_TICK_S = 0.002  # longest time for which a state that is due waits


class Door:
    """What all doors share.

    Attributes:
        trace: commands of the client, speeds of the host.
        stream: the states' queue.
        states: number of states that the host has sent.
        client_flags, host_flags: for `drive --live` and `serve`.
        client_environment, host_environment: the same.
    """

    is_stream = False  # whether the transport is TCP

    def __init__(self, view):
        self.view, self.trace = view, Trace()
        self.states = 0
        self.last_state = b""
        self._stream = Undisturbed()
        self.commands = Undisturbed()  # the queue that commands go through, where the transport is TCP
        self._carry = []  # what an ended fault still held
        self.client_flags, self.host_flags = [], []
        self.client_environment, self.host_environment = {}, {}
        self._over = threading.Event()
        self._threads = []

    @property
    def stream(self):
        return self._stream

    @stream.setter
    def stream(self, queue):
        self._carry = list(getattr(self._stream, "held", None) or ())
        self._stream = queue

    def pass_state(self, data):
        """Note a state of the host, and put it into the queue."""
        speed = self.view.speed(data)
        if speed is not None:
            self.states += 1
            self.trace.add_speed(speed)
            if (place := self.view.place(data)) is not None:
                self.trace.add_place(place)
            self.last_state = data
            self._stream.push(data, time.monotonic())
        else:
            self._carry.append(data)  # what is no state is not disturbed

    def pop_states(self):
        """Return what is due for the client now."""
        carried, self._carry = self._carry, []
        return carried + self._stream.pop(time.monotonic())

    def note_command(self, data):
        command = self.view.command(data)
        if command is not None:
            self.trace.add_command(command)

    def read_speed(self):
        """Return the car's speed, m/s, whether a client is there or not, where the wire shows it."""
        return self.trace.speed

    def run(self, work):
        """Run `work()` in a thread of the door until it is closed."""
        thread = threading.Thread(target=self._repeat, args=(work,), daemon=True)
        self._threads.append(thread)
        thread.start()

    def _repeat(self, work):
        while not self._over.is_set():
            work()

    def close(self):
        self._over.set()
        for thread in self._threads:
            thread.join(2.0)


class UdpDoor(Door):
    """Forza and BeamNG: the host sends to `state_port`, the client to `command_port`."""

    def __init__(self, wire, view):
        super().__init__(view)
        kind = socket.SOCK_DGRAM
        self._client_port, self._host_port = free_port(kind), free_port(kind)
        self._states, self._commands = (socket.socket(socket.AF_INET, kind) for _ in range(2))
        for one in (self._states, self._commands):
            one.bind(("127.0.0.1", 0))
            one.settimeout(_TICK_S)
        to_us, commands = (f"127.0.0.1:{one.getsockname()[1]}" for one in (self._states, self._commands))
        if wire == "forza":
            self.host_flags = ["--send", to_us, "--pad-port", self._host_port]
            self.client_flags = ["--listen", f"127.0.0.1:{self._client_port}", "--pad", f"udp:{commands}"]
        else:
            self.host_flags = ["--send", to_us, "--receive-port", self._host_port, "--speed", "real"]
            self.client_flags = ["--listen", f"127.0.0.1:{self._client_port}", "--peer", commands]
        self.run(self._forward_states)
        self.run(self._forward_commands)

    def _forward_states(self):
        with contextlib.suppress(TimeoutError, ConnectionError):
            self.pass_state(self._states.recv(65536))
        for data in self.pop_states():
            with contextlib.suppress(OSError):
                self._states.sendto(data, ("127.0.0.1", self._client_port))

    def _forward_commands(self):
        with contextlib.suppress(TimeoutError, ConnectionError):
            data = self._commands.recv(65536)
            self.note_command(data)
            with contextlib.suppress(OSError):
                self._commands.sendto(data, ("127.0.0.1", self._host_port))

    def intrude(self, seconds):
        """Send states of a second host, at rest and of noise, to the client beside those of the first."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as second:
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                for data in (self.view.set_values(self.last_state, 0.0), self.view.set_values(self.last_state, 1e30)):
                    second.sendto(data, ("127.0.0.1", self._client_port))
                let_pass(0.004)

    def close(self):
        super().close()
        self._states.close()
        self._commands.close()


class LineDoor(Door):
    """donkeycar: the client calls us, we call the host; JSON objects with line ends both ways."""

    is_stream = True

    def __init__(self, view):
        super().__init__(view)
        self._host_port = free_port()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(0.05)
        self.host_flags = ["--listen", f"127.0.0.1:{self._host_port}"]
        self.client_flags = ["--connect", f"127.0.0.1:{self._listener.getsockname()[1]}"]
        self.run(self._accept)

    def _accept(self):
        try:
            client, _ = self._listener.accept()
        except TimeoutError:
            return
        try:
            host = socket.create_connection(("127.0.0.1", self._host_port), 1.0)
        except OSError:
            client.close()
            return
        is_second = any(thread.name == "call" and thread.is_alive() for thread in self._threads)
        carry, name = (self._relay_call, "second call") if is_second else (self._carry_call, "call")
        thread = threading.Thread(target=carry, args=(client, host), name=name, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _relay_call(self, client, host):
        """Carry what a second client and the host say to each other as it is, until one of them hangs up."""
        with contextlib.suppress(OSError), client, host:
            while not self._over.is_set():
                for ready in select.select([client, host], [], [], _TICK_S)[0]:
                    data = ready.recv(1 << 20)
                    if not data:
                        return
                    (host if ready is client else client).sendall(data)

    def _carry_call(self, client, host):
        back = threading.Thread(target=self._carry_commands, args=(client, host), daemon=True)
        back.start()
        buffer = b""
        host.settimeout(_TICK_S)
        with contextlib.suppress(OSError), client, host:
            while not self._over.is_set():
                with contextlib.suppress(TimeoutError):
                    data = host.recv(1 << 20)
                    if not data:
                        return
                    *lines, buffer = (buffer + data).split(b"\n")
                    for line in lines:
                        self.pass_state(line + b"\n")
                for data in self.pop_states():
                    client.sendall(data)
                for data in self.commands.pop(time.monotonic()):
                    host.sendall(data)

    def _carry_commands(self, client, host):
        buffer = b""
        with contextlib.suppress(OSError):
            while data := client.recv(1 << 20):
                self.commands.push(data, time.monotonic())
                *lines, buffer = (buffer + data).split(b"\n")
                for line in lines:
                    self.note_command(line)
        with contextlib.suppress(OSError):
            host.shutdown(socket.SHUT_RDWR)

    def close(self):
        super().close()
        self._listener.close()
