"""Reading files of others: the one place that opens them, with a limit on their size; parses TOML, YAML, JSON, XML.

Only a regular file is opened: a pipe or a device may never end. A text is UTF-8. Before a parser sees it, its nesting
is limited, since parsers recurse; whole numbers have 64 bits, as TOML says, since longer ones fit no field and cannot
even be printed.

Files that a crash or a full disk must not damage are written by `open_replacement` and `write_whole`.
"""

import errno
import io
import json
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar, cast

from trailbrake.errors import DataError, OsErrors, UsageError, describe_os_error

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

T = TypeVar("T")
MAX_TEXT = 1_000_000  # bytes of a text that a person writes: settings, cars, tracks, race days
MAX_NESTING = 64  # of lists and tables, and parts of a dotted key
_PIECE = 1 << 20  # bytes
_INT64 = 1 << 63
_INT_DIGITS = 18  # characters of a whole number that surely fits into 64 bits
_O_NONBLOCK = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)  # opening a pipe must not wait for a writer
_KINDS = (
    (stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"), (stat.S_ISBLK, "a device"),
)  # fmt: skip
# Strings and comments come out whole, so that what is in them counts as nothing. Strings that do not end go to the end
# of their line, or of the text: the parser will refuse them.
_TOML_TOKEN = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*+(?:"""|\Z)|'
    r"'''(?:[^']|'(?!''))*+(?:'''|\Z)|"
    r'"(?:[^"\\\n]|\\.)*+"?|'
    r"'[^'\n]*+'?|"
    r"#[^\n]*+|[][{}=,\n.]",
    re.DOTALL,
)


def open_user_file(path: str | os.PathLike[str], what: str, hint: str = "") -> io.BufferedReader:
    """Return a user's file, open for reading bytes.

    Args:
        path: the file.
        what: it is, for messages: "car file".
        hint: what to try where it cannot be read.

    Raises:
        UsageError: there is no such file, it is not a regular one, or it cannot be read.
    """
    try:
        file = open(path, "rb", opener=_open_without_waiting)  # noqa: SIM115 the caller closes it
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        got = describe_os_error(error)
        raise UsageError(f"cannot read the {what}", where=str(path), got=got, hint=hint) from error
    mode = os.fstat(file.fileno()).st_mode
    if not stat.S_ISREG(mode):
        file.close()
        kind = next((text for is_kind, text in _KINDS if is_kind(mode)), "something else")
        raise UsageError(f"cannot read the {what}", where=str(path), expected="a file", got=kind,
                         hint="a pipe's text can be saved to a file first" if "pipe" in kind else hint)  # fmt: skip
    return file


def _open_without_waiting(path: str, flags: int) -> int:
    try:
        return os.open(path, flags | _O_NONBLOCK)
    except OSError as error:
        if error.errno == errno.ENXIO:  # a socket; the message of the system speaks of a device
            raise OSError(errno.ENXIO, "not a file") from None
        raise


def read_user_file(path: str | os.PathLike[str], what: str, limit: int = MAX_TEXT, hint: str = "") -> bytes:
    """Return the bytes of a user's file; arguments are those of `open_user_file`.

    Raises:
        UsageError: it cannot be read.
        DataError: it has more than `limit` bytes.
    """
    with open_user_file(path, what, hint) as file:
        try:
            size = os.fstat(file.fileno()).st_size
            # Not limit + 1 at once: a reader reserves as many bytes as it may read.
            data = file.read(min(size, limit) + 1) if size <= limit else b""
            while size < len(data) <= limit and (more := file.read(min(_PIECE, limit + 1 - len(data)))):
                data += more  # it grows, or the system does not know its size
        except OSError as error:
            got = describe_os_error(error)
            raise UsageError(f"cannot read the {what}", where=str(path), got=got, hint=hint) from error
    if max(size, len(data)) > limit:
        raise DataError(f"the {what} is too large", where=str(path), expected=f"{limit} bytes at most", got=str(size))
    return data


def read_user_text(path: str | os.PathLike[str], what: str, limit: int = MAX_TEXT, hint: str = "") -> str:
    """Return the text of a user's file, UTF-8 with or without a byte-order mark.

    Raises:
        UsageError: it cannot be read.
        DataError: it is too large, or not UTF-8 text.
    """
    return decode_user_text(read_user_file(path, what, limit, hint), str(path))


def decode_user_text(data: bytes, where: str) -> str:
    """Return the text in the bytes of a file, line ends as they are; DataError with the line where it is none."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataError("not UTF-8 text", where=where, got="UTF-16", hint="save it as UTF-8")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError("not UTF-8 text", where=f"{where}:{line}", hint="save it as UTF-8") from None
    if "\0" in text:
        raise DataError("not a text file", where=where, got="zero bytes")
    return text


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """Return the tables of a TOML text; DataError, naming `where`, if it is none or beyond the limits above."""
    import tomllib

    _check_toml_nesting(text, where)
    try:
        values = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # ValueError: also of a number with thousands of digits
        raise DataError(f"not TOML: {error}", where=where) from None
    check_parsed(values, where)
    return values


def convert_values(values: object, kind: type[T], complaint: str, where: str, hint: str = "") -> T:
    """Return the plain values of a file as an object of `kind`.

    Args:
        values: as parsed.
        kind: a msgspec struct.
        complaint: what the file is not, for messages: "no drive".
        where: names the file in messages.
        hint: what to try where the values do not fit.

    Raises:
        DataError: they do not fit; one line says which and why.
    """
    import msgspec

    try:
        return msgspec.convert(values, kind)
    except msgspec.ValidationError as error:
        raise DataError(f"{complaint}: {error}", where=where, hint=hint) from None


def _check_toml_nesting(text: str, where: str) -> None:
    # A dotted key nests tables too, and tomllib takes time that grows with the square of its parts.
    depth = dots = 0
    for match in _TOML_TOKEN.finditer(text):
        token = match[0]
        if token == ".":
            dots += 1
        elif token in "[{":
            depth, dots = depth + 1, 0
        elif token in "]}":
            depth, dots = max(depth - 1, 0), 0
        elif token in "=,\n":
            dots = 0
        if max(depth, dots) > MAX_NESTING:
            line = text.count("\n", 0, match.start()) + 1
            raise _nesting_error(f"{where}:{line}")


def parse_yaml(text: str, where: str) -> Any:
    """Return the value of a YAML text.

    Raises:
        DataError: it is none or beyond the limits above, or has aliases (`*name`), by which a short text can
            stand for one that fills the memory.
    """
    import yaml

    class PlainLoader(yaml.SafeLoader):  # type: ignore[misc]
        """Refuses aliases and deep nesting while it reads."""

        nesting = 0

        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                raise yaml.YAMLError(f"an alias, *{self.peek_event().anchor}: write out what it stands for")
            self.nesting += 1
            if self.nesting > MAX_NESTING:
                raise yaml.YAMLError(f"lists and tables more than {MAX_NESTING} deep")
            node = super().compose_node(parent, index)
            self.nesting -= 1
            return node

    try:
        values = yaml.load(text, PlainLoader)  # noqa: S506 - a SafeLoader
    except yaml.YAMLError as error:
        raise DataError(f"not YAML: {' '.join(str(error).split())}", where=where) from error
    # What PyYAML raises for values that do not fit their tags: `!!int x`, `!!bool x`, `!!timestamp x`, 2001-99-99.
    except (ValueError, LookupError, AttributeError, TypeError, OverflowError, RecursionError) as error:
        raise DataError(f"not YAML: {' '.join(str(error).split())[:160]}", where=where) from error
    check_parsed(values, where)
    return values


def parse_xml(data: bytes, where: str) -> "Element":
    """Return the root of an XML text; DataError if it is none, has a document type or nests too deeply."""
    from xml.etree.ElementTree import ParseError, XMLPullParser

    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:  # by which a short text can stand for one that fills the memory
        raise DataError("a document type in the XML", where=where, hint="leave it out")
    parser: XMLPullParser[Any] = XMLPullParser(("start", "end"))
    depth, root = 0, None
    try:
        for start in range(0, len(data), _PIECE):
            parser.feed(data[start : start + _PIECE])
            for event, element in cast("Iterator[tuple[str, Element]]", parser.read_events()):
                root = element if root is None else root
                depth += 1 if event == "start" else -1
                if depth > MAX_NESTING:
                    raise _nesting_error(where)
        parser.close()
    except (ParseError, LookupError, ValueError) as error:  # also an encoding that is not known
        raise DataError(f"not XML: {error}", where=where) from None
    if root is None:
        raise DataError("not XML: no element", where=where)
    return root


def parse_json(text: str | bytes, where: str, *, strict: bool = True) -> Any:
    """Return the value of a JSON text. Whole numbers beyond 64 bits become floats.

    Args:
        text: the text, or its bytes in UTF-8.
        where: the file, for errors.
        strict: whether control characters inside of texts are refused.

    Raises:
        DataError: it is none or beyond the limits above.
    """
    try:
        values = json.loads(text, strict=strict, parse_int=_parse_json_integer)
    except (ValueError, RecursionError) as error:
        raise DataError(f"not JSON: {error}", where=where) from None
    check_parsed(values, where)
    return values


def _parse_json_integer(digits: str) -> int | float:
    # All numbers of JSON are doubles; one that is too long for an integer is so here, too.
    return int(digits) if len(digits) <= _INT_DIGITS else float(digits)


def check_parsed(values: Any, where: str) -> None:
    """Raise DataError where a parsed value is nested too deeply, or a whole number in it exceeds 64 bits."""
    waiting: list[tuple[Any, int]] = [(values, 0)]
    while waiting:
        value, depth = waiting.pop()
        if isinstance(value, dict | list | tuple | set):
            if depth >= MAX_NESTING:
                raise _nesting_error(where)
            children = [*value, *value.values()] if isinstance(value, dict) else value
            waiting += [(child, depth + 1) for child in children]
        elif isinstance(value, int) and not -_INT64 <= value < _INT64:
            raise DataError("a whole number is too long", where=where, expected="64 bits at most",
                            got=f"one of {value.bit_length()} bits")  # fmt: skip


def check_texts(values: Any, where: str) -> None:
    """Raise DataError where a text in a parsed value is none: an escape of JSON can make half a surrogate pair."""
    try:
        json.dumps(values, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise DataError("half a character", where=where, got=f"\\u{ord(error.object[error.start]):04x}") from None


def _nesting_error(where: str) -> DataError:
    return DataError("lists and tables are nested too deeply", where=where, expected=f"{MAX_NESTING} levels at most")


def is_regular_file(path: str | os.PathLike[str]) -> bool:
    """Return whether there is a regular file at `path`; False for a name that no file can have."""
    try:
        return Path(path).is_file()
    except (OSError, ValueError):
        return False


@contextmanager
def open_replacement(path: Path) -> Iterator[BinaryIO]:
    """Yield a new file, open for writing bytes, that takes the place of `path` when the `with` ends.

    Readers see the old file or all of the new one. Where the `with` raises, the old file stays.

    Raises:
        OSError: it cannot be written.
    """
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            yield file
        os.replace(part, path)
    except BaseException:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise


def write_whole(path: Path, data: bytes, what: str) -> None:
    """Write a file, all of it or nothing.

    Args:
        path: the file; its folder exists.
        data: its content.
        what: it is, with an article, for messages: "a result".

    Raises:
        UsageError: it cannot be written; the old file stays.
    """
    with OsErrors(f"cannot write {what}", where=str(path)), open_replacement(path) as file:
        file.write(data)


def check_result(out: Path | None, suffix: str) -> None:
    """Check that `out` can be a result's file: neither a folder nor one that another suffix tells to be something else.

    Raises:
        UsageError: it cannot.
    """
    if out is not None and (out.suffix.lower() != suffix or out.is_dir()):
        raise UsageError("no file for the result", where="--out", expected=f"NAME{suffix}", got=str(out))


def make_folder(path: Path) -> None:
    """Make a folder and those above it, where they are not there; UsageError where that fails."""
    with OsErrors("cannot make the folder", where=str(path)):
        path.mkdir(parents=True, exist_ok=True)
