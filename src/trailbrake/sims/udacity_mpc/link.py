"""The agent's end of the wire of Udacity's MPC build.

Source: protocol page formula-trend, section 9.
"""

from typing import Any

from trailbrake.event_sims.link import EventLink
from trailbrake.sims.udacity_mpc import codec, convert, spec
from trailbrake.state import CarState, Controls


class Link(EventLink[codec.UdacityMpcTelemetry]):
    """Waits for the simulator's call and drives its car; see `event_sims.link.EventLink`."""

    NAME = spec.NAME
    SUPPLIES = spec.SUPPLIES
    ACCEPTS = spec.ACCEPTS

    def _decode_telemetry(self, data: Any) -> codec.UdacityMpcTelemetry | None:
        return codec.decode_telemetry(data)

    def _build_state(self, message: codec.UdacityMpcTelemetry) -> CarState:
        return convert.state_from_wire(message)

    def _encode_steer(self, controls: Controls, message: codec.UdacityMpcTelemetry | None) -> dict[str, Any]:
        state = convert.state_from_wire(message) if message else CarState(x=0.0, y=0.0, yaw=0.0, speed=0.0)
        self._roll.note_controls(controls, state.speed)
        steer = convert.controls_to_wire(controls, state, rolls_forward=self._roll.is_forward)
        return codec.encode_steer(steer)
