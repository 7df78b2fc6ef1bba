"""Cars by name or file: reads car files (TOML) into `CarParams`, and names file and key of every fault.

`random:SEED` is a random car (`random_car`).
"""

import re
from pathlib import Path
from typing import Any

import msgspec
from msgspec import inspect

from trailbrake.cars import random_car
from trailbrake.cars.car_checks import check_car
from trailbrake.cars.params import CarParams
from trailbrake.errors import DataError, UsageError, suggest_names
from trailbrake.user_files import decode_user_text, parse_toml, read_user_file

LIBRARY = Path(__file__).with_name("library")
_AT = re.compile(r"^(?P<what>.*?)(?: - at `\$\.?(?P<key>[^`]*)`)?$", re.S)
_EXPECTED = re.compile(r"^Expected (?P<expected>.*?)(?:, got (?P<got>.*))?$", re.S)


def car_names() -> list[str]:
    """Return the names of the cars that come with the package, sorted."""
    return sorted(path.stem for path in LIBRARY.glob("*.toml"))


def load_car(name_or_path: str | Path) -> CarParams:
    """Return the car of that name from the library, or from a TOML file, or a random car.

    Args:
        name_or_path: one of `car_names()`, or the path of a file (anything with a slash or ending in .toml), or
            `random:SEED`, or `random:SEED:CAR` with one of the former.

    Raises:
        UsageError: there is no such car or file, or no such seed.
        DataError: the file is not a car; the message names file, key, expected and got.
    """
    text = str(name_or_path)
    if text.startswith(random_car.PREFIX):
        return _draw_car(text)
    if isinstance(name_or_path, str) and not text.endswith(".toml") and "/" not in text and "\\" not in text:
        if text not in car_names():
            raise UsageError("no such car", where="car", got=text, hint=suggest_names(text, car_names()))
        path = LIBRARY / f"{text}.toml"
    else:
        path = Path(text)
    return parse_car(read_user_file(path, "car file"), where=text)


def _draw_car(name: str) -> CarParams:
    seed, base = random_car.parse_name(name)
    factors = random_car.draw_factors(seed)
    own = load_car(base or factors.base)
    return random_car.build_random_car(own, factors, f"{random_car.PREFIX}{seed}:{own.name}")


def parse_car(data: bytes, *, where: str) -> CarParams:
    """Return the car that the TOML text `data` describes; `where` names it in errors (DataError)."""
    values = parse_toml(decode_user_text(data, where), where)
    values.pop("scanner", None)  # files before version 0.4 hold the place of a scanner, which had no effect
    try:
        car = msgspec.convert(values, CarParams)
    except msgspec.ValidationError as error:
        raise _validation_error(str(error), values, where) from error
    check_car(car, where)
    return car


def _validation_error(message: str, values: dict[str, Any], where: str) -> DataError:
    """Return our error for msgspec's message: the key first, then expected and got, then the key's meaning."""
    match = _AT.match(message)
    key = (match["key"] or "") if match else ""
    what = match["what"] if match else message
    section, _, last = key.rpartition(".")
    if expected := _EXPECTED.match(what):
        got = expected["got"] or _value_text(values, key)
        return _wrong_value(
            where, key, expected["expected"], got, _section_keys(section).get(_without_indices(last), "")
        )
    if what.startswith("Invalid enum value"):
        return _wrong_value(
            where, key, _allowed_words(section, last), _value_text(values, key), _section_keys(section).get(last, "")
        )
    name = re.search(r"`([^`]*)`", what)
    known = _section_keys(key)
    if not name:
        return DataError(what, where=_error_place(where, key))
    place = _error_place(where, f"{key}.{name[1]}" if key else name[1])
    if "unknown" in what:
        return DataError("unknown key", where=place, hint=suggest_names(name[1], list(known)))
    strange = [
        there for there in _section_table(values, key) if there not in known
    ]  # one may be the missing key, misspelled
    meaning = known.get(name[1], "")
    hint = f"there is an unknown key {strange[0]}" if strange else f"{name[1]}: {meaning}" if meaning else ""
    return DataError("missing key", where=place, hint=hint)


def _wrong_value(where: str, key: str, expected: str, got: str, meaning: str) -> DataError:
    hint = f"{_without_indices(key).rpartition('.')[2]}: {meaning}" if meaning else ""
    return DataError("wrong value", where=_error_place(where, key), expected=expected.replace("`", ""),
                     got=got.replace("`", ""), hint=hint)  # fmt: skip


def _without_indices(key: str) -> str:
    """Return `key` without the [...] that stands for an element of a list."""
    return re.sub(r"\[.*?\]", "", key)


def _section_fields(section: str) -> dict[str, inspect.Type]:
    """Return the keys that the schema has in the dotted `section` ("" = the whole file), with their types."""
    kind: inspect.Type = inspect.type_info(CarParams)
    for part in section.split(".") if section else []:
        fields = kind.fields if isinstance(kind, inspect.StructType) else ()
        kind = next((_inner_struct(field.type) for field in fields if field.name == part), kind)
    return {field.name: field.type for field in kind.fields} if isinstance(kind, inspect.StructType) else {}


def _section_keys(section: str) -> dict[str, str]:
    """Return the keys of `section` with unit and meaning, as declared."""
    return {name: _key_description(kind) for name, kind in _section_fields(section).items()}


def _allowed_words(section: str, name: str) -> str:
    """Return the words that may stand at a key, for a message."""
    kind = _section_fields(section).get(name)
    return "one of " + ", ".join(map(str, kind.values)) if isinstance(kind, inspect.LiteralType) else "another word"


def _inner_struct(kind: inspect.Type) -> inspect.Type:
    """Return the struct type in an optional struct, and any other type as it is."""
    if isinstance(kind, inspect.UnionType):
        return next((t for t in kind.types if isinstance(t, inspect.StructType)), kind)
    return kind


def _key_description(kind: inspect.Type) -> str:
    """Return unit and meaning, as declared."""
    schema = kind.extra_json_schema if isinstance(kind, inspect.Metadata) else None
    return str((schema or {}).get("description", ""))


def _section_table(values: dict[str, Any], section: str) -> dict[str, Any]:
    """Return the table of the file at the dotted `section`."""
    value: Any = values
    for part in section.split(".") if section else []:
        value = value[part]
    return dict(value)


def _value_text(values: dict[str, Any], key: str) -> str:
    """Return the value at dotted `key` as text, for a message."""
    value: Any = values
    for part in re.findall(r"\w+", key):
        try:
            value = value[part] if isinstance(value, dict) else value[int(part)]
        except (KeyError, IndexError, ValueError):
            return ""
    return str(value)


def _error_place(where: str, key: str) -> str:
    return f"{where}: {key}" if key else where
