"""The agent's end of the wire of Udacity's PID build.

Source: protocol page formula-trend, section 9.
"""

from typing import Any

from trailbrake.event_sims.link import EventLink
from trailbrake.event_sims.one_pedal import UNITY_CAR
from trailbrake.event_sims.options import check_half_width
from trailbrake.sims.udacity_pid import codec, convert, spec
from trailbrake.simulator_tools import Doors, Idle
from trailbrake.state import CarState, Controls
from trailbrake.units import MPH


class Link(EventLink[codec.UdacityPidTelemetry]):
    """Waits for the simulator's call and drives its car; see `event_sims.link.EventLink`.

    Raises:
        UsageError: the road of the options has no width.
    """

    NAME = spec.NAME
    SUPPLIES = spec.SUPPLIES
    ACCEPTS = spec.ACCEPTS
    PEDAL_CAR = UNITY_CAR
    RESTART = codec.RESET

    def __init__(self, options: spec.LiveOptions, *, doors: Doors = None, idle: Idle | None = None) -> None:
        check_half_width(options.half_width)
        self._half_width = options.half_width
        super().__init__(options, doors=doors, idle=idle)

    def _decode_telemetry(self, data: Any) -> codec.UdacityPidTelemetry | None:
        return codec.decode_telemetry(data)

    def _build_state(self, message: codec.UdacityPidTelemetry) -> CarState:
        return convert.state_from_wire(message, self._half_width)

    def _encode_steer(self, controls: Controls, message: codec.UdacityPidTelemetry | None) -> dict[str, Any]:
        pedal = self._combine_pedals(controls, message.speed * MPH if message else 0.0)
        return codec.encode_steer(convert.controls_to_wire(controls, pedal=pedal))
