"""The agent's end of the wire of Udacity's first term.

Source: protocol page formula-trend, section 9.
"""

from typing import Any

from trailbrake.event_sims.agent_door import STEER
from trailbrake.event_sims.link import EventLink
from trailbrake.event_sims.one_pedal import UNITY_CAR
from trailbrake.sims.udacity import codec, convert, spec
from trailbrake.state import CarState, Controls
from trailbrake.units import MPH


class Link(EventLink[codec.UdacityTelemetry]):
    """Waits for the simulator's call and drives its car; see `event_sims.link.EventLink`."""

    NAME = spec.NAME
    SUPPLIES = spec.SUPPLIES
    ACCEPTS = spec.ACCEPTS
    PEDAL_CAR = UNITY_CAR
    GREETING = ((STEER, codec.encode_steer(codec.UdacitySteer(0.0, 0.0))),)  # as the public agents do it
    IMAGE_SIZE = spec.IMAGE_SIZE

    def _decode_telemetry(self, data: Any) -> codec.UdacityTelemetry | None:
        return codec.decode_telemetry(data)

    def _build_state(self, message: codec.UdacityTelemetry) -> CarState:
        return convert.state_from_wire(message, self._make_image(message.image))

    def _encode_steer(self, controls: Controls, message: codec.UdacityTelemetry | None) -> dict[str, Any]:
        pedal = self._combine_pedals(controls, message.speed * MPH if message else 0.0)
        return codec.encode_steer(convert.controls_to_wire(controls, pedal=pedal))
