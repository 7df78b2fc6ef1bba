"""The simulator's end of the wire of Udacity's PID build.

Source: protocol page formula-trend, section 9. `cte` is measured from the middle of the road.
"""

from typing import Any

from trailbrake.event_sims.host import EventHost
from trailbrake.event_sims.options import EventServeOptions
from trailbrake.roles import RoadPlant
from trailbrake.sims.udacity_pid import codec, convert, spec
from trailbrake.simulator_tools import Doors
from trailbrake.state import CarState, Controls


class Host(EventHost[RoadPlant]):
    """Sends the agent the place of a car across the road and drives it by the agent's commands; see `EventHost`."""

    NAME = spec.NAME
    RESTART = codec.RESET

    def __init__(self, plant: RoadPlant, options: EventServeOptions, *, doors: Doors = None) -> None:
        super().__init__(plant, options, doors=doors)
        self._road = plant.track.road
        self._lock = plant.cars[0].steering.max_angle
        self._is_browser_build = options.dialect == "bare"
        self._road_row = -1  # of the car's last place on the road

    def _encode_telemetry(self, state: CarState) -> dict[str, Any]:
        _, offset, self._road_row = self._road.locate(state.x, state.y, self._road_row)
        return codec.encode_telemetry(convert.state_to_wire(state, offset, self._lock), browser=self._is_browser_build)

    def _decode_controls(self, data: Any) -> Controls:
        message = codec.decode_steer(data)
        if self._is_browser_build:
            message = message._replace(steering_angle=message.steering_angle + spec.BROWSER_STEER_BIAS)
        return convert.controls_from_wire(message, self._plant.car_state(0).velocity_x, self._lock)
