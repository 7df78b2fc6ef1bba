"""The simulator's end of the wire of Udacity's MPC build; see `exchange.host`.

Source: protocol page formula-trend, section 9. Waypoints lie in the middle of the road.
"""

import math
import os
from typing import Any

import numpy as np

from trailbrake.exchange.host import EventHost
from trailbrake.roles import Plant
from trailbrake.sims.udacity_mpc import codec, convert, spec
from trailbrake.state import CarState, Controls


class Host(EventHost):
    """Shows the agent one car of `plant` and drives it by the agent's commands; see `exchange.host.EventHost`."""

    NAME = spec.NAME

    def __init__(
        self,
        plant: Plant,
        options: spec.ServeOptions | None = None,
        *,
        doors: "str | os.PathLike[str] | None" = None,
    ) -> None:
        super().__init__(plant, options or spec.ServeOptions(), doors=doors)
        self._road = road = plant.track.road
        self._gap = road.length / max(round(road.length / spec.WAYPOINT_GAP), 1)  # evenly round a circuit
        self._lock = plant.cars[0].steering.max_angle
        self._row = -1  # of the road, where the car was

    def _telemetry(self, state: CarState) -> dict[str, Any]:
        s, _, self._row = self._road.locate(state.x, state.y, self._row)
        first = math.floor(s / self._gap)
        points = self._road.points((first + np.arange(spec.WAYPOINTS)) * self._gap)
        state.line_ahead = tuple((x, y) for x, y, _, _ in points.tolist())
        return codec.encode_telemetry(convert.state_to_wire(state, self._lock))

    def _controls_of(self, data: Any) -> Controls:
        return convert.controls_from_wire(codec.decode_steer(data), self._plant.state(0).velocity_x, self._lock)
