"""What the pages carry beyond `CarState`, declared as signals: each is one number of a page.

Source: protocol page assetto-custom-ai, sections 2.2 to 2.4. Vectors are in our axes, in the frame that the meaning
names; our axes are the wire's in another order, without a change of sign. The order of the damage is that in the
documentation of the game's successor: front, rear, left, right, centre.
"""

from collections.abc import Iterator
from typing import NamedTuple

from trailbrake.sims.assetto import spec
from trailbrake.sims.assetto.axes import iso_from_assetto
from trailbrake.state.car_state import WHEEL_NAMES
from trailbrake.state.signals import Signal, make_signal
from trailbrake.units import G

OTHER_CARS = 16  # whose public pages have signals
DAMAGE_ZONES = ("front", "rear", "left", "right", "centre")
_WHEELS_AT, _WHEEL_SIZE = 148, 120  # bytes
_PUBLIC_UP_AT, _PUBLIC_ACCELERATION_AT, _PUBLIC_DAMAGE_AT = 56, 32, 80
_OWN = -1  # index of the page Car<N>


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
