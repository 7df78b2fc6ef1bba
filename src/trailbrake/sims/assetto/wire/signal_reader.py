"""Reads the selected signals of a drive from the pages: one unpacking for each page that has some."""

import math
from collections.abc import Callable, Sequence
from struct import Struct
from typing import Any

from trailbrake.sims.assetto import codec, spec
from trailbrake.sims.assetto.signals import PageNumber, find_number
from trailbrake.state.signals import Signal, SignalValues
from trailbrake.transport.shm import SharedMemory, SharedPage

_RETRY_STEPS = 333  # physics steps between tries to open the page of another car


def compile_numbers(numbers: Sequence[PageNumber]) -> Callable[[bytes], tuple[float, ...]]:
    """Return a function that reads `numbers` of one page from its bytes, in their order; NaN from too few bytes."""
    order = sorted(range(len(numbers)), key=lambda k: numbers[k].offset)
    layout, end = "<", 0
    for k in order:
        number = numbers[k]
        layout += f"{number.offset - end}x{number.kind}"
        end = number.offset + Struct(f"<{number.kind}").size
    struct = Struct(layout)
    places = [(order.index(k), number.factor) for k, number in enumerate(numbers)]
    missing = (math.nan,) * len(numbers)

    def read(data: bytes) -> tuple[float, ...]:
        if len(data) < struct.size:
            return missing
        values: tuple[Any, ...] = struct.unpack_from(data)
        return tuple([factor * values[place] for place, factor in places])

    return read


class PageSignalReader:
    """Fills the signals of a drive's states.

    Args:
        signals: what the drive has selected, declared by `sims.assetto.signals`, each once.
        memory: where the pages are.
        mapped: whether to map the pages, see `trailbrake.transport.shm`.
    """

    def __init__(self, signals: Sequence[Signal], memory: SharedMemory, mapped: bool) -> None:
        numbers = [find_number(signal.name) for signal in signals]
        self._memory, self._mapped = memory, mapped
        self._positions = {signal.name: k for k, signal in enumerate(signals)}
        self._readers: list[tuple[int, list[int], Callable[[bytes], tuple[float, ...]]]] = []
        for car in sorted({number.car for number in numbers}):
            chosen = [k for k, number in enumerate(numbers) if number.car == car]
            self._readers.append((car, chosen, compile_numbers([numbers[k] for k in chosen])))
        self._own_only = len(self._readers) == 1 and self._readers[0][0] < 0
        self._pages: dict[int, SharedPage] = {}
        self._tried_at: dict[int, int] = {}
        self._missing = (math.nan,) * len(signals)

    def read_signals(self, data: bytes, step: int) -> SignalValues:
        """Return the signals of a sample.

        Args:
            data: the page of our car; b"" before the first sample.
            step: physics step.
        """
        if self._own_only:
            return SignalValues(self._positions, self._readers[0][2](data))
        values = list(self._missing)
        for car, chosen, read in self._readers:
            for k, value in zip(chosen, read(data if car < 0 else self._read_public(car, step)), strict=True):
                values[k] = value
        return SignalValues(self._positions, tuple(values))

    def _read_public(self, car: int, step: int) -> bytes:
        """Return the public page of a car, twice alike; b"" where there is none, or no whole one."""
        page = self._pages.get(car)
        due = not 0 <= step - self._tried_at.get(car, -_RETRY_STEPS) < _RETRY_STEPS
        if due:
            self._tried_at[car] = step
            if page is not None and not page.is_current():
                self._pages.pop(car).close()
                page = None
            if page is None:
                page = self._memory.open_page(spec.public_name(car), mapped=self._mapped)
                if page is not None:
                    self._pages[car] = page
        if page is None:
            return b""
        data = page.read(codec.PUBLIC_SIZE)
        again = page.read(codec.PUBLIC_SIZE)
        data = data if data == again else page.read(codec.PUBLIC_SIZE)
        return data if codec.decode_packet_id(data) else b""

    def close(self) -> None:
        """Close the pages of the other cars."""
        for page in self._pages.values():
            page.close()
        self._pages = {}
