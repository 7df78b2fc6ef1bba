"""How two ends find each other: by ports in a folder that only they know, or by an address of this machine."""

import os
import socket
from pathlib import Path

from trailbrake.user_files import open_replacement

OUTSIDE = ("192.0.2.1", 9)  # an address of documentation (RFC 5737): the way outside


def publish_port(folder: "str | os.PathLike[str]", name: str, port: int) -> None:
    """Write down that `name` listens on `port` of this machine. A reader sees the whole number or nothing."""
    with open_replacement(Path(folder) / f"{name}.port") as file:
        file.write(str(port).encode("ascii"))


def lookup_port(folder: "str | os.PathLike[str]", name: str) -> int | None:
    """Return the port on which `name` listens, None while it has not published one."""
    try:
        return int((Path(folder) / f"{name}.port").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def withdraw_port(folder: "str | os.PathLike[str]", name: str) -> None:
    """Remove what `publish_port` wrote."""
    (Path(folder) / f"{name}.port").unlink(missing_ok=True)


def find_own_address(target: tuple[str, int] = OUTSIDE) -> str:
    """Return this machine's IPv4 address on the way to `target`, a host and a port; nothing is sent.

    Without a way there, it is the address of this machine's name.

    Raises:
        OSError: this machine has neither.
    """
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect(target)
            return str(probe.getsockname()[0])
    except OSError:
        return socket.gethostbyname(socket.gethostname())
