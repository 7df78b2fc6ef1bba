"""Reads car files (TOML) into `CarParams`, and refuses a car that cannot be one, naming file and key."""

import re
from pathlib import Path

import msgspec
from msgspec import inspect

from trailbrake.cars.checks import check
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
    check(car, where)
    return car


def _refusal(message: str, data: bytes, where: str) -> DataError:
    """Turn msgspec's message into ours: the key goes to the front, then expected and got, then what the key means."""
    match = _AT.match(message)
    key = (match["key"] or "") if match else ""
    what = match["what"] if match else message
    section, _, last = key.rpartition(".")
    if expected := _EXPECTED.match(what):
        got = expected["got"] or _value(data, key)
        return _wrong(where, key, expected["expected"], got, _keys(section).get(_plain(last), ""))
    if what.startswith("Invalid enum value"):
        return _wrong(where, key, _choices(section, last), _value(data, key), _keys(section).get(last, ""))
    name = re.search(r"`([^`]*)`", what)
    known = _keys(key)
    if not name:
        return DataError(what, where=_place(where, key))
    place = _place(where, f"{key}.{name[1]}" if key else name[1])
    if "unknown" in what:
        return DataError("unknown key", where=place, hint=near(name[1], list(known)))
    strange = [there for there in _table(data, key) if there not in known]  # one may be the missing one, misspelled
    meaning = known.get(name[1], "")
    hint = f"there is an unknown key {strange[0]}" if strange else f"{name[1]}: {meaning}" if meaning else ""
    return DataError("missing key", where=place, hint=hint)


def _wrong(where: str, key: str, expected: str, got: str, meaning: str) -> DataError:
    hint = f"{_plain(key).rpartition('.')[2]}: {meaning}" if meaning else ""
    return DataError("wrong value", where=_place(where, key), expected=expected.replace("`", ""),
                     got=got.replace("`", ""), hint=hint)  # fmt: skip


def _plain(key: str) -> str:
    """Return `key` without the [...] that stands for an element of a list."""
    return re.sub(r"\[.*?\]", "", key)


def _fields(section: str) -> dict[str, inspect.Type]:
    """Return the keys that the schema has in the dotted `section` ("" = the whole file), with their types."""
    kind: inspect.Type = inspect.type_info(CarParams)
    for part in section.split(".") if section else []:
        fields = kind.fields if isinstance(kind, inspect.StructType) else ()
        kind = next((_struct(field.type) for field in fields if field.name == part), kind)
    return {field.name: field.type for field in kind.fields} if isinstance(kind, inspect.StructType) else {}


def _keys(section: str) -> dict[str, str]:
    """Return the keys of `section` with unit and meaning, as declared."""
    return {name: _description(kind) for name, kind in _fields(section).items()}


def _choices(section: str, name: str) -> str:
    """Return the words that may stand at a key, for a message."""
    kind = _fields(section).get(name)
    return "one of " + ", ".join(map(str, kind.values)) if isinstance(kind, inspect.LiteralType) else "another word"


def _struct(kind: inspect.Type) -> inspect.Type:
    """Return the struct type in an optional struct, and any other type as it is."""
    if isinstance(kind, inspect.UnionType):
        return next((t for t in kind.types if isinstance(t, inspect.StructType)), kind)
    return kind


def _description(kind: inspect.Type) -> str:
    """Return unit and meaning, as declared."""
    schema = kind.extra_json_schema if isinstance(kind, inspect.Metadata) else None
    return str((schema or {}).get("description", ""))


def _table(data: bytes, section: str) -> dict[str, object]:
    """Return the table of the file at the dotted `section`."""
    value = msgspec.toml.decode(data)
    for part in section.split(".") if section else []:
        value = value[part]
    return dict(value)


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
