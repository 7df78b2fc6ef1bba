"""Sampling a car: its CarData page, read whole, with lost and torn samples, restarts and silence.

Source: protocol page assetto-custom-ai, sections 2.3 and 4.1. A page has no lock, and a dead game's page remains
readable. A sample is new when its packet_id differs from the last one.
"""

from trailbrake.errors import WireError
from trailbrake.roles import LONGEST_LOSS_S, LinkCounters
from trailbrake.sims.assetto import codec, convert, spec
from trailbrake.state import CarState
from trailbrake.transport.shm import SharedMemory, SharedPage

_RETRIES = 3  # after a torn read
LONGEST_LOSS = LONGEST_LOSS_S * spec.RATE_HZ  # samples; a longer gap is a changed clock


class CarSampler:
    """Reads the samples of one car.

    Args:
        memory: where the pages are.
        index: number of the car.
        mapped: whether to map the page, see `trailbrake.transport.shm`.
        counters: of the link; the sampler counts samples, losses, torn reads, restarts and silences.

    Attributes:
        packet_id: of the newest sample.
        sample: the newest sample; None until packet_id has been seen to advance.
        data: the page of `sample`; b"" before it.
        advanced: whether the last `read_state` found a new sample.
        is_stale: whether packet_id has stood still for longer than `spec.STALE_S`.
    """

    def __init__(self, memory: SharedMemory, index: int, mapped: bool, counters: LinkCounters) -> None:
        self.packet_id = 0
        self.sample: codec.CarDataSubset | None = None
        self.advanced = self.is_stale = False
        self._memory, self._mapped, self._counters = memory, mapped, counters
        self._name = spec.car_name(index)
        self._page: SharedPage | None = None
        self._polled = b""  # the page as `has_new_sample` read it last
        self.data = b""
        self._advanced_at: float | None = None  # s; None: the next read sets it
        self._was_stale = False

    @property
    def is_published(self) -> bool:
        """Whether the car's page has been found."""
        return self._page is not None

    @property
    def gear(self) -> int | None:
        """The gear of the newest sample (-1, 0, 1, ...); None before the first sample."""
        return None if self.sample is None else self.sample[codec.SUBSET_GEAR] - convert.NEUTRAL

    def reset_silence(self, now: float | None) -> None:
        """Measure the age of the newest sample from `now` (s), or from the next read (None)."""
        self._advanced_at = now

    def has_new_sample(self) -> bool:
        """Return whether packet_id has moved since the last `read_state`. Keeps the copy of the page for that."""
        page = self._attached_page()
        if page is None:
            return False
        # Reading the whole page takes as long as reading its first bytes, and saves one of two reads in `_copy_page`.
        self._polled = page.read(codec.CAR_SIZE)
        return self._is_new(codec.decode_packet_id(self._polled))

    def read_state(self, now: float) -> CarState:
        """Return the newest sample as a state, with its `age` at `now` (s); an empty state before the first sample."""
        if self._advanced_at is None:
            self._advanced_at = now
        page = self._attached_page()
        self.advanced = page is not None and self._read_sample(page)
        if self.advanced:
            self._advanced_at = now
        state = CarState() if self.sample is None else convert.state_from_wire(self.sample)
        state.age = now - self._advanced_at
        self._was_stale, self.is_stale = self.is_stale, state.age > spec.STALE_S
        return state

    def decode_again(self) -> None:
        """Decode the newest sample once more, so that the memory for the next one is in the processor's caches."""
        if self.sample is not None:
            # The new tuple replaces the old one, whose memory the next sample then takes.
            self.sample = codec.decode_car_subset(self.data)

    def handle_silence(self) -> None:
        """Count a silence once, and open the page anew if the simulator has replaced it."""
        if not self._was_stale:
            self._counters.stale += 1
        if self._page is not None and not self._page.is_current():
            self._page.close()
            self._page = None

    def _attached_page(self) -> SharedPage | None:
        """Return the car's page, opened as soon as it exists. Its first content may be that of a dead game."""
        if self._page is None:
            self._page = self._memory.open_page(self._name, mapped=self._mapped)
            if self._page is not None and self.sample is None:
                self.packet_id = codec.decode_packet_id(self._page.read(codec.PACKET_ID_SIZE))
        return self._page

    def _is_new(self, packet_id: int) -> bool:
        return packet_id not in (0, self.packet_id)  # 0: the page exists, and nothing was written to it yet

    def _read_sample(self, page: SharedPage) -> bool:
        """Copy and decode the newest sample; return whether there was a new one, and its page was whole."""
        data = self._copy_page(page)
        if not self._is_new(codec.decode_packet_id(data)):
            return False
        try:
            sample = codec.decode_car_subset(data)
        except WireError:  # another program has truncated the page
            self._counters.torn += 1
            return False
        counters, packet_id = self._counters, sample[codec.SUBSET_PACKET_ID]
        step = packet_id - self.packet_id
        counters.received += 1
        if step < 0 or step > LONGEST_LOSS:
            counters.resyncs += self.sample is not None or step < 0
        elif self.sample is not None:
            counters.lost += step - 1
        self.packet_id, self.sample, self.data = packet_id, sample, data
        return True

    def _copy_page(self, page: SharedPage) -> bytes:
        """Return two equal copies' content of the car's page; after too many tries the last copy, counted as torn.

        Comparing the whole page rather than packet_id alone also detects a writer between packet_id and the rest,
        whichever it stores first. The comparison costs well under 1 us.
        """
        data = self._polled or page.read(codec.CAR_SIZE)
        self._polled = b""
        for _ in range(1 + _RETRIES):
            again = page.read(codec.CAR_SIZE)
            if again == data:
                return data
            data = again
        self._counters.torn += 1
        return data

    def close(self) -> None:
        """Close the page."""
        if self._page is not None:
            self._page.close()
            self._page = None
