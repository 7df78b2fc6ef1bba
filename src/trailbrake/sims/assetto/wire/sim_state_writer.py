"""Commands to the simulation, by the SimState pages: pause, restart, collisions, time scale, sleep.

Source: protocol page assetto-custom-ai, sections 2.5 and 4.5.

The client's end of SimState: both versions of the page, with the same content.

Source: protocol page assetto-custom-ai, section 2.5. Patches before 0.2.8 read v0, which has no time scale; newer ones
read v1. No source names the one that wins where both exist, so they are always alike.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from trailbrake.sims.assetto import codec, spec
from trailbrake.state import SimCommand
from trailbrake.transport.shm import LockState, SharedMemory, SharedPage

_RESTART_S = 0.1  # s that a restart is requested
_MAX_CARS = 64  # whose locks are looked at for other drives


class SimStatePages:
    """The two pages, created by the first `write_fields`: a v1 page of zeros would request a time scale of 0.

    Args:
        memory: where the pages are.
        mapped: whether to map the pages, see `trailbrake.transport.shm`.
    """

    def __init__(self, memory: SharedMemory, mapped: bool = False) -> None:
        self._memory, self._mapped = memory, mapped
        self._pages: list[SharedPage] = []

    @property
    def is_open(self) -> bool:
        """Whether the pages are ours to write."""
        return bool(self._pages)

    def read_state(self) -> codec.SimState:
        """Return what the existing pages request, v1 first; nothing where there are none."""
        for name, size, decode in (
            (spec.SIM_STATE_V1, codec.SIM_V1_SIZE, codec.decode_sim_v1),
            (spec.SIM_STATE_V0, codec.SIM_V0_SIZE, codec.decode_sim_v0),
        ):
            page = self._memory.open_page(name, size)
            if page is None:
                continue
            data = page.read(size)
            page.close()
            if len(data) == size:
                state = decode(data)
                return state if state.time_scale > 0.0 else state._replace(time_scale=codec.SimState().time_scale)
        return codec.SimState()

    def write_fields(self, fields: Mapping[str, Any]) -> codec.SimState:
        """Write the named fields into both pages, and nothing else; return what the pages request then.

        The first call opens the pages, and creates those that do not exist, alike; so does one that finds them removed.
        """
        if not all(page.is_current() for page in self._pages):
            self.close()
        if not self._pages:
            state = self.read_state()
            self._pages = [
                self._memory.create_page(name, mapped=self._mapped) for name in (spec.SIM_STATE_V0, spec.SIM_STATE_V1)
            ]
            fields = state._replace(**fields)._asdict()
        state = self.read_state()._replace(**fields)
        old, new = self._pages
        for page, data in ((new, codec.encode_sim_v1(state)), (old, codec.encode_sim_v0(state))):
            for name, (offset, size) in codec.SIM_FIELDS.items():
                if name in fields and offset < len(data):
                    page.write(data[offset : offset + size], offset)
        return self.read_state()

    def close(self, *, remove: bool | None = None) -> None:
        """Close the pages, and remove them; `remove` None removes those that are ours and request nothing."""
        requests_nothing = remove is None and self.read_state() == codec.SimState()
        for page in self._pages:
            page.close(remove=page.created and requests_nothing if remove is None else remove)
        self._pages = []


def requested_fields(command: SimCommand) -> dict[str, float]:
    """Return the fields of SimState that `command` sets; a restart is an edge, which the caller makes."""
    fields: dict[str, float] = {}
    if command.pause is not None:
        fields["pause"] = int(command.pause)
    if command.collisions is not None:
        fields["disable_collisions"] = int(not command.collisions)
    if command.time_scale is not None:
        fields["time_scale"] = command.time_scale
    if command.extra_sleep is not None:  # whole milliseconds, never less than requested
        fields["extra_sleep_ms"] = min(max(math.ceil(command.extra_sleep * 1e3 - 1e-6), 0), 255)
    return fields


class _WrittenField(NamedTuple):
    """A field of SimState that this drive has changed.

    Attributes:
        before: what stood there.
        value: what this drive wrote last, as it reads back.
        is_shared: whether another trailbrake drove a car then: `before` may be a request of that drive.
    """

    before: float
    value: float
    is_shared: bool


class SimStateWriter:
    """Writes the SimState pages field by field: other programs request by them, too. The first command opens them.

    Args:
        memory: where the pages are.
        index: number of this drive's car.
        mapped: whether to map the pages, see `trailbrake.transport.shm`.

    Attributes:
        is_restarting: whether this drive requests a restart.
    """

    def __init__(self, memory: SharedMemory, index: int, mapped: bool) -> None:
        self._memory, self._index = memory, index
        self._pages = SimStatePages(memory, mapped)
        self._written: dict[str, _WrittenField] = {}
        self.is_restarting = False  # kept rather than computed: the link reads it twice a tick
        self._restart_at: float | None = None  # s; None: the next `update_restart` sets it

    @property
    def is_paused(self) -> bool:
        """Whether this drive requests a pause."""
        return "pause" in self._written and self._written["pause"].value == 1

    def read_state(self) -> codec.SimState:
        """Return what the pages request, by whichever program."""
        return self._pages.read_state()

    def find_foreign_step_time(self, period: float) -> float:
        """Return s that a step of `period` s takes as other programs request it; 0 if the pace is this drive's."""
        state = self.read_state()
        mine = all(self._holds_own_value(state, name) for name in ("time_scale", "extra_sleep_ms"))
        return 0.0 if mine else period / state.time_scale + state.extra_sleep_ms * 1e-3

    def apply_command(self, command: SimCommand) -> None:
        """Write what `command` requests of the simulation."""
        fields = requested_fields(command)
        if command.restart:
            fields["restart_session"], self.is_restarting, self._restart_at = 1, True, None
        self._write_fields(fields)

    def update_restart(self, now: float) -> None:
        """End the request for a restart if it was held long enough. `now`: s."""
        if self._restart_at is None:
            self._restart_at = now
        elif now - self._restart_at >= _RESTART_S:
            self._write_fields({"restart_session": 0})
            self.is_restarting = False

    def reset_requests(self) -> None:
        """Take this drive's requests back: fields that still hold what it wrote get the value from before it."""
        if not self._written:
            return
        state, idle, alone = self.read_state(), codec.SimState(), not self._others_drive()
        fields = {
            name: getattr(idle, name) if written.is_shared and alone else written.before
            for name, written in self._written.items() if getattr(state, name) == written.value
        }  # fmt: skip
        self._pages.write_fields(fields)
        self._written, self.is_restarting = {}, False

    def close(self) -> None:
        """Close the pages, and remove those that this drive created, unless another program requests something."""
        self._pages.close()

    def _holds_own_value(self, state: codec.SimState, name: str) -> bool:
        value = self._written[name].value if name in self._written else getattr(codec.SimState(), name)
        return bool(getattr(state, name) == value)

    def _others_drive(self) -> bool:
        locks = (spec.controls_name(index) for index in range(_MAX_CARS) if index != self._index)
        return any(self._memory.read_lock_state(lock) is LockState.HELD for lock in locks)

    def _write_fields(self, fields: dict[str, float]) -> None:
        before = self.read_state()
        fields = {name: value for name, value in fields.items() if getattr(before, name) != value}
        if not fields:
            return
        after = self._pages.write_fields(fields)
        for name in fields:
            written = self._written.get(name) or _WrittenField(getattr(before, name), 0.0, self._others_drive())
            self._written[name] = written._replace(value=getattr(after, name))
