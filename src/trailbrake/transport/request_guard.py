"""Which WebSocket requests a server on this machine accepts: no foreign pages, no foreign names for this address.

A browser runs scripts of any site, and they may open WebSockets to this machine. A browser names the site in the
header `Origin`; programs send none, or the server's own address. The header `Host` is checked too: a site whose name
leads to this machine (DNS rebinding) has an origin of its own name.
"""

import ipaddress
from collections.abc import Sequence
from urllib.parse import urlsplit


def find_refusal(
    hosts: Sequence[str], origins: Sequence[str], allowed_origins: Sequence[str] = (), *, is_local: bool = True
) -> str:
    """Return why a request is refused; "" where it is accepted.

    Args:
        hosts: the values of its header `Host`.
        origins: those of `Origin`; none for a program that is no browser.
        allowed_origins: of pages that may connect, as "http://localhost:8000".
        is_local: whether only this machine reaches the server; programs of other machines may call it by a name.
    """
    if len(hosts) > 1 or len(origins) > 1:
        return "a request with two hosts or origins"
    host = hosts[0].lower() if hosts else ""
    if host and not is_address(host) and (is_local or origins):
        return f"a request for the host {host[:80]}, expected an address or localhost"
    if not origins:
        return ""
    origin = origins[0].lower()
    if origin in [allowed.lower().rstrip("/") for allowed in allowed_origins]:
        return ""
    if host and origin == f"http://{host}":
        return ""
    return f"a page of {origin[:80]}"


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches a server that listens at `host`, an address or a name."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_address(host: str) -> bool:
    """Return whether a value of the header `Host` is localhost or a number: a name could lead anywhere."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
        if name == "localhost":
            return True
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
