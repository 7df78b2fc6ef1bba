"""Shows a live Forza wire as named fields, with the official names and units."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from time import monotonic

from trailbrake.findings import OWN_COUNTS, WireField
from trailbrake.sims.forza import spec
from trailbrake.sims.forza.blocks import block_fields
from trailbrake.sims.forza.codec import Packet
from trailbrake.sims.forza.telemetry_stream import TelemetryStream
from trailbrake.simulator_tools import SniffTool
from trailbrake.transport.udp import UdpSocket, parse_address

_GROUPS = ("sled", "gap", "dash", "extra")


@dataclass(slots=True)
class SniffOptions:
    """Show Forza's Data Out as named fields.

    Attributes:
        listen: HOST:PORT that receives telemetry.
        wait: seconds to wait for the first packet.
    """

    listen: str = f"0.0.0.0:{spec.PORT}"
    wait: float = 5.0


@contextmanager
def watch(options: SniffOptions) -> Iterator[Callable[[], list[WireField]]]:
    """Listen while the context is open; its value is a function that returns the present fields.

    Raises:
        UsageError: the address is not valid.
        SimulatorError: the port is in use.
    """
    udp, stream = UdpSocket(parse_address(options.listen, where="--listen"), where="--listen"), TelemetryStream()
    wait_s = options.wait

    def read_fields() -> list[WireField]:
        nonlocal wait_s
        udp.wait_readable(wait_s)
        wait_s = 0.0  # only the first call waits
        while (got := udp.receive()) is not None:
            stream.feed_datagram(got[0], monotonic(), got[1])
        stream.update_phase(monotonic())
        return [*_wire_fields(stream), *(_packet_fields(stream.packet) if stream.packet is not None else ())]

    try:
        yield read_fields
    finally:
        udp.close()


def _wire_fields(stream: TelemetryStream) -> Iterator[WireField]:
    yield WireField(OWN_COUNTS, "phase", stream.phase.name.lower())
    yield WireField(OWN_COUNTS, "period", f"{stream.period * 1e3:.2f}", "ms")
    for name, value in asdict(stream.counters).items():
        if isinstance(value, dict):
            value = ", ".join(f"{kind}: {count}" for kind, count in value.items())
        yield WireField(OWN_COUNTS, name, str(value))


def _packet_fields(packet: Packet) -> Iterator[WireField]:
    for group, block in zip(_GROUPS, packet[:4], strict=True):
        if block is None:
            continue
        for (_, wire), value in zip(block_fields(type(block)).items(), block, strict=True):
            yield WireField(group, wire.official, f"{value:.6g}" if isinstance(value, float) else str(value), wire.unit)


SNIFF = SniffTool(SniffOptions, watch)
