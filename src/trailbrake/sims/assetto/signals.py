"""What the pages carry beyond `CarState`, declared as signals: each is one number of a page.

Source: protocol page assetto-custom-ai, sections 2.2 to 2.4. Vectors are in our axes, in the frame that the meaning
names; our axes are the wire's in another order, without a change of sign. The order of the damage is that in the
documentation of the game's successor: front, rear, left, right, centre.

Reads the selected signals of a drive from the pages: one unpacking for each page that has some.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from struct import Struct
from typing import Any, NamedTuple

from trailbrake.sims.assetto import codec, spec
from trailbrake.sims.assetto.axes import iso_from_assetto
from trailbrake.state.car_state import WHEEL_NAMES
from trailbrake.state.signals import Signal, SignalValues, make_signal
from trailbrake.transport.shm import SharedMemory, SharedPage
from trailbrake.units import G

OTHER_CARS = 16  # whose public pages have signals
DAMAGE_ZONES = ("front", "rear", "left", "right", "centre")
_WHEELS_AT, _WHEEL_SIZE = 148, 120  # bytes
_PUBLIC_UP_AT, _PUBLIC_ACCELERATION_AT, _PUBLIC_DAMAGE_AT = 56, 32, 80
_OWN = -1  # index of the page Car<N>
_RETRY_STEPS = 333  # physics steps between tries to open the page of another car


class PageNumber(NamedTuple):
    """Where a signal's number is.

    Attributes:
        car: number of the car whose CarPublic page has it; -1: the page Car<N> of our own.
        offset: bytes from the beginning of the page.
        kind: of the number, as `struct` names it.
        factor: from the wire's unit to ours.
    """

    car: int
    offset: int
    kind: str = "f"
    factor: float = 1.0


def _vector_places(offset: int) -> Iterator[tuple[str, int]]:
    """Yield the axes of a vector at `offset` and the offsets of their numbers."""
    yield from zip("xyz", iso_from_assetto((offset, offset + 4, offset + 8)), strict=True)


def _own_signals() -> Iterator[tuple[Signal, PageNumber]]:
    def number(name: str, unit: str, meaning: str, offset: int, kind: str = "f") -> tuple[Signal, PageNumber]:
        return make_signal(f"assetto.{name}", unit, meaning), PageNumber(_OWN, offset, kind)

    yield number("cg_height", "m", "height of the centre of mass", 124)
    for k, zone in enumerate(DAMAGE_ZONES):
        yield number(f"car_damage.{zone}", "1", f"damage of the {zone}, as the game counts it", 128 + 4 * k)
    yield number("turbo_boost", "bar", "boost pressure above ambient, as the game counts it", 628)
    yield number("final_ff", "1", "force feedback that reaches the steering wheel", 632)
    yield number("final_pure_ff", "1", "force feedback by the tyres alone, before effects and limits", 636)
    yield number("pit_limiter", "1", "1 while the pit limiter is on", 640, "B")
    yield number("drivetrain_torque", "N m", "torque of the drivetrain", 652)
    for k, wheel in enumerate(WHEEL_NAMES):
        at = _WHEELS_AT + k * _WHEEL_SIZE
        for name, unit, meaning, offset in (
            ("position", "m", "centre of the wheel, world", 0),
            ("contact_normal", "1", "normal of the ground at the contact, unit vector, world", 24),
            ("look", "1", "heading of the wheel, unit vector, world", 36),
            ("side", "1", "axle of the wheel, unit vector to the left, world", 48),
            ("velocity", "m/s", "velocity of the wheel, world", 60),
        ):
            for axis, place in _vector_places(at + offset):
                yield number(f"wheel_{wheel}.{name}_{axis}", unit, f"{meaning} {axis.upper()}", place)
        yield number(f"wheel_{wheel}.dirty_level", "1", "dirt on the tyre, as the game counts it", at + 92)
        yield number(f"wheel_{wheel}.slip", "1", "slip of the tyre, as the game counts it", at + 108)


def _other_signals() -> Iterator[tuple[Signal, PageNumber]]:
    for car in range(OTHER_CARS):

        def number(name: str, unit: str, meaning: str, place: PageNumber) -> tuple[Signal, PageNumber]:
            text = f"{meaning}, of car {place.car} by its public page"
            return make_signal(f"assetto.car_{place.car}.{name}", unit, text), place

        for axis, offset in _vector_places(_PUBLIC_UP_AT):
            meaning = f"up of the body, unit vector, world {axis.upper()}"
            yield number(f"up_{axis}", "1", meaning, PageNumber(car, offset))
        up = PageNumber(car, _PUBLIC_ACCELERATION_AT + 4, factor=G)
        yield number("acceleration_z", "m/s^2", "acceleration without gravity, up", up)
        for k, zone in enumerate(DAMAGE_ZONES):
            place = PageNumber(car, _PUBLIC_DAMAGE_AT + 4 * k)
            yield number(f"damage_{zone}", "1", f"damage of the {zone}, as the game counts it", place)


_DECLARED: dict[str, tuple[Signal, PageNumber]] = {
    signal.name: (signal, place) for signal, place in (*_own_signals(), *_other_signals())
}


def list_signals(options: spec.LiveOptions) -> tuple[Signal, ...]:
    """Return what the pages carry beyond the state; the same for all options."""
    return tuple(signal for signal, _ in _DECLARED.values())


def find_number(name: str) -> PageNumber:
    """Return where the number of a declared signal is."""
    return _DECLARED[name][1]


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
