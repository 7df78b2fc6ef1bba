"""Shows a live Forza wire as named fields, with the official names and units."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from time import monotonic

from trailbrake.findings import Field
from trailbrake.sims.forza import spec
from trailbrake.sims.forza.blocks import fields
from trailbrake.sims.forza.codec import Packet
from trailbrake.sims.forza.intake import Intake
from trailbrake.transport.udp import Udp, address

_GROUPS = ("sled", "gap", "dash", "extra")


@dataclass(slots=True)
class Options:
    """Show Forza's Data Out as named fields.

    Attributes:
        listen: where telemetry comes in, HOST:PORT.
        wait: seconds to wait for the first packet.
    """

    listen: str = f"0.0.0.0:{spec.PORT}"
    wait: float = 5.0


@contextmanager
def watch(options: Options) -> Iterator[Callable[[], list[Field]]]:
    """Listen; the value is what returns the fields of now.

    Raises:
        UsageError: no address. SimulatorError: the port is taken.
    """
    udp, intake = Udp(address(options.listen, where="--listen"), where="--listen"), Intake()
    patience = options.wait

    def look() -> list[Field]:
        nonlocal patience
        udp.wait(patience)
        patience = 0.0  # from now on whoever looks again has let time pass himself
        while (got := udp.receive()) is not None:
            intake.feed(got[0], monotonic(), got[1])
        intake.look(monotonic())
        return [*_wire(intake), *(_of_packet(intake.packet) if intake.packet is not None else ())]

    try:
        yield look
    finally:
        udp.close()


def _wire(intake: Intake) -> Iterator[Field]:
    yield Field("wire", "phase", intake.phase.name.lower())
    yield Field("wire", "period", f"{intake.period * 1e3:.2f}", "ms")
    for name, value in asdict(intake.counters).items():
        yield Field("wire", name, str(value))


def _of_packet(packet: Packet) -> Iterator[Field]:
    for group, block in zip(_GROUPS, packet[:4], strict=True):
        if block is None:
            continue
        for (_, wire), value in zip(fields(type(block)).items(), block, strict=True):
            yield Field(group, wire.official, f"{value:.6g}" if isinstance(value, float) else str(value), wire.unit)
