"""`find_own_address`: which of this machine's addresses others reach it at."""

import socket

OUTSIDE = ("192.0.2.1", 9)  # an address of documentation (RFC 5737): the way outside


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
