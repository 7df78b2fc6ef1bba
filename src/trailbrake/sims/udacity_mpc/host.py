"""The simulator's end of the wire of Udacity's MPC build.

Source: protocol page formula-trend, section 9. Waypoints are in the middle of the road.
"""

import math
from typing import Any

import numpy as np

from trailbrake.event_sims.host import EventHost
from trailbrake.event_sims.options import EventServeOptions
from trailbrake.roles import RoadPlant
from trailbrake.sims.udacity_mpc import codec, convert, spec
from trailbrake.simulator_tools import Doors
from trailbrake.state import CarState, Controls


class Host(EventHost[RoadPlant]):
    """Sends the agent a car's pose and the waypoints ahead, and drives it by the agent's commands; see `EventHost`."""

    NAME = spec.NAME

    def __init__(self, plant: RoadPlant, options: EventServeOptions, *, doors: Doors = None) -> None:
        super().__init__(plant, options, doors=doors)
        self._road = road = plant.track.road
        # Waypoints at equal distances round a circuit.
        self._waypoint_spacing = road.length / max(round(road.length / spec.WAYPOINT_SPACING), 1)
        self._lock = plant.cars[0].steering.max_angle
        self._road_row = -1  # of the car's last place on the road

    def _encode_telemetry(self, state: CarState) -> dict[str, Any]:
        s, _, self._road_row = self._road.locate(state.x, state.y, self._road_row)
        first = math.floor(s / self._waypoint_spacing)
        points = self._road.points((first + np.arange(spec.WAYPOINTS)) * self._waypoint_spacing)
        state.line_ahead = tuple((x, y) for x, y, _, _ in points.tolist())
        return codec.encode_telemetry(convert.state_to_wire(state, self._lock))

    def _decode_controls(self, data: Any) -> Controls:
        return convert.controls_from_wire(codec.decode_steer(data), self._plant.car_state(0).velocity_x, self._lock)
