"""The simulator's end of the wire of Udacity's PID build; see `exchange.host`.

Source: protocol page formula-trend, section 9. `cte` is measured from the middle of the road.
"""

import os
from typing import Any

from trailbrake.exchange.host import EventHost
from trailbrake.roles import Plant
from trailbrake.sims.udacity_pid import codec, convert, spec
from trailbrake.state import CarState, Controls


class Host(EventHost):
    """Shows the agent one car of `plant` and drives it by the agent's commands; see `exchange.host.EventHost`."""

    NAME = spec.NAME
    RESTART = codec.RESET

    def __init__(
        self,
        plant: Plant,
        options: spec.ServeOptions | None = None,
        *,
        doors: "str | os.PathLike[str] | None" = None,
    ) -> None:
        options = options or spec.ServeOptions()
        super().__init__(plant, options, doors=doors)
        self._lock = plant.cars[0].steering.max_angle
        self._browser = options.dialect == "bare"
        self._row = -1  # of the road, where the car was

    def _telemetry(self, state: CarState) -> dict[str, Any]:
        _, offset, self._row = self._plant.track.road.locate(state.x, state.y, self._row)
        return codec.encode_telemetry(convert.state_to_wire(state, offset, self._lock), browser=self._browser)

    def _controls_of(self, data: Any) -> Controls:
        message = codec.decode_steer(data)
        if self._browser:
            message = message._replace(steering_angle=message.steering_angle + spec.BIAS)
        return convert.controls_from_wire(message, self._plant.state(0).velocity_x, self._lock)
