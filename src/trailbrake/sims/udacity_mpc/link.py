"""Our agent's end of the wire of Udacity's MPC build; see `exchange.link`.

Source: protocol page formula-trend, section 9.
"""

import os
from collections.abc import Callable
from typing import Any

from trailbrake.exchange.link import EventLink
from trailbrake.sims.udacity_mpc import codec, convert, spec
from trailbrake.state import CarState, Controls


class Link(EventLink[codec.Telemetry]):
    """Waits for the simulator's call and drives its car; see `exchange.link.EventLink`."""

    NAME = spec.NAME
    SUPPLIES = spec.SUPPLIES
    ACCEPTS = spec.ACCEPTS
    period = spec.STEP_S * spec.COMMAND_STEPS

    def __init__(
        self,
        options: spec.LiveOptions | None = None,
        *,
        doors: "str | os.PathLike[str] | None" = None,
        idle: Callable[[], float] | None = None,
    ) -> None:
        super().__init__(options or spec.LiveOptions(), doors=doors, idle=idle)

    def _decode(self, data: Any) -> codec.Telemetry | None:
        return codec.decode_telemetry(data)

    def _state(self, message: codec.Telemetry) -> CarState:
        return convert.state_from_wire(message)

    def _answer(self, controls: Controls, message: codec.Telemetry | None) -> dict[str, Any]:
        state = convert.state_from_wire(message) if message else CarState(x=0.0, y=0.0, yaw=0.0, speed=0.0)
        return codec.encode_steer(convert.controls_to_wire(controls, state))
