"""The simulator's end of the wire of Udacity's first term; see `exchange.host`.

Source: protocol page formula-trend, section 9.
"""

import os
from typing import Any

from trailbrake.errors import SimulatorError
from trailbrake.exchange.host import EventHost
from trailbrake.roles import Plant
from trailbrake.sims.udacity import codec, convert, spec
from trailbrake.state import CarState, Controls
from trailbrake.transport import picture


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
        self._lock = plant.cars[0].steering.max_angle

    def _telemetry(self, state: CarState) -> dict[str, Any]:
        if state.image is None:
            raise SimulatorError("the world has no camera", where="serve udacity")
        jpeg = picture.encode(state.image.pixels)
        return codec.encode_telemetry(convert.state_to_wire(state, jpeg, self._lock))

    def _controls_of(self, data: Any) -> Controls:
        return convert.controls_from_wire(codec.decode_steer(data), self._plant.state(0).velocity_x, self._lock)
