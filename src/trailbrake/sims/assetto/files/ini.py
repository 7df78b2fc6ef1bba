"""INI files of the game and of its patch: values out, and single values in with every other byte left as it is.

Source: protocol page assetto-custom-ai, sections 7 and 8. Lines are `KEY=value ; comment ; type`, in files with and
without a byte-order mark, with either kind of line end, in whatever encoding their authors had. So bytes are held as
Latin-1, in which every byte is a character of its own; names of sections and keys are ASCII and compare without case.
"""

import re

from trailbrake.errors import DataError

BOM = b"\xef\xbb\xbf"
MOST_BYTES = 4_000_000

_SECTION = re.compile(r"^[ \t]*\[(?P<name>[^\]\r\n]*)\]")
_ENTRY = re.compile(
    r"^(?P<head>[ \t]*(?P<key>[^=;\[\r\n][^=;\r\n]*?)[ \t]*=[ \t]*)"
    r"(?P<value>[^;\r\n]*?)(?P<tail>[ \t]*(?:;[^\r\n]*)?[\r\n]*)$"
)

Sections = dict[str, dict[str, str]]


def _lines(data: bytes, where: str) -> list[str]:
    if len(data) > MOST_BYTES:
        raise DataError("file too large", where=where, expected=f"{MOST_BYTES} bytes at most", got=str(len(data)))
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in data:
        raise DataError("not a text file that the game reads", where=where, got="UTF-16 or zero bytes",
                        hint="save it as UTF-8")  # fmt: skip
    # Not splitlines(): it also splits at characters that stand inside of Chinese and Cyrillic texts read as Latin-1.
    return re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$", data.removeprefix(BOM).decode("latin-1"))


def parse(data: bytes, where: str = "ini") -> Sections:
    """Return the values by section and key, both in capitals. The first of several equal keys counts.

    Values are cut at a comment. Their bytes are as in the file: `text` decodes one for people.

    Raises:
        DataError: not a text file.
    """
    sections: Sections = {}
    section = sections.setdefault("", {})
    for line in _lines(data, where):
        if head := _SECTION.match(line):
            section = sections.setdefault(head["name"].strip().upper(), {})
        elif entry := _ENTRY.match(line):
            section.setdefault(entry["key"].upper(), entry["value"])
    return sections


def text(value: str) -> str:
    """Return a value of `parse` as its author meant it: UTF-8 where it is that."""
    try:
        return value.encode("latin-1").decode("utf-8")
    except UnicodeDecodeError:
        return value


def number(sections: Sections, section: str, key: str, default: float) -> float:
    """Return a value as a number; `default` where it is missing or no number."""
    try:
        return float(sections.get(section, {}).get(key, ""))
    except ValueError:
        return default


def with_value(data: bytes, section: str, key: str, value: str, where: str = "ini") -> bytes:
    """Return the file with `key` in `section` set to `value`; byte for byte the same where it has it already.

    The comment behind a value stays. A missing key goes to the end of its section, a missing section to the end of
    the file, with the line ends that the file uses.

    Raises:
        DataError: not a text file.
    """
    lines = _lines(data, where)
    newline = "\r\n" if b"\r\n" in data or not lines else "\n"
    inside, last, found = False, -1, False
    for i, line in enumerate(lines):
        if head := _SECTION.match(line):
            inside = head["name"].strip().upper() == section.upper()
            last = i if inside else last
        elif inside and line.strip():
            last = i
            entry = _ENTRY.match(line)
            if entry and entry["key"].upper() == key.upper():
                found = True
                lines[i] = entry["head"] + value + entry["tail"]
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
