"""`sniff assetto`: the live pages as named fields with their units."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from trailbrake.errors import UsageError
from trailbrake.findings import Field
from trailbrake.sims.assetto import acpmf, codec, spec
from trailbrake.sims.assetto.watch import session_text, status_text
from trailbrake.transport.shm import Page, SharedMemory

# Units of Custom AI's pages, whose codec has none: what is not here is a pure number or a count.
UNITS = {
    "steer": "deg, right +", "fuel": "l", "rpm": "rpm", "speed_kmh": "km/h", "velocity": "m/s", "acc_g": "g",
    "position": "m", "local_velocity": "m/s", "local_angular_velocity": "rad/s", "cg_height": "m",
    "lap_time_ms": "ms", "best_lap_time_ms": "ms", "drivetrain_torque": "Nm", "collision_depth": "m",
    "contact_point": "m", "load": "N", "pressure": "psi", "angular_velocity": "rad/s", "core_temperature": "degC",
    "camber_rad": "rad", "disc_temperature": "degC", "slip_angle_deg": "deg", "teleport_pos": "m",
    "extra_sleep_ms": "ms",
}  # fmt: skip
WHEELS = ("FL", "FR", "RL", "RR")
_CONTROLS_STEER = "-1..1, right +"


@dataclass(slots=True)
class Options:
    """Show Assetto Corsa's live pages as named fields.

    Attributes:
        car_index: which car's pages.
    """

    car_index: int = 0


class _Source(NamedTuple):
    group: str
    page: str
    size: int
    fields: Callable[[bytes], list[tuple[str, Any, str]]]


@contextmanager
def watch(options: Options, doors: "str | os.PathLike[str] | None" = None) -> Iterator[Callable[[], list[Field]]]:
    """Give a callable that returns the fields of now; pages that are not there yet are looked for each time.

    Args:
        options: what to show.
        doors: where the pages are; None = the public names.

    Raises:
        UsageError: no page at all is there.
    """
    memory = SharedMemory(doors)
    pages: dict[str, Page] = {}
    sources = _sources(options.car_index)

    def look() -> list[Field]:
        found: list[Field] = []
        for source in sources:
            page = pages.get(source.page)
            if page is not None and not page.current():
                pages.pop(source.page).close()
                page = None
            if page is None:
                page = memory.open(source.page, source.size)
                if page is None:
                    continue
                pages[source.page] = page
            data = page.read(source.size)
            if len(data) < source.size:  # a stranger cut it short
                continue
            for name, value, unit in source.fields(data):
                found.append(Field(source.group, name, _text(value), unit))
        return found

    try:
        if not look():
            raise UsageError("none of the game's pages is there", where=memory.folder,
                             hint="start the game and a session, or `trailbrake serve assetto`")  # fmt: skip
        yield look
    finally:
        for page in pages.values():
            page.close()


def _sources(car: int) -> list[_Source]:
    def plain(decode: Callable[[bytes], Any], **units: str) -> Callable[[bytes], list[tuple[str, Any, str]]]:
        return lambda data: [(k, v, units.get(k, UNITS.get(k, ""))) for k, v in decode(data)._asdict().items()]

    return [
        _Source(f"Car{car}", spec.car_name(car), codec.CAR_SIZE, _car),
        _Source(f"CarControls{car}", spec.controls_name(car), codec.CONTROLS_SIZE,
                plain(codec.decode_controls, steer=_CONTROLS_STEER)),
        _Source(f"CarPublic{car}", spec.public_name(car), codec.PUBLIC_SIZE, plain(codec.decode_public)),
        _Source("SimState v1", spec.SIM_STATE_V1, codec.SIM_V1_SIZE, plain(codec.decode_sim_v1)),
        _Source("SimState v0", spec.SIM_STATE_V0, codec.SIM_V0_SIZE, plain(codec.decode_sim_v0)),
        _Source("acpmf_physics", acpmf.PHYSICS_NAME, acpmf.PHYSICS_SIZE, _classic(acpmf.PHYSICS)),
        _Source("acpmf_graphics", acpmf.GRAPHICS_NAME, acpmf.GRAPHICS_SIZE, _classic(acpmf.GRAPHICS)),
        _Source("acpmf_static", acpmf.STATIC_NAME, acpmf.STATIC_SIZE, _classic(acpmf.STATIC)),
    ]  # fmt: skip


def _car(data: bytes) -> list[tuple[str, Any, str]]:
    fields = codec.decode_car(data)._asdict()
    wheels = fields.pop("wheels")
    rows = [(name, value, UNITS.get(name, "")) for name, value in fields.items()]
    for index, name in enumerate(codec.WheelData._fields):
        if isinstance(wheels[0][index], tuple):  # vectors of four wheels fill the screen: the contact point will do
            if name == "contact_point":
                rows += [(f"{name} {w}", wheel[index], UNITS[name]) for w, wheel in zip(WHEELS, wheels, strict=True)]
            continue
        rows.append((f"wheels {name}", tuple(wheel[index] for wheel in wheels), UNITS.get(name, "")))
    return rows


def _classic(layout: Any) -> Callable[[bytes], list[tuple[str, Any, str]]]:
    def fields(data: bytes) -> list[tuple[str, Any, str]]:
        message = layout.decode(data)
        rows = []
        for field, value in zip(layout.fields, message, strict=True):
            words = {"status": status_text, "session": session_text}.get(field.name)
            rows.append((field.name, f"{value} {words(value)}" if words else value, field.unit))
        return rows

    return fields


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, tuple):
        return " ".join(map(_text, value))
    return str(value)
