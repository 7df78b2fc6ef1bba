"""The simulator's end of the Formula Trend wire.

Source: protocol page formula-trend, sections 1.2 and 2.
"""

from typing import Any

from trailbrake.event_sims.host import EventHost
from trailbrake.roles import Plant
from trailbrake.sims.trend import codec, convert, spec
from trailbrake.state import CarState, Controls
from trailbrake.transport.image_codec import encode_camera


class Host(EventHost[Plant]):
    """Sends the agent the camera of `plant` and drives its car by the agent's commands; see `EventHost`."""

    NAME = spec.NAME
    RESTART = codec.RESTART

    def _encode_telemetry(self, state: CarState) -> dict[str, Any]:
        jpeg = encode_camera(state.image, self.NAME)
        return codec.encode_telemetry(convert.state_to_wire(state, jpeg, finished=self.is_done))

    def _decode_controls(self, data: Any) -> Controls:
        return convert.controls_from_wire(codec.decode_steer(data), self._plant.car_state(0).velocity_x)
