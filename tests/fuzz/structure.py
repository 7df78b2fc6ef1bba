"""Seeded mutations that know a format: they change values, rows, records, members, and leave the rest readable.

Each takes the bytes of a case and a generator of random numbers, and returns other bytes. What it cannot read it
changes as plain bytes, by `mutate_words`.
"""

import io
import json
import random
import re
import sqlite3
import struct
import warnings
import zipfile
from collections.abc import Callable
from typing import Any

Mutator = Callable[[bytes, random.Random], bytes]

_NUMBER = re.compile(rb"(?<![\w.])[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?(?![\w])")
_WORD = re.compile(rb"[A-Za-z_][A-Za-z_0-9]*")
_VALUE = re.compile(rb"(?<=[=:])[ \t]*[^\n]*")
_EXTREMES = (
    b"0", b"-0.0", b"1", b"-1", b"0.5", b"1e-9", b"1e9", b"-1e9", b"1e308", b"1e999", b"nan", b"-inf",
    b"9223372036854775807", b"9" * 25, b"0.3e", b"1_0", b"",
)  # fmt: skip
_KINDS = (b" true", b' "x"', b" []", b" [1, 2]", b" {}", b" {a = 1}", b" 1979-05-27", b' ""', b" null", b" - 1")
_FACTORS = (0.0, 0.1, 0.5, 0.9, 0.999, 1.001, 1.1, 2.0, 10.0, -1.0)
_SHIFTS = (-360.0, -90.0, -1.0, -0.01, 0.01, 1.0, 90.0, 180.0)
_JSON_VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 1e308, 2**63, 2**70, "", "x", "NaN", "1,5", "\x00", "\ud800", [], [[]], {}, {"a": {}}, 0.1,
)  # fmt: skip
_FLOATS = (0.0, -0.0, 1.0, -1.0, 1e-40, 1e30, -1e30, float("nan"), float("inf"))
_INTEGERS = (0, 1, -1, 2, 255, 65536, 2**31 - 1, -(2**31))


def change_number(text: bytes, rng: random.Random) -> bytes:
    """Return another number: a little or much larger, shifted, or an extreme one."""
    kind = rng.random()
    if kind < 0.4:
        return b"%.6g" % (float(text) * rng.choice(_FACTORS))
    if kind < 0.6:
        return b"%.6g" % (float(text) + rng.choice(_SHIFTS))
    return rng.choice(_EXTREMES)


def _change_match(
    pattern: "re.Pattern[bytes]", data: bytes, rng: random.Random, change: Callable[[bytes], bytes]
) -> bytes:
    matches = list(pattern.finditer(data))
    if not matches:
        return data
    found = rng.choice(matches)
    return data[: found.start()] + change(found[0]) + data[found.end() :]


def _change_lines(data: bytes, rng: random.Random) -> bytes:
    """Delete, repeat, move or reverse a run of lines."""
    lines = data.split(b"\n")
    at, size = rng.randrange(len(lines)), rng.choice((1, 1, 1, 2, 4, 8))
    run = lines[at : at + size]
    kind = rng.randrange(4)
    if kind == 0:
        del lines[at : at + size]
    elif kind == 1:
        lines[at:at] = run * rng.choice((1, 1, 3))
    elif kind == 2:
        del lines[at : at + size]
        to = rng.randrange(len(lines) + 1)
        lines[to:to] = run
    else:
        lines[at : at + size] = run[::-1]
    return b"\n".join(lines)


def _change_column(data: bytes, rng: random.Random) -> bytes:
    """Delete, repeat, or change by the same amount a column of a table."""
    lines = data.split(b"\n")
    separator = max((b",", b";", b"\t", b" "), key=data.count)
    width = max(line.count(separator) for line in lines) + 1
    column, kind = rng.randrange(width), rng.randrange(4)
    factor, shift = rng.choice(_FACTORS), rng.choice(_SHIFTS)
    for number, line in enumerate(lines):
        cells = line.split(separator)
        if len(cells) <= column:
            continue
        if kind == 0:
            del cells[column]
        elif kind == 1:
            cells.insert(column, cells[column])
        elif _NUMBER.fullmatch(cells[column].strip()):
            value = float(cells[column])
            cells[column] = b"%.6g" % (value * factor if kind == 2 else value + shift)
        lines[number] = separator.join(cells)
    return b"\n".join(lines)


def mutate_text(data: bytes, rng: random.Random) -> bytes:
    """Change numbers, values, words, lines or columns of a text: TOML, YAML, CSV, INI, XML."""
    for _ in range(rng.choice((1, 1, 2, 3))):
        kind = rng.randrange(8)
        if kind < 3:
            data = _change_match(_NUMBER, data, rng, lambda text: change_number(text, rng))
        elif kind == 3:
            data = _change_match(_VALUE, data, rng, lambda text: rng.choice(_KINDS))
        elif kind == 4:
            word = rng.choice(_WORD.findall(data) or [b"x"])
            data = _change_match(_WORD, data, rng, lambda text, word=word: rng.choice((word, text[:-1], text * 2)))
        elif kind == 5:
            data = _change_column(data, rng)
        else:
            data = _change_lines(data, rng)
    return data


def change_json(value: Any, rng: random.Random) -> Any:
    """Return a JSON value with one change at a random depth."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice(list(value))
        kind = rng.randrange(8)
        if kind == 0:
            return {name: item for name, item in value.items() if name != key}
        if kind == 1:
            return {**value, key[:-1]: value[key]}
        return {**value, key: change_json(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.9:
        at, kind = rng.randrange(len(value)), rng.randrange(8)
        if kind == 0:
            return value[:at] + value[at + 1 :]
        if kind == 1:
            return value[:at] + value[at : at + 1] * 3 + value[at:]
        return [*value[:at], change_json(value[at], rng), *value[at + 1 :]]
    if isinstance(value, int | float) and not isinstance(value, bool) and rng.random() < 0.6:
        return value * rng.choice(_FACTORS) + rng.choice((0, 0, *_SHIFTS))
    if isinstance(value, str) and value and rng.random() < 0.6:
        return mutate_text(value.encode("utf-8", "replace"), rng).decode("utf-8", "replace")
    return rng.choice(_JSON_VALUES)


def mutate_json_lines(data: bytes, rng: random.Random) -> bytes:
    """Change a value of the JSON in a line, or the lines; what stands before the JSON in a line stays."""
    lines = data.split(b"\n")
    if len(lines) > 1 and rng.random() < 0.2:
        return _change_lines(data, rng)
    at = rng.randrange(len(lines))
    begin = re.search(rb"[\[{]", lines[at])
    start = begin.start() if begin else 0
    changed = change_json(json.loads(lines[at][start:]), rng)
    lines[at] = lines[at][:start] + json.dumps(changed).encode()
    return b"\n".join(lines)


def mutate_json(data: bytes, rng: random.Random) -> bytes:
    """Change a value of a JSON text."""
    return json.dumps(change_json(json.loads(data, strict=False), rng)).encode()


def mutate_words(data: bytes, rng: random.Random) -> bytes:
    """Replace numbers of four or eight bytes at their natural places, or repeat or drop a run of them."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        size = rng.choice((4, 4, 8))
        at = size * rng.randrange(len(changed) // size + 1)
        kind = rng.randrange(6)
        if kind == 0:
            run = size * rng.choice((1, 5, 18))
            del changed[at : at + run]
        elif kind == 1:
            run = size * rng.choice((1, 5, 18))
            changed[at:at] = changed[at : at + run]
        elif kind == 2 and len(changed) >= at + 4:
            (value,) = struct.unpack_from("<f", changed, at)
            changed[at : at + 4] = _pack_float(value * rng.choice(_FACTORS))
        elif kind == 3:
            changed[at : at + 4] = struct.pack("<i", rng.choice(_INTEGERS))
        elif size == 8:
            changed[at : at + 8] = struct.pack("<d", rng.choice(_FLOATS))
        else:
            changed[at : at + 4] = _pack_float(rng.choice(_FLOATS))
    return bytes(changed)


def _pack_float(value: float) -> bytes:
    try:
        return struct.pack("<f", value)
    except OverflowError:
        return struct.pack("<f", float("inf"))


def mutate_pieces(data: bytes, rng: random.Random) -> bytes:
    """Change one of the pieces that have their length (u16) before them, or their order; lengths stay right."""
    return _change_records(data, rng, "<H", lambda record: mutate_words(record, rng))


def mutate_npy_pieces(data: bytes, rng: random.Random) -> bytes:
    """Change one of the arrays of NumPy that have their length (u16) before them."""
    return _change_records(data, rng, "<H", lambda record: mutate_npy(record, rng))


def mutate_json_and_npy_pieces(data: bytes, rng: random.Random) -> bytes:
    """Change one of the pieces that have their length (u16) before them: JSON texts, or arrays of NumPy."""
    return _change_records(
        data, rng, "<H", lambda record: mutate_npy(record, rng) if record[:1] == b"\x93" else mutate_json(record, rng)
    )


def mutate_records(data: bytes, rng: random.Random) -> bytes:
    """Change one of the records of MCAP (opcode, length u64), or their order; lengths stay right."""
    return _change_records(data, rng, "<BQ", lambda record: mutate_words(record, rng))


def _change_records(data: bytes, rng: random.Random, head: str, change: Callable[[bytes], bytes]) -> bytes:
    layout, at = struct.Struct(head), 0
    records: list[tuple[tuple[int, ...], bytes]] = []
    while at + layout.size <= len(data):
        *kind, length = layout.unpack_from(data, at)
        at += layout.size
        records.append((tuple(kind), data[at : at + length]))
        at += length
    number, what = rng.randrange(len(records)), rng.randrange(6)
    kind, content = records[number]
    if what == 0:
        del records[number]
    elif what == 1:
        records.insert(rng.randrange(len(records) + 1), records[number])
    elif what == 2:
        records[number] = kind, content[: rng.randrange(len(content) + 1)]
    else:
        records[number] = kind, change(content)
    most = (1 << 16) - 1 if head == "<H" else len(data) * 4 + 100
    return b"".join(layout.pack(*kind, len(content[:most])) + content[:most] for kind, content in records)


def mutate_zip(data: bytes, rng: random.Random) -> bytes:
    """Change, drop, repeat or rename a member of a zip archive; checksums are right."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [(info.filename, archive.read(info)) for info in archive.infolist()[:50]]
    at, kind = rng.randrange(len(members)), rng.randrange(8)
    name, content = members[at]
    if kind == 0:
        del members[at]
    elif kind == 1:
        members.append(members[at])
    elif kind == 2:
        members[at] = mutate_text(name.encode(), rng).decode("utf-8", "replace"), content
    elif content[:1] in b"<{[" or content[:6] == b"\x93NUMPY":
        members[at] = name, mutate_npy(content, rng) if content[:1] == b"\x93" else mutate_text(content, rng)
    else:
        members[at] = name, mutate_words(content, rng)
    packed = io.BytesIO()
    pack = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(packed, "w", pack) as archive:
        for name, content in members:  # a name that is there twice is worth a warning
            archive.writestr(name, content)
    return packed.getvalue()


def mutate_npy(data: bytes, rng: random.Random) -> bytes:
    """Change the header or the numbers of an array of NumPy; texts in it (UTF-32) by their JSON."""
    (length,) = struct.unpack_from("<H", data, 8)
    header, body = data[10 : 10 + length], data[10 + length :]
    if b"<U" in header and rng.random() < 0.8:
        text = json.dumps(change_json(json.loads(body.decode("utf-32-le").rstrip("\0")), rng))
        body = text.encode("utf-32-le", "replace")
        header = re.sub(rb"<U\d+", b"<U%d" % len(text), header)
    elif rng.random() < 0.5:
        header = mutate_text(header.rstrip(), rng).replace(b"\n", b" ") + b"\n"
    else:
        body = mutate_words(body, rng)
    return data[:8] + struct.pack("<H", len(header)) + header + body


def mutate_sqlite(data: bytes, rng: random.Random) -> bytes:
    """Change a cell, a row, a table or the version of a database; what comes out is a whole database."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.deserialize(data)
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        table, kind = _quote(rng.choice(tables)), rng.randrange(12)
        columns = [_quote(row[1]) for row in connection.execute(f"PRAGMA table_info({table})")]
        column = rng.choice(columns)
        if kind == 0:
            connection.execute(f"DELETE FROM {table}")
        elif kind == 1:
            connection.execute(f"ALTER TABLE {table} RENAME COLUMN {column} TO other")
        elif kind == 2:
            connection.execute(f"PRAGMA user_version = {rng.choice((0, 1, 2, 3, 2**31 - 1))}")
        elif kind == 3:
            connection.execute(f"DROP TABLE {table}")
        else:
            ((value,),) = rng.choices(connection.execute(f"SELECT {column} FROM {table}").fetchall())
            connection.execute("PRAGMA ignore_check_constraints = 1")
            connection.execute("PRAGMA foreign_keys = 0")
            connection.execute(
                f"UPDATE {table} SET {column} = ? WHERE {column} IS ?", (_change_cell(value, rng), value)
            )
        connection.commit()
        return connection.serialize()
    finally:
        connection.close()


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _change_cell(value: Any, rng: random.Random) -> Any:
    if isinstance(value, str) and value[:1] in ("{", "[") and rng.random() < 0.8:
        return json.dumps(change_json(json.loads(value), rng))
    if isinstance(value, int | float) and rng.random() < 0.5:
        return value * rng.choice(_FACTORS)
    if isinstance(value, str) and value and rng.random() < 0.5:
        return mutate_text(value.encode(), rng).decode("utf-8", "replace")
    return rng.choice((None, 0, -1, 2**63 - 1, 1e308, float("inf"), "", "x", "<b>", b"\xff\x00", "[]", "{}", "null"))


def apply_mutator(mutator: Mutator, data: bytes, rng: random.Random) -> bytes:
    """Return a case changed by a mutator; by words where it cannot read the case."""
    try:
        return mutator(data, rng)
    except Exception:  # the readers of damaged archives and databases raise many kinds
        return mutate_words(data, rng)
