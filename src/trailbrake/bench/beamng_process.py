"""A host of BeamNG's coupling as a process of its own, for the benches."""

import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

EXIT_S = 60.0  # until a terminated host has ended


def find_free_port() -> int:
    """Return a free UDP port."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def run_host(command: Sequence[str], send: int, receive: int, simulink_time: float) -> Iterator[None]:
    """Run `command` as a host that sends to one port of this machine and listens on another.

    Args:
        command: the program and its arguments, without the ports and the period.
        send: port of the controller.
        receive: port of the host.
        simulink_time: s.
    """
    words = [*command, f"--send=127.0.0.1:{send}", f"--receive-port={receive}", f"--simulink-time={simulink_time!r}"]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait(EXIT_S)
