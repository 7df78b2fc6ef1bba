"""INI files of the game and of its patch: values out, and single values in with every other byte left as it is.

Source: protocol page assetto-custom-ai, sections 7 and 8. Lines are `KEY=value ; comment ; type`, in files with and
without a byte-order mark, with either kind of line end, in whatever encoding their authors had. So bytes are held as
Latin-1, in which every byte is a character of its own; names of sections and keys are ASCII and compare without case.
"""

import re
from typing import NamedTuple

from trailbrake.errors import DataError

BOM = b"\xef\xbb\xbf"
MAX_BYTES = 4_000_000

_SECTION = re.compile(r"^[ \t]*\[(?P<name>[^\]\r\n]*)\]")
_BLANKS = " \t"

Sections = dict[str, dict[str, str]]


class _Entry(NamedTuple):
    """A line `KEY=value ; comment` in its parts: `head`, `value` and `tail` together are the line."""

    head: str
    key: str
    value: str
    tail: str


def _parse_entry(line: str) -> _Entry | None:
    """Return the parts of a line; None where it sets nothing."""
    before, equals, after = line.partition("=")
    key = before.strip(_BLANKS)
    if not equals or not key or key[0] == "[" or ";" in before:
        return None
    text = after.rstrip("\r\n").partition(";")[0]
    value = text.strip(_BLANKS)
    start = len(before) + 1 + len(text) - len(text.lstrip(_BLANKS))
    return _Entry(line[:start], key, value, line[start + len(value) :])


def _split_lines(data: bytes, where: str) -> list[str]:
    if len(data) > MAX_BYTES:
        raise DataError("file too large", where=where, expected=f"{MAX_BYTES} bytes at most", got=str(len(data)))
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in data:
        raise DataError("not a text file that the game reads", where=where, got="UTF-16 or zero bytes",
                        hint="save it as UTF-8")  # fmt: skip
    # Not splitlines(): it also splits at characters that stand inside of Chinese and Cyrillic texts read as Latin-1.
    return re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$", data.removeprefix(BOM).decode("latin-1"))


def parse_ini(data: bytes, where: str = "ini") -> Sections:
    """Return the values by section and key, both in capitals. The first of several equal keys counts.

    Values are cut at a comment. Their bytes are as in the file: `decode_text` decodes one.

    Raises:
        DataError: not a text file.
    """
    sections: Sections = {}
    section = sections.setdefault("", {})
    for line in _split_lines(data, where):
        if head := _SECTION.match(line):
            section = sections.setdefault(head["name"].strip().upper(), {})
        elif entry := _parse_entry(line):
            section.setdefault(entry.key.upper(), entry.value)
    return sections


def decode_text(value: str) -> str:
    """Return a value of `parse_ini` as text: UTF-8 where it is valid UTF-8, else Latin-1."""
    try:
        return value.encode("latin-1").decode("utf-8")
    except UnicodeDecodeError:
        return value


def read_number(sections: Sections, section: str, key: str, default: float) -> float:
    """Return a value as a number; `default` where it is missing or no number."""
    try:
        return float(sections.get(section, {}).get(key, ""))
    except ValueError:
        return default


def set_value(data: bytes, section: str, key: str, value: str, where: str = "ini") -> bytes:
    """Return the file with `key` in `section` set to `value`; byte for byte the same where it has it already.

    The comment behind a value stays. A missing key goes to the end of its section, a missing section to the end of
    the file, with the line ends that the file uses.

    Raises:
        DataError: not a text file.
    """
    lines = _split_lines(data, where)
    newline = "\r\n" if b"\r\n" in data or not lines else "\n"
    inside, last, found = False, -1, False
    for i, line in enumerate(lines):
        if head := _SECTION.match(line):
            inside = head["name"].strip().upper() == section.upper()
            last = i if inside else last
        elif inside and line.strip():
            last = i
            entry = _parse_entry(line)
            if entry and entry.key.upper() == key.upper():
                found = True
                lines[i] = entry.head + value + entry.tail
    if not found:
        new = [f"{key}={value}{newline}"]
        if last < 0:
            new = [f"[{section}]{newline}", *new]
            if lines and lines[-1].strip():
                new = [newline, *new]
            last = len(lines) - 1
        if last >= 0 and not lines[last].endswith(("\r", "\n")):
            lines[last] += newline
        lines[last + 1 : last + 1] = new
    start = BOM if data.startswith(BOM) else b""
    return start + "".join(lines).encode("latin-1")
