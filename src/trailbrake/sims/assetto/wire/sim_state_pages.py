"""The client's end of SimState: both versions of the page, with the same content.

Source: protocol page assetto-custom-ai, section 2.5. Patches before 0.2.8 read v0, which has no time scale; newer ones
read v1. No source names the one that wins where both exist, so they are always alike.
"""

from collections.abc import Mapping
from typing import Any

from trailbrake.sims.assetto import codec, spec
from trailbrake.transport.shm import SharedMemory, SharedPage


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
