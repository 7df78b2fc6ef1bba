"""`ui_car.json` and `ui_track.json`: the game's descriptions of cars and tracks, the only ones that mods always have.

Source: protocol page assetto-custom-ai, section 7. Values are texts with units, in many styles. Numbers are read as
far as they make sense; what cannot be read is None. Many files have a byte-order mark, raw line
ends inside texts or a trailing comma; all of that is accepted.
"""

import json
import math
import re
from dataclasses import dataclass
from typing import Any

from trailbrake.errors import DataError
from trailbrake.units import KMH, MPH
from trailbrake.user_files import parse_json

MAX_BYTES = 4_000_000
HORSEPOWER = 745.7  # W, mechanical; the metric one is 1.4 % less, which these texts do not distinguish
POUND = 0.45359237  # kg
POUND_FOOT = 1.3558179483  # N m

Curve = tuple[tuple[float, float], ...]

_NUMBER = re.compile(r"\d+(?:[.,\s]\d{3})+(?!\d)|\d+(?:[.,]\d+)?")
_TRAILING_COMMA = re.compile(r",(\s*[\]}])")


@dataclass(frozen=True)
class CarUi:
    """The content of `ui_car.json`; None where it has no value.

    Attributes:
        name: for display.
        brand: likewise.
        car_class: such as `race` or `street`.
        tags: words, lower case.
        description: a text.
        power: W, the largest.
        torque: N m, the largest.
        mass: kg.
        top_speed: m/s.
        power_curve: (rpm, W) points, rpm rising; empty where there are none.
        torque_curve: (rpm, N m) points.
    """

    name: str = ""
    brand: str = ""
    car_class: str = ""
    tags: tuple[str, ...] = ()
    description: str = ""
    power: float | None = None
    torque: float | None = None
    mass: float | None = None
    top_speed: float | None = None
    power_curve: Curve = ()
    torque_curve: Curve = ()


@dataclass(frozen=True)
class TrackUi:
    """The content of `ui_track.json`; None where it has no value.

    Attributes:
        name: for display.
        description: a text.
        country: a word.
        city: a word.
        tags: words, lower case.
        length: m.
        width: m; where a range is given, the first.
        pitboxes: how many.
        run: direction, such as `clockwise`.
    """

    name: str = ""
    description: str = ""
    country: str = ""
    city: str = ""
    tags: tuple[str, ...] = ()
    length: float | None = None
    width: float | None = None
    pitboxes: int | None = None
    run: str = ""


def decode_car_ui(data: bytes, where: str = "ui_car.json") -> CarUi:
    """Decode a car's file.

    Raises:
        DataError: not JSON, even with the exceptions above.
    """
    values = _parse_json(data, where)
    specs = values.get("specs")
    specs = specs if isinstance(specs, dict) else {}
    return CarUi(
        _clean_text(values.get("name")),
        _clean_text(values.get("brand")),
        _clean_text(values.get("class")).lower(),
        _clean_tags(values.get("tags")),
        _clean_text(values.get("description")),
        _parse_quantity(specs.get("bhp"), HORSEPOWER, ("kw", 1e3)),
        _parse_quantity(specs.get("torque"), 1.0, ("lb", POUND_FOOT), ("ft", POUND_FOOT)),
        _parse_quantity(specs.get("weight"), 1.0, ("lb", POUND)),
        _parse_quantity(specs.get("topspeed"), KMH, ("mph", MPH)),
        _parse_curve(values.get("powerCurve"), HORSEPOWER),
        _parse_curve(values.get("torqueCurve"), 1.0),
    )


def encode_car_ui(car: CarUi) -> bytes:
    """Return the text of a car's file; what is None is left out."""
    specs = {
        "bhp": _format_quantity(car.power, HORSEPOWER, "bhp"), "torque": _format_quantity(car.torque, 1.0, "Nm"),
        "weight": _format_quantity(car.mass, 1.0, "kg"), "topspeed": _format_quantity(car.top_speed, KMH, "km/h"),
        "pwratio": _format_quantity(car.mass and car.power and car.mass / car.power, 1.0 / HORSEPOWER, "kg/hp"),
    }  # fmt: skip
    return _encode_json(
        {
            "name": car.name, "brand": car.brand, "class": car.car_class, "tags": list(car.tags),
            "description": car.description, "specs": {key: said for key, said in specs.items() if said},
            "torqueCurve": [[f"{rpm:.0f}", f"{value:.0f}"] for rpm, value in car.torque_curve],
            "powerCurve": [[f"{rpm:.0f}", f"{value / HORSEPOWER:.0f}"] for rpm, value in car.power_curve],
        }
    )  # fmt: skip


def encode_track_ui(track: TrackUi) -> bytes:
    """Return the text of a track's file; what is None is left out."""
    values: dict[str, Any] = {
        "name": track.name, "description": track.description, "tags": list(track.tags), "country": track.country,
        "city": track.city, "length": _format_quantity(track.length, 1.0, "m"),
        "width": _format_quantity(track.width, 1.0, "m"),
        "pitboxes": None if track.pitboxes is None else str(track.pitboxes), "run": track.run,
    }  # fmt: skip
    return _encode_json({key: value for key, value in values.items() if value is not None})


def _encode_json(values: dict[str, Any]) -> bytes:
    return (json.dumps(values, indent=2, ensure_ascii=False) + "\n").encode()


def _format_quantity(value: float | None, unit: float, name: str) -> str | None:
    return None if value is None else f"{value / unit:.4g}{name}" if value / unit < 1e3 else f"{value / unit:.0f}{name}"


def _parse_json(data: bytes, where: str) -> dict[str, Any]:
    if len(data) > MAX_BYTES:
        raise DataError("file too large", where=where, expected=f"{MAX_BYTES} bytes at most", got=str(len(data)))
    try:
        text = data.decode("utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    try:
        values = parse_json(text, where, strict=False)
    except DataError:
        values = parse_json(_TRAILING_COMMA.sub(r"\1", text), where, strict=False)
    if not isinstance(values, dict):
        raise DataError("not a description", where=where, expected="a JSON object", got=type(values).__name__)
    return values


def _clean_text(value: Any) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


def _clean_tags(value: Any) -> tuple[str, ...]:
    return tuple(_clean_text(tag).lower() for tag in value if _clean_text(tag)) if isinstance(value, list) else ()


def _parse_number(value: Any) -> float | None:
    """Return the first number in a text; a comma or point before three digits only groups them."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        found = float(value) if abs(value) < 1e300 else math.inf
    else:
        match = _NUMBER.search(value) if isinstance(value, str) and len(value) < 200 else None
        if match is None:
            return None
        digits = match[0]
        grouped = re.fullmatch(r"[1-9]\d{0,2}(?:[.,\s]\d{3})+", digits)
        found = float(re.sub(r"[.,\s]", "", digits) if grouped else digits.replace(",", "."))
    return found if math.isfinite(found) and found >= 0.0 else None


def _parse_quantity(value: Any, unit: float, *others: tuple[str, float]) -> float | None:
    """Return the number in a text in SI units: `unit`, or that of another word found in the text. 0 is no answer."""
    found = _parse_number(value)
    if not found:
        return None
    for word, other in others:
        if isinstance(value, str) and word in value.lower():
            return found * other
    return found * unit


def _parse_curve(value: Any, unit: float) -> Curve:
    points: list[tuple[float, float]] = []
    for entry in value if isinstance(value, list) else []:
        if isinstance(entry, list) and len(entry) == 2:
            rpm, height = _parse_number(entry[0]), _parse_number(entry[1])
            if rpm is not None and height is not None and (not points or rpm > points[-1][0]):
                points.append((rpm, height * unit))
    return tuple(points)
