"""`CaseStore`: one file per finished case, written whole or not at all, so that a campaign that ended early resumes."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from trailbrake.errors import TrailbrakeError
from trailbrake.tasks.sent_files import collect_files
from trailbrake.tasks.source_digest import hash_source
from trailbrake.user_files import is_regular_file, make_folder, read_user_file, write_whole
from trailbrake.version import __version__

_DIGITS = 24  # of a fingerprint, in a file's name

Result = TypeVar("Result")


class StoredCase(msgspec.Struct, frozen=True):
    """A finished case, as its file has it.

    Attributes:
        case: what was run, for people who read the file.
        result: what came out of it.
        trailbrake: the version that ran it.
        source: `hash_source` of the code that ran it.
    """

    case: Any
    result: msgspec.Raw
    trailbrake: str
    source: str


def fingerprint_case(case: object, words: Iterable[str] = ()) -> str:
    """Return a text that changes with anything that a result may depend on.

    Args:
        case: plain values, structs, dataclasses and paths.
        words: texts of the case that may name files, whose contents count.
    """
    hashed = hashlib.sha256(msgspec.json.encode(case, enc_hook=str))
    for data in collect_files(words).values():
        hashed.update(hashlib.sha256(data).digest())
    return hashed.hexdigest()


class CaseStore(Generic[Result]):
    """A folder of results.

    Args:
        folder: made where it is not there.
        kind: the type of a result.
        any_source: whether results of other code than the present count, too.

    Raises:
        UsageError: the folder cannot be made.
    """

    def __init__(self, folder: Path, kind: type[Result], *, any_source: bool = False) -> None:
        self._folder, self._kind = folder, kind
        self._source, self._any_source = hash_source(), any_source
        make_folder(folder)

    def read_result(self, fingerprint: str) -> Result | None:
        """Return the result of a case; None where it has none, or none that can be used: it is run again."""
        path = self._find_file(fingerprint)
        if not is_regular_file(path):
            return None
        try:
            stored = msgspec.json.decode(read_user_file(path, "result of a case"), type=StoredCase)
            result = msgspec.json.decode(stored.result, type=self._kind)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, TrailbrakeError):
            return None
        return result if self._any_source or stored.source == self._source else None

    def store_result(self, fingerprint: str, case: object, result: Result) -> None:
        """Write the file of a finished case.

        Raises:
            UsageError: it cannot be written; what was there stays.
        """
        encoded = msgspec.json.encode(result, enc_hook=str)
        stored = StoredCase(msgspec.to_builtins(case, enc_hook=str), msgspec.Raw(encoded), __version__, self._source)
        write_whole(self._find_file(fingerprint), msgspec.json.format(msgspec.json.encode(stored)), "a result")

    def _find_file(self, fingerprint: str) -> Path:
        return self._folder / f"{fingerprint[:_DIGITS]}.json"
