"""`return_vals`: the generator that the first drivers were written against, with the same signature and values.

Source: protocol page forza-data-out, section 4.3. One thing is better: by default it hands out the newest packet, where
the original handed out the oldest that waited, so that a slow consumer fell behind by a whole socket buffer.
"""

import time
from collections.abc import Iterator
from pathlib import Path

from trailbrake.sims.forza import settings
from trailbrake.sims.forza.columns import DEFAULTS, Cell, row_maker
from trailbrake.sims.forza.intake import Intake
from trailbrake.sims.forza.settings import Settings
from trailbrake.sims.forza.spec import AUTO
from trailbrake.transport.udp import Udp

EXAMPLE = "forza_motorsport/example_configuration.yaml"
_LOOK_S = 0.25  # how long one wait lasts: Ctrl-C is heard between two


def return_vals(
    port: int, packet_format: str = "dash", config_file: str | Path | None = EXAMPLE, *, latest: bool = True
) -> Iterator[list[Cell]]:
    """Yield the values of the YAML's parameter_list for each packet of a driven car; waits for ever for the next.

    Args:
        port: UDP port to listen on, on all interfaces; one in the YAML file goes before it.
        packet_format: what is expected, for the list of columns where the YAML has none. Packets are decoded by length.
        config_file: the YAML file; None: none.
        latest: hand out the newest packet that waits, and drop the older ones; else every one.

    Raises:
        UsageError: the file is not there or wrong.
        SimulatorError: the port is taken.
    """
    wanted = Settings(port=port, packet_format=packet_format)
    wanted = settings.check(wanted) if config_file is None else settings.load(config_file, wanted)
    keys = wanted.parameter_list or DEFAULTS["dash" if wanted.expected == AUTO else wanted.expected]
    row, intake = row_maker(keys), Intake()
    udp = Udp(("0.0.0.0", wanted.port or 0), where=f"port {wanted.port}")
    try:
        while True:
            newest: list[Cell] | None = None
            udp.wait(_LOOK_S)
            while (got := udp.receive()) is not None:
                data, sender = got
                if intake.feed(data, time.monotonic(), sender) and intake.packet is not None:
                    newest = row(intake.packet, time.time_ns(), len(data))
                    if not latest:
                        yield newest
            if latest and newest is not None:
                yield newest
    finally:
        udp.close()
