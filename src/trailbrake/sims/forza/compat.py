"""`return_vals`: a generator with the signature and values of the one that existing drivers use.

Source: protocol page forza-data-out, section 4.3. One difference: by default it yields the newest packet. The original
yields the oldest waiting packet, so that a slow consumer lags by a whole socket buffer.
"""

import time
from collections.abc import Iterator
from pathlib import Path

from trailbrake.sims.forza import recorder_settings
from trailbrake.sims.forza.recorder_settings import RecorderSettings
from trailbrake.sims.forza.spec import AUTO
from trailbrake.sims.forza.tables import DEFAULT_COLUMNS, TableCell, make_row_builder
from trailbrake.sims.forza.telemetry_stream import TelemetryStream
from trailbrake.transport.udp import UdpSocket

EXAMPLE = "forza_motorsport/example_configuration.yaml"
_POLL_S = 0.25  # longest wait, so that Ctrl-C is handled


def return_vals(
    port: int, packet_format: str = "dash", config_file: str | Path | None = EXAMPLE, *, latest: bool = True
) -> Iterator[list[TableCell]]:
    """Yield the values of the YAML file's parameter_list for each packet of a driven car, without end.

    Args:
        port: UDP port to listen on, on all interfaces; the YAML file's port takes precedence.
        packet_format: its fields are the values if the YAML file has no list. Packets are decoded by their length.
        config_file: the YAML file; None = no file.
        latest: yield only the newest waiting packet; else every packet.

    Raises:
        UsageError: the file cannot be read, or a value in it is wrong.
        SimulatorError: the port is in use.
    """
    chosen = RecorderSettings(port=port, packet_format=packet_format)
    chosen = (
        recorder_settings.check_settings(chosen)
        if config_file is None
        else recorder_settings.load_settings(config_file, chosen)
    )
    keys = chosen.parameter_list or DEFAULT_COLUMNS["dash" if chosen.expected == AUTO else chosen.expected]
    row, stream = make_row_builder(keys), TelemetryStream()
    udp = UdpSocket(("0.0.0.0", chosen.port or 0), where=f"port {chosen.port}")
    try:
        while True:
            newest: list[TableCell] | None = None
            udp.wait_readable(_POLL_S)
            while (received := udp.receive()) is not None:
                data, sender = received
                if stream.feed_datagram(data, time.monotonic(), sender) and stream.packet is not None:
                    newest = row(stream.packet, time.time_ns(), len(data))
                    if not latest:
                        yield newest
            if latest and newest is not None:
                yield newest
    finally:
        udp.close()
