"""The agent's end of the wire of Udacity's MPC build.

Source: protocol page formula-trend, section 9.
"""

import math
from typing import Any

from trailbrake.event_sims.link import EventLink
from trailbrake.event_sims.one_pedal import UNITY_CAR
from trailbrake.sims.udacity_mpc import codec, convert, spec
from trailbrake.state import CarState, Controls

SHORTEST_WAY, LONGEST_WAY = 0.005, 5.0  # m between two commands that show which way a car rolls


class Link(EventLink[codec.UdacityMpcTelemetry]):
    """Waits for the simulator's call and drives its car; see `event_sims.link.EventLink`."""

    NAME = spec.NAME
    SUPPLIES = spec.SUPPLIES
    ACCEPTS = spec.ACCEPTS
    PEDAL_CAR = UNITY_CAR
    _place = (math.nan, math.nan)  # x, y (m) at the last command

    def _decode_telemetry(self, data: Any) -> codec.UdacityMpcTelemetry | None:
        return codec.decode_telemetry(data)

    def _build_state(self, message: codec.UdacityMpcTelemetry) -> CarState:
        return convert.state_from_wire(message)

    def _encode_steer(self, controls: Controls, message: codec.UdacityMpcTelemetry | None) -> dict[str, Any]:
        state = convert.state_from_wire(message) if message else CarState(x=0.0, y=0.0, yaw=0.0, speed=0.0)
        self._note_motion(state)
        pedal = self._combine_pedals(controls, state.speed)
        return codec.encode_steer(convert.controls_to_wire(controls, state, pedal=pedal))

    def _note_motion(self, state: CarState) -> None:
        """Find out from place and heading which way the car has rolled since the last command."""
        x, y = self._place
        self._place = state.x, state.y
        forward = (state.x - x) * math.cos(state.yaw) + (state.y - y) * math.sin(state.yaw)
        if SHORTEST_WAY < abs(forward) < LONGEST_WAY:
            self._pedal.direction.note_motion(math.copysign(state.speed, forward))
