"""The proxy of simulators that call their agent over Socket.IO: WebSocket frames, by a library of others."""

import contextlib
import threading
import time

from helpers.ports import free_port
from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.sync.client import connect
from websockets.sync.server import serve

from faults.doors import Door

_TICK_S = 0.002


class WebDoor(Door):
    """The host calls us, we call the client. A host that calls before the client listens is sent away."""

    is_stream = True

    def __init__(self, view):
        super().__init__(view)
        self._client_port = free_port()
        self._server = serve(self._carry_call, "127.0.0.1", 0, max_size=None, compression=None, ping_interval=None)
        self._threads.append(threading.Thread(target=self._server.serve_forever, daemon=True))
        self._threads[0].start()
        self.host_flags = ["--connect", f"127.0.0.1:{self._server.socket.getsockname()[1]}", "--pace", "real"]
        self.client_flags = ["--listen", f"127.0.0.1:{self._client_port}"]

    def call_client(self, path):
        """Return a connection to the client, as a simulator that calls it makes one."""
        return connect(f"ws://127.0.0.1:{self._client_port}{path}", max_size=None, compression=None,
                       ping_interval=None, open_timeout=3.0)  # fmt: skip

    def _carry_call(self, host):
        ended = contextlib.suppress(ConnectionClosed, WebSocketException, OSError, EOFError)
        with ended, self.call_client(host.request.path) as client:
            threading.Thread(target=self._carry_commands, args=(client, host), daemon=True).start()
            self._carry_states(client, host)
        host.close()

    def _carry_states(self, client, host):
        while not self._over.is_set():
            with contextlib.suppress(TimeoutError):
                self.pass_state(host.recv(timeout=_TICK_S).encode())
            for data in self.pop_states():
                client.send(data.decode(errors="replace"))
            for text in self.commands.pop(time.monotonic()):
                host.send(text)

    def _carry_commands(self, client, host):
        with contextlib.suppress(ConnectionClosed, OSError):
            for text in client:
                self.note_command(text.encode())
                self.commands.push(text, time.monotonic())
        host.close()

    def intrude(self, seconds):
        """Call the client as a second simulator does, and wait for it to hang up."""
        hung_up = contextlib.suppress(ConnectionClosed, WebSocketException, OSError, TimeoutError, EOFError)
        with hung_up, self.call_client("/socket.io/?EIO=4&transport=websocket") as second:
            second.send('42["telemetry",{}]')
            second.recv(timeout=seconds)

    def close(self):
        self._server.shutdown()
        super().close()
