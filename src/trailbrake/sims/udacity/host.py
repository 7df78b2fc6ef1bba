"""The simulator's end of the wire of Udacity's first term.

Source: protocol page formula-trend, section 9.
"""

from typing import Any

from trailbrake.event_sims.host import EventHost
from trailbrake.roles import RoadPlant
from trailbrake.sims.udacity import codec, convert, spec
from trailbrake.state import CarState, Controls
from trailbrake.transport.image_codec import encode_camera


class Host(EventHost[RoadPlant]):
    """Sends the agent the camera of `plant` and drives its car by the agent's commands; see `EventHost`."""

    NAME = spec.NAME

    @property
    def _lock(self) -> float:
        return self._plant.cars[0].steering.max_angle

    def _encode_telemetry(self, state: CarState) -> dict[str, Any]:
        jpeg = encode_camera(state.image, self.NAME)
        return codec.encode_telemetry(convert.state_to_wire(state, jpeg, self._lock))

    def _decode_controls(self, data: Any) -> Controls:
        return convert.controls_from_wire(codec.decode_steer(data), self._plant.car_state(0).velocity_x, self._lock)
