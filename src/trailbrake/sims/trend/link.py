"""The agent's end of the Formula Trend wire.

Source: protocol page formula-trend, sections 1 and 2.
"""

from typing import Any

from trailbrake.event_sims.agent_door import STEER
from trailbrake.event_sims.link import EventLink
from trailbrake.sims.trend import codec, convert, spec
from trailbrake.state import CarState, Controls


class Link(EventLink[codec.TrendTelemetry]):
    """Waits for the simulator's call and drives its car; see `event_sims.link.EventLink`."""

    NAME = spec.NAME
    SUPPLIES = spec.SUPPLIES
    ACCEPTS = spec.ACCEPTS
    RESTART = codec.RESTART
    GREETING = ((codec.RESTART, {}), (STEER, codec.encode_steer(codec.TrendSteer(0.0, 0.0))))
    PEDAL_CAR = convert.PEDAL_CAR
    IMAGE_SIZE = spec.IMAGE_SIZE

    def _decode_telemetry(self, data: Any) -> codec.TrendTelemetry | None:
        return codec.decode_telemetry(data)

    def _build_state(self, message: codec.TrendTelemetry) -> CarState:
        return convert.state_from_wire(message, self._make_image(message.image))

    def _encode_steer(self, controls: Controls, message: codec.TrendTelemetry | None) -> dict[str, Any]:
        pedal = self._combine_pedals(controls, message.speed if message else 0.0)
        return codec.encode_steer(convert.controls_to_wire(controls, pedal=pedal))
