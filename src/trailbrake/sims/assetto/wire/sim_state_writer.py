"""Commands to the simulation, by the SimState pages: pause, restart, collisions, time scale, sleep.

Source: protocol page assetto-custom-ai, sections 2.5 and 4.5.
"""

import math

from trailbrake.sims.assetto import codec
from trailbrake.sims.assetto.wire.sim_state_pages import SimStatePages
from trailbrake.state import SimCommand
from trailbrake.transport.shm import SharedMemory

_RESTART_S = 0.1  # s that a restart is requested


def change_sim_state(state: codec.SimState, command: SimCommand) -> codec.SimState:
    """Return `state` with the levels that `command` requests; a restart is an edge, which the caller makes."""
    if command.pause is not None:
        state = state._replace(pause=int(command.pause))
    if command.collisions is not None:
        state = state._replace(disable_collisions=int(not command.collisions))
    if command.time_scale is not None:
        state = state._replace(time_scale=command.time_scale)
    if command.extra_sleep is not None:  # whole milliseconds, never less than requested
        state = state._replace(extra_sleep_ms=min(max(math.ceil(command.extra_sleep * 1e3 - 1e-6), 0), 255))
    return state


class SimStateWriter:
    """Writes the SimState pages, which it creates with the first command.

    Args:
        memory: where the pages are.
        mapped: whether to map the pages, see `trailbrake.transport.shm`.

    Attributes:
        is_restarting: whether the pages request a restart.
    """

    def __init__(self, memory: SharedMemory, mapped: bool) -> None:
        self._pages = SimStatePages(memory, mapped)
        self._state = codec.SimState()
        self.is_restarting = False  # kept rather than computed: the link reads it twice a tick
        self._restart_at: float | None = None  # s; None: the next `update_restart` sets it

    @property
    def is_paused(self) -> bool:
        """Whether the pages request a pause."""
        return bool(self._state.pause)

    def apply_command(self, command: SimCommand) -> None:
        """Write what `command` requests of the simulation."""
        state = change_sim_state(self._state, command)
        if command.restart:
            state = state._replace(restart_session=1)
            self._restart_at = None
        if state != self._state:
            self._write_state(state)

    def update_restart(self, now: float) -> None:
        """End the request for a restart if it was held long enough. `now`: s."""
        if self._restart_at is None:
            self._restart_at = now
        elif now - self._restart_at >= _RESTART_S:
            self._write_state(self._state._replace(restart_session=0))

    def reset_requests(self) -> None:
        """Let the session run at its own pace."""
        if self._pages.is_open:
            self._write_state(codec.SimState())

    def close(self) -> None:
        """Close the pages, and remove those that did not exist before."""
        self._pages.close()

    def _write_state(self, state: codec.SimState) -> None:
        self._state, self.is_restarting = state, bool(state.restart_session)
        self._pages.write_state(state)
