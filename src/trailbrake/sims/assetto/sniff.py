"""`sniff assetto`: the live pages as named fields with their units."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from trailbrake.errors import UsageError, WireError
from trailbrake.findings import WireField
from trailbrake.sims.assetto import codec, spec
from trailbrake.sims.assetto.wire import acpmf
from trailbrake.sims.assetto.wire.classic_reader import session_text, status_text
from trailbrake.simulator_tools import Doors, SniffTool
from trailbrake.transport.shm import SharedMemory, SharedPage

# Units of the Custom AI pages, whose codec has none; other fields are pure numbers or counts.
UNITS = {
    "steer": "deg, right +", "fuel": "l", "rpm": "rpm", "speed_kmh": "km/h", "velocity": "m/s", "acc_g": "g",
    "position": "m", "local_velocity": "m/s", "local_angular_velocity": "rad/s", "cg_height": "m",
    "lap_time_ms": "ms", "best_lap_time_ms": "ms", "drivetrain_torque": "Nm", "collision_depth": "m",
    "contact_point": "m", "load": "N", "pressure": "psi", "angular_velocity": "rad/s", "core_temperature": "degC",
    "camber_rad": "rad", "disc_temperature": "degC", "slip_angle_deg": "deg", "teleport_pos": "m",
    "extra_sleep_ms": "ms",
}  # fmt: skip
WHEELS = ("FL", "FR", "RL", "RR")
SHOWN_LINES = 5  # of the debug lines
_CONTROLS_STEER = "-1..1, right +"


@dataclass(slots=True)
class SniffOptions:
    """Show Assetto Corsa's live pages as named fields.

    Attributes:
        car_index: which car's pages.
    """

    car_index: int = 0


class _SniffedPage(NamedTuple):
    group: str
    page: str
    size: int
    fields: Callable[[bytes], list[tuple[str, Any, str]]]


@contextmanager
def watch(options: SniffOptions, doors: Doors = None) -> Iterator[Callable[[], list[WireField]]]:
    """Return a context manager; its value returns the current fields. Each call tries again to open missing pages.

    Args:
        options: what to show.
        doors: folder of the pages; None = the public names.

    Raises:
        UsageError: there is no page at all.
    """
    memory = SharedMemory(doors)
    pages: dict[str, SharedPage] = {}
    sources = _list_pages(options.car_index)

    def read_fields() -> list[WireField]:
        found: list[WireField] = []
        for source in sources:
            page = pages.get(source.page)
            if page is not None and not page.is_current():
                pages.pop(source.page).close()
                page = None
            if page is None:
                page = memory.open_page(source.page, source.size)
                if page is None:
                    continue
                pages[source.page] = page
            data = page.read(source.size)
            if len(data) < source.size:  # another program has truncated it
                continue
            for name, value, unit in source.fields(data):
                found.append(WireField(source.group, name, _format_value(value), unit))
        return found

    try:
        if not read_fields():
            raise UsageError("none of the game's pages is there", where=memory.folder,
                             hint="start the game and a session, or `trailbrake serve assetto`")  # fmt: skip
        yield read_fields
    finally:
        for page in pages.values():
            page.close()


def _list_pages(car: int) -> list[_SniffedPage]:
    def plain(decode: Callable[[bytes], Any], **units: str) -> Callable[[bytes], list[tuple[str, Any, str]]]:
        return lambda data: [(k, v, units.get(k, UNITS.get(k, ""))) for k, v in decode(data)._asdict().items()]

    return [
        _SniffedPage(f"Car{car}", spec.car_name(car), codec.CAR_SIZE, _car_fields),
        _SniffedPage(f"CarControls{car}", spec.controls_name(car), codec.CONTROLS_SIZE,
                plain(codec.decode_controls, steer=_CONTROLS_STEER)),
        _SniffedPage(f"CarPublic{car}", spec.public_name(car), codec.PUBLIC_SIZE, plain(codec.decode_public)),
        _SniffedPage("SimState v1", spec.SIM_STATE_V1, codec.SIM_V1_SIZE, plain(codec.decode_sim_v1)),
        _SniffedPage("SimState v0", spec.SIM_STATE_V0, codec.SIM_V0_SIZE, plain(codec.decode_sim_v0)),
        _SniffedPage("DebugLines", spec.DEBUG_LINES, codec.DEBUG_SIZE, _line_fields),
        _SniffedPage("acpmf_physics", acpmf.PHYSICS_NAME, acpmf.PHYSICS_SIZE, _classic_fields(acpmf.PHYSICS_LAYOUT)),
        _SniffedPage("acpmf_graphics", acpmf.GRAPHICS_NAME, acpmf.GRAPHICS_SIZE,
                     _classic_fields(acpmf.GRAPHICS_LAYOUT)),
        _SniffedPage("acpmf_static", acpmf.STATIC_NAME, acpmf.STATIC_SIZE, _classic_fields(acpmf.STATIC_LAYOUT)),
    ]  # fmt: skip


def _car_fields(data: bytes) -> list[tuple[str, Any, str]]:
    fields = codec.decode_car(data)._asdict()
    wheels = fields.pop("wheels")
    rows = [(name, value, UNITS.get(name, "")) for name, value in fields.items()]
    for index, name in enumerate(codec.WheelData._fields):
        if isinstance(wheels[0][index], tuple):  # a vector has a row for each wheel
            unit = UNITS.get(name, "")
            rows += [(f"{name} {w}", wheel[index], unit) for w, wheel in zip(WHEELS, wheels, strict=True)]
            continue
        rows.append((f"wheels {name}", tuple(wheel[index] for wheel in wheels), UNITS.get(name, "")))
    return rows


def _line_fields(data: bytes) -> list[tuple[str, Any, str]]:
    """Return the number of debug lines, and the first of them."""
    try:
        lines = codec.decode_debug_lines(data)
    except WireError as error:
        return [("count", str(error), "")]
    rows: list[tuple[str, Any, str]] = [("count", len(lines), "")]
    for number, line in enumerate(lines[:SHOWN_LINES]):
        rows.append((f"line {number}", (*line.start, *line.end), "m"))
        rows.append((f"line {number} color", f"0x{line.color:08X}", ""))
    return rows


def _classic_fields(layout: Any) -> Callable[[bytes], list[tuple[str, Any, str]]]:
    def fields(data: bytes) -> list[tuple[str, Any, str]]:
        message = layout.decode(data)
        rows = []
        for field, value in zip(layout.fields, message, strict=True):
            words = {"status": status_text, "session": session_text}.get(field.name)
            rows.append((field.name, f"{value} {words(value)}" if words else value, field.unit))
        return rows

    return fields


def _format_value(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, tuple):
        return " ".join(map(_format_value, value))
    return str(value)


SNIFF = SniffTool(SniffOptions, watch)
