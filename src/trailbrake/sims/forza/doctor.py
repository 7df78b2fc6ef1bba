"""`doctor forza`: finds out why no data arrive from a Forza title, or why the pad does not drive.

Source: protocol page forza-data-out, section 1. It listens for a few seconds at the link's port.
"""

import ipaddress
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import monotonic

from trailbrake.errors import TrailbrakeError, UsageError
from trailbrake.findings import Finding
from trailbrake.sims.forza import spec
from trailbrake.sims.forza.codec import expected_lengths
from trailbrake.sims.forza.telemetry_stream import TelemetryStream
from trailbrake.simulator_tools import DoctorTool
from trailbrake.transport.pad import open_pad_backend
from trailbrake.transport.udp import UdpSocket, parse_address

GAME_PORTS = range(5200, 5301)  # FH6 binds its own socket there
_SWITCH_ON_ADVICE = (
    "in the game switch Data Out on (Settings, HUD and Gameplay), with the IP address of this machine and the port "
    "{port}; then drive: some titles send nothing in menus and pauses"
)
_LOOPBACK_ADVICE = (
    "a Microsoft Store build on this machine needs, once and as administrator: CheckNetIsolation.exe LoopbackExempt "
    "-a -n=NAME, NAME being Microsoft.ApolloBaseGame_8wekyb3d8bbwe (FM7), Microsoft.SunriseBaseGame_8wekyb3d8bbwe "
    "(FH4) or Microsoft.ForteBaseGame_8wekyb3d8bbwe (FH6); Steam builds need nothing; FM7 never sends to its own "
    "machine"
)


@dataclass(slots=True)
class DoctorOptions:
    """Say why there is no data from a Forza title, and what to do.

    Attributes:
        listen: HOST:PORT that receives telemetry.
        pad: auto, udp:HOST:PORT, uinput, vgamepad or none.
        seconds: how long to listen.
    """

    listen: str = f"0.0.0.0:{spec.PORT}"
    pad: str = "auto"
    seconds: float = 5.0


def examine(options: DoctorOptions, now: Callable[[], float] = monotonic) -> Iterator[Finding]:
    """Yield the findings as they are made.

    Args:
        options: address, pad and duration.
        now: returns the time, s, by any steady clock.

    Raises:
        UsageError: the address or the duration is not valid.
    """
    if not 0.0 < options.seconds < math.inf:
        raise UsageError("no time to listen", where="--seconds", expected="above 0", got=f"{options.seconds:g}")
    host, port = parse_address(options.listen, where="--listen")
    yield _check_bind_address(host)
    yield _check_port_number(port)
    try:
        udp = UdpSocket((host, port), where="--listen")
    except TrailbrakeError as error:
        yield Finding(
            "port", "problem", error.what,
            f"only one program can listen on a port: stop the other, let it forward to another port, or choose one here"
            f" and in the game (now {port})",
        )  # fmt: skip
    else:
        yield Finding("port", "ok", f"{host}:{port} is free")
        stream, senders = TelemetryStream(), set()
        try:
            until = now() + options.seconds
            while (at := now()) < until:
                udp.wait_readable(min(0.1, until - at))
                while (got := udp.receive()) is not None:
                    senders.add(got[1][0])
                    stream.feed_datagram(got[0], now(), got[1])
        finally:
            udp.close()
        yield from _diagnose_stream(stream, senders, options.seconds, port)
    yield _check_pad(options.pad)


def _check_bind_address(host: str) -> Finding:
    if host == "0.0.0.0":
        return Finding("address", "ok", "listens on all networks of this machine")
    if ipaddress.IPv4Address(host).is_loopback:
        return Finding(
            "address", "problem", f"listens on {host} only",
            "games send from the network card's address even to 127.0.0.1, and consoles send from outside: listen on "
            "0.0.0.0",
        )  # fmt: skip
    return Finding(
        "address", "unknown", f"listens on {host} only", "a usual reason for no data: listen on 0.0.0.0 instead"
    )


def _check_port_number(port: int) -> Finding:
    if port in GAME_PORTS:
        return Finding(
            "port number", "problem", f"FH6 binds its own socket in 5200 to 5300: {port}",
            f"use another port here and in the game, such as {spec.PORT}",
        )  # fmt: skip
    return Finding("port number", "ok", f"{port}: no game uses it")


def _diagnose_stream(stream: TelemetryStream, senders: set[str], seconds: float, port: int) -> Iterator[Finding]:
    c = stream.counters
    if not c.datagrams:
        yield Finding("packets", "problem", f"none in {seconds:g} s", _SWITCH_ON_ADVICE.format(port=port))
        yield Finding(
            "loopback", "unknown", "trailbrake cannot detect whether Windows blocks packets", _LOOPBACK_ADVICE
        )
        yield Finding(
            "firewall", "unknown", "trailbrake cannot detect whether a firewall blocks packets",
            f"allow UDP port {port}; to test it from another machine: trailbrake replay FILE --to THIS_MACHINE:{port}",
        )  # fmt: skip
        return
    yield Finding("packets", "ok", f"{c.datagrams} in {seconds:g} s, from {', '.join(sorted(senders))}")
    good = sum(c.formats.values())
    if c.rejected:
        lengths = (
            ", ".join(f"{n} of {size} bytes" for size, n in sorted(c.lengths.items())) or "with no numbers in them"
        )
        yield Finding(
            "lengths", "unknown" if good else "problem", f"{c.rejected} datagrams are not Forza's: {lengths}",
            f"another program sends to this port; Forza's have {expected_lengths()} bytes",
        )  # fmt: skip
    if c.foreign:
        yield Finding(
            "senders", "problem", f"{c.foreign} packets of a second sender were ignored",
            "only the first one counts: switch Data Out off on the other machine or program",
        )  # fmt: skip
    if not good:
        return
    formats = ", ".join(f"{name} ({n})" for name, n in sorted(c.formats.items()))
    if set(c.formats) == {"sled"}:
        yield Finding(
            "format", "problem", f"only {formats}: no position, gears or pedals",
            "choose Dash (Car Dash) for the format of Data Out in the game",
        )  # fmt: skip
    else:
        yield Finding("format", "ok", formats)
    if not c.received:
        yield Finding(
            "driving", "problem", f"IsRaceOn is 0 in all {c.paused} packets: the car is not driven",
            "leave the menu or the pause and drive",
        )  # fmt: skip
        return
    yield Finding(
        "driving", "ok", f"{c.received} samples, {1.0 / stream.period:.0f}/s; lost {c.lost}, late {c.late}, twice "
        f"{c.duplicates}",
    )  # fmt: skip
    dash = stream.packet.dash if stream.packet is not None else None
    if dash is not None and dash.norm_driving_line == 0 and dash.lap_no == 0 and dash.dist_traveled == 0.0:
        yield Finding(
            "driving line", "unknown", "it is 0 and no race is on: free roam has no line",
            "lane keeping needs a race or a rivals event; the line driver needs a map instead",
        )  # fmt: skip


def _check_pad(kind: str) -> Finding:
    try:
        made = open_pad_backend(kind)
    except TrailbrakeError as error:
        return Finding("pad", "problem", str(error), "driving needs a pad; recording does not")
    made.close()
    return Finding("pad", "ok", f"{kind}: works")


DOCTOR = DoctorTool(DoctorOptions, examine)
