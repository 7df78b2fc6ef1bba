"""The simulator's end of the wire of Udacity's first term.

Source: protocol page formula-trend, section 9.
"""

from typing import Any

from trailbrake.errors import SimulatorError
from trailbrake.event_sims.host import EventHost
from trailbrake.event_sims.options import EventServeOptions
from trailbrake.roles import RoadPlant
from trailbrake.sims.udacity import codec, convert, spec
from trailbrake.simulator_tools import Doors
from trailbrake.state import CarState, Controls
from trailbrake.transport import image_codec


class Host(EventHost[RoadPlant]):
    """Sends the agent the camera of `plant` and drives its car by the agent's commands; see `EventHost`."""

    NAME = spec.NAME

    def __init__(self, plant: RoadPlant, options: EventServeOptions, *, doors: Doors = None) -> None:
        super().__init__(plant, options, doors=doors)
        self._lock = plant.cars[0].steering.max_angle

    def _encode_telemetry(self, state: CarState) -> dict[str, Any]:
        if state.image is None:
            raise SimulatorError("the world has no camera", where="serve udacity")
        jpeg = image_codec.encode_image(state.image.pixels)
        return codec.encode_telemetry(convert.state_to_wire(state, jpeg, self._lock))

    def _decode_controls(self, data: Any) -> Controls:
        return convert.controls_from_wire(codec.decode_steer(data), self._plant.car_state(0).velocity_x, self._lock)
