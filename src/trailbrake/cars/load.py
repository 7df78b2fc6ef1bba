"""Reads car files (TOML) into `CarParams`, and refuses a car that cannot be one, naming file and key."""

import math
import re
from pathlib import Path

import msgspec

from trailbrake.cars.params import CarParams
from trailbrake.errors import DataError, UsageError, near

LIBRARY = Path(__file__).with_name("library")
_AT = re.compile(r"^(?P<what>.*?)(?: - at `\$\.?(?P<key>[^`]*)`)?$", re.S)
_EXPECTED = re.compile(r"^Expected (?P<expected>.*?)(?:, got (?P<got>.*))?$", re.S)


def names() -> list[str]:
    """Return the names of the cars that ship with the package, sorted."""
    return sorted(path.stem for path in LIBRARY.glob("*.toml"))


def load(name_or_path: str | Path) -> CarParams:
    """Return the car of that name from the library, or from a TOML file.

    Args:
        name_or_path: a name out of `names()`, or the path of a file (anything with a slash or ending in .toml).

    Raises:
        UsageError: there is no such car or file.
        DataError: the file is not a car; the message names file, key, expected and got.
    """
    text = str(name_or_path)
    if isinstance(name_or_path, str) and not text.endswith(".toml") and "/" not in text and "\\" not in text:
        if text not in names():
            raise UsageError("no such car", where="car", got=text, hint=near(text, names()))
        path = LIBRARY / f"{text}.toml"
    else:
        path = Path(text)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read the car file: {error.strerror}", where=text) from error
    return parse(data, where=text)


def parse(data: bytes, *, where: str) -> CarParams:
    """Return the car that the TOML text `data` describes; `where` names it in errors (DataError)."""
    try:
        car = msgspec.toml.decode(data, type=CarParams)
    except msgspec.ValidationError as error:
        raise _refusal(str(error), data, where) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DataError(f"not TOML: {error}", where=where) from error
    _check(car, where)
    return car


def _refusal(message: str, data: bytes, where: str) -> DataError:
    """Turn msgspec's message into ours: the key goes to the front, then expected and got."""
    match = _AT.match(message)
    key = (match["key"] or "") if match else ""
    what = match["what"] if match else message
    expected = _EXPECTED.match(what)
    if not expected:
        name = re.search(r"`([^`]*)`", what)
        if name:
            key = f"{key}.{name[1]}" if key else name[1]
        kind = "missing key" if "missing" in what else "unknown key" if "unknown" in what else what
        return DataError(kind, where=_place(where, key))
    got = expected["got"] or _value(data, key)
    return DataError("wrong value", where=_place(where, key), expected=expected["expected"].replace("`", ""),
                     got=got.replace("`", ""))  # fmt: skip


def _value(data: bytes, key: str) -> str:
    """Return the value at dotted `key` as text, for a message."""
    value = msgspec.toml.decode(data)
    for part in re.findall(r"\w+", key):
        try:
            value = value[part] if isinstance(value, dict) else value[int(part)]
        except (KeyError, IndexError, ValueError):
            return ""
    return str(value)


def _place(where: str, key: str) -> str:
    return f"{where}: {key}" if key else where


def _check(car: CarParams, where: str) -> None:
    """Raise DataError where single values are fine but do not fit together."""

    def need(condition: bool, key: str, expected: str, got: object) -> None:
        if not condition:
            raise DataError("the values do not fit together", where=_place(where, key), expected=expected,
                            got=str(got))  # fmt: skip

    for key, value in _numbers(msgspec.to_builtins(car), ""):
        need(math.isfinite(value), key, "a finite number", value)
    body, engine, gearbox = car.body, car.engine, car.gearbox
    need(body.cg_to_front < body.wheelbase, "body.cg_to_front", f"less than the wheelbase {body.wheelbase}",
         body.cg_to_front)  # fmt: skip
    need(body.wheelbase < body.length, "body.length", f"more than the wheelbase {body.wheelbase}", body.length)
    for key, height in (("front", body.roll_centre_front), ("rear", body.roll_centre_rear)):
        need(height < body.cg_height, f"body.roll_centre_{key}", f"below cg_height {body.cg_height}", height)
    need(len(engine.rpm) == len(engine.torque), "engine.torque", f"{len(engine.rpm)} values as in engine.rpm",
         f"{len(engine.torque)}")  # fmt: skip
    need(all(b > a for a, b in zip(engine.rpm, engine.rpm[1:], strict=False)), "engine.rpm", "rising values",
         list(engine.rpm))  # fmt: skip
    need(max(engine.torque) > 0.0, "engine.torque", "some torque above 0", list(engine.torque))
    need(engine.idle_rpm < engine.limiter_rpm, "engine.idle_rpm", f"below limiter_rpm {engine.limiter_rpm}",
         engine.idle_rpm)  # fmt: skip
    need(all(b < a for a, b in zip(gearbox.ratios, gearbox.ratios[1:], strict=False)), "gearbox.ratios",
         "falling values", list(gearbox.ratios))  # fmt: skip
    need(all(r > 0.0 for r in gearbox.ratios), "gearbox.ratios", "values above 0", list(gearbox.ratios))
    need(gearbox.downshift_rpm < gearbox.upshift_rpm <= engine.limiter_rpm, "gearbox.upshift_rpm",
         f"between downshift_rpm {gearbox.downshift_rpm} and limiter_rpm {engine.limiter_rpm}",
         gearbox.upshift_rpm)  # fmt: skip
    need(gearbox.clutch_torque > max(engine.torque), "gearbox.clutch_torque",
         f"more than the engine's {max(engine.torque)}", gearbox.clutch_torque)  # fmt: skip


def _numbers(value: object, key: str) -> list[tuple[str, float]]:
    if isinstance(value, dict):
        return [n for k, v in value.items() for n in _numbers(v, f"{key}.{k}" if key else str(k))]
    if isinstance(value, list | tuple):
        return [n for v in value for n in _numbers(v, key)]
    return [(key, value)] if isinstance(value, float) else []
