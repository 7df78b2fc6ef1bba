"""The simulator's end of the Formula Trend wire: calls the agent, shows it the camera, obeys its commands.

Source: protocol page formula-trend, sections 1.2 and 2. What it shares with Udacity's simulators is in `exchange`.
"""

import os
from typing import Any

from trailbrake.errors import SimulatorError
from trailbrake.exchange.host import EventHost
from trailbrake.roles import Plant
from trailbrake.sims.trend import codec, convert, spec
from trailbrake.state import CarState, Controls
from trailbrake.transport import picture


class Host(EventHost):
    """Shows the agent one car of `plant` and drives it by the agent's commands; see `exchange.host.EventHost`.

    The plant's states carry the camera's image.
    """

    NAME = spec.NAME
    RESTART = codec.RESTART

    def __init__(
        self,
        plant: Plant,
        options: spec.ServeOptions | None = None,
        *,
        doors: "str | os.PathLike[str] | None" = None,
    ) -> None:
        super().__init__(plant, options or spec.ServeOptions(), doors=doors)

    def _telemetry(self, state: CarState) -> dict[str, Any]:
        if state.image is None:
            raise SimulatorError("the world has no camera", where="serve trend")
        jpeg = picture.encode(state.image.pixels)
        return codec.encode_telemetry(convert.state_to_wire(state, jpeg, finished=self.is_done))

    def _controls_of(self, data: Any) -> Controls:
        return convert.controls_from_wire(codec.decode_steer(data), self._plant.state(0).velocity_x)
