"""Our agent's end of the wire of Udacity's first term; see `exchange.link`.

Source: protocol page formula-trend, section 9.
"""

import os
from collections.abc import Callable
from typing import Any

from trailbrake.exchange.link import STEER, EventLink
from trailbrake.sims.udacity import codec, convert, spec
from trailbrake.state import CarState, Controls, Image
from trailbrake.transport.picture import Pictures
from trailbrake.units import MPH


class Link(EventLink[codec.Telemetry]):
    """Waits for the simulator's call and drives its car; see `exchange.link.EventLink`."""

    NAME = spec.NAME
    SUPPLIES = spec.SUPPLIES
    ACCEPTS = spec.ACCEPTS
    GREETING = ((STEER, codec.encode_steer(codec.Steer(0.0, 0.0))),)  # as the public agents do it
    period = spec.STEP_S * spec.COMMAND_STEPS

    def __init__(
        self,
        options: spec.LiveOptions | None = None,
        *,
        doors: "str | os.PathLike[str] | None" = None,
        idle: Callable[[], float] | None = None,
    ) -> None:
        super().__init__(options or spec.LiveOptions(), doors=doors, idle=idle)
        self._pictures = Pictures(spec.HEIGHT, spec.WIDTH, self._spoilt)

    def _spoilt(self) -> None:
        self.unreadable += 1

    def _decode(self, data: Any) -> codec.Telemetry | None:
        return codec.decode_telemetry(data)

    def _state(self, message: codec.Telemetry) -> CarState:
        return convert.state_from_wire(message, Image(message.image, self._pictures.decode))

    def _answer(self, controls: Controls, message: codec.Telemetry | None) -> dict[str, Any]:
        speed = message.speed * MPH if message else 0.0
        return codec.encode_steer(convert.controls_to_wire(controls, speed))
