"""Says why there is no data from a Forza title, or why nothing drives.

Source: protocol page forza-data-out, section 1. Listens for a few seconds where a link would.
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
from trailbrake.sims.forza.intake import Intake
from trailbrake.transport.pad import backend
from trailbrake.transport.udp import Udp, address

GAME_PORTS = range(5200, 5301)  # FH6 binds a socket of its own in there
_SWITCH_ON = (
    "in the game switch Data Out on (Settings, HUD and Gameplay), with the IP address of this machine and the port "
    "{port}; then drive: some titles send nothing in menus and pauses"
)
_LOOPBACK = (
    "a Microsoft Store build on this machine needs, once and as administrator: CheckNetIsolation.exe LoopbackExempt "
    "-a -n=NAME, NAME being Microsoft.ApolloBaseGame_8wekyb3d8bbwe (FM7), Microsoft.SunriseBaseGame_8wekyb3d8bbwe "
    "(FH4) or Microsoft.ForteBaseGame_8wekyb3d8bbwe (FH6); Steam builds need nothing; FM7 never sends to its own "
    "machine"
)


@dataclass(slots=True)
class Options:
    """Say why there is no data from a Forza title, and what to do.

    Attributes:
        listen: where telemetry should come in, HOST:PORT.
        pad: the pad that is to drive: auto, udp:HOST:PORT, uinput, vgamepad or none.
        seconds: how long to listen.
    """

    listen: str = f"0.0.0.0:{spec.PORT}"
    pad: str = "auto"
    seconds: float = 5.0


def examine(options: Options, now: Callable[[], float] = monotonic) -> Iterator[Finding]:
    """Yield what was found, as it is found.

    Args:
        options: where to look, and for how long.
        now: s, any steady clock.

    Raises:
        UsageError: an address or a time that is none.
    """
    if not 0.0 < options.seconds < math.inf:
        raise UsageError("no time to listen", where="--seconds", expected="above 0", got=f"{options.seconds:g}")
    host, port = address(options.listen, where="--listen")
    yield _bind_address(host)
    yield _port_number(port)
    try:
        udp = Udp((host, port), where="--listen")
    except TrailbrakeError as error:
        yield Finding(
            "port", "problem", error.what,
            f"one program at a time hears a port: stop the other, or let it forward to another port, or choose one here"
            f" and in the game (now {port})",
        )  # fmt: skip
    else:
        yield Finding("port", "ok", f"{host}:{port} is free")
        intake, senders = Intake(), set()
        try:
            until = now() + options.seconds
            while (at := now()) < until:
                udp.wait(min(0.1, until - at))
                while (got := udp.receive()) is not None:
                    senders.add(got[1][0])
                    intake.feed(got[0], now(), got[1])
        finally:
            udp.close()
        yield from _heard(intake, senders, options.seconds, port)
    yield _pad(options.pad)


def _bind_address(host: str) -> Finding:
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


def _port_number(port: int) -> Finding:
    if port in GAME_PORTS:
        return Finding(
            "port number", "problem", f"{port} lies where FH6 binds a socket of its own (5200 to 5300)",
            f"use another one here and in the game, as {spec.PORT}",
        )  # fmt: skip
    return Finding("port number", "ok", f"{port} is none that a game uses")


def _heard(intake: Intake, senders: set[str], seconds: float, port: int) -> Iterator[Finding]:
    c = intake.counters
    if not c.datagrams:
        yield Finding("packets", "problem", f"none in {seconds:g} s", _SWITCH_ON.format(port=port))
        yield Finding(
            "loopback", "unknown", "it cannot be seen from here whether Windows holds packets back", _LOOPBACK
        )
        yield Finding(
            "firewall", "unknown", "it cannot be seen from here whether a firewall holds packets back",
            f"let UDP port {port} in; to see whether that is it: trailbrake replay FILE --to THIS_MACHINE:{port}",
        )  # fmt: skip
        return
    yield Finding("packets", "ok", f"{c.datagrams} in {seconds:g} s, from {', '.join(sorted(senders))}")
    good = sum(c.formats.values())
    if c.rejected:
        lengths = (
            ", ".join(f"{n} of {size} bytes" for size, n in sorted(c.lengths.items())) or "with no numbers in them"
        )
        yield Finding(
            "lengths", "unknown" if good else "problem", f"{c.rejected} datagrams are none of Forza's: {lengths}",
            f"another program sends to this port; Forza's have {expected_lengths()} bytes",
        )  # fmt: skip
    if c.foreign:
        yield Finding(
            "senders", "problem", f"{c.foreign} packets of a second sender were left out",
            "only the first one is heard: switch Data Out off on the other machine or program",
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
            "driving", "problem", f"the game says in all {c.paused} packets that nobody drives (IsRaceOn is 0)",
            "leave the menu or the pause and drive",
        )  # fmt: skip
        return
    yield Finding(
        "driving", "ok", f"{c.received} samples, {1.0 / intake.period:.0f}/s; lost {c.lost}, late {c.late}, twice "
        f"{c.duplicates}",
    )  # fmt: skip
    dash = intake.packet.dash if intake.packet is not None else None
    if dash is not None and dash.norm_driving_line == 0 and dash.lap_no == 0 and dash.dist_traveled == 0.0:
        yield Finding(
            "driving line", "unknown", "it is 0 and no race is on: free roam has no line",
            "lane keeping needs a race or a rivals event; the line driver needs a map instead",
        )  # fmt: skip


def _pad(kind: str) -> Finding:
    try:
        made = backend(kind)
    except TrailbrakeError as error:
        return Finding("pad", "problem", str(error), "without a pad nothing can drive; recording works all the same")
    made.close()
    return Finding("pad", "ok", f"{kind}: can be made")
