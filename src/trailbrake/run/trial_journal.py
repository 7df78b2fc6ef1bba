"""`TrialJournal`: what the trials of a search cost, a line each, so that a search that was broken off goes on."""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import msgspec

from trailbrake.errors import DataError, UsageError, describe_os_error
from trailbrake.run.options import TuneOptions
from trailbrake.tasks.sent_files import collect_files
from trailbrake.tasks.source_digest import hash_source
from trailbrake.user_files import parse_json, read_user_text

MAX_JOURNAL = 64 << 20  # bytes

_Values = tuple[tuple[str, float], ...]


class TrialJournal:
    """The file of a search's trials, beside that of its gains.

    Trials of other searches, or of other code, do not count. The search suggests the same gains for equal costs, so one
    that goes on finds what one that was not broken off finds.

    Args:
        path: the file; it need not exist.
        options: of the search.

    Raises:
        UsageError: it cannot be read.
        DataError: it is no text.
    """

    def __init__(self, path: Path, options: TuneOptions) -> None:
        self._path, self._search = path, digest_search(options)
        self._costs: dict[_Values, float] = {}
        for line in read_user_text(path, "file of trials", MAX_JOURNAL).splitlines() if path.exists() else []:
            try:
                row = parse_json(line, str(path))
            except DataError:
                continue  # the last line of a search that was killed
            if isinstance(row, dict) and row.get("search") == self._search and _is_trial(row):
                self._costs[_sort_values(row["values"])] = float(row["cost_s"])

    def find_cost(self, values: Mapping[str, float]) -> float | None:
        """Return what a trial of these gains has cost, s; None where none is known."""
        return self._costs.get(_sort_values(values))

    def add_trial(self, values: Mapping[str, float], cost: float) -> None:
        """Append a trial.

        Args:
            values: its gains.
            cost: s.

        Raises:
            UsageError: the file cannot be written.
        """
        self._costs[_sort_values(values)] = cost
        line = json.dumps({"search": self._search, "cost_s": cost, "values": dict(values)})
        try:
            # A line that a kill has cut off must not spoil this one.
            with self._path.open("a+b") as file:
                file.seek(max(file.seek(0, 2) - 1, 0))
                starts_line = file.read(1) in (b"", b"\n")
                file.write((("" if starts_line else "\n") + line + "\n").encode())
        except OSError as error:
            got = describe_os_error(error)
            raise UsageError("cannot write the trials", where=str(self._path), got=got) from error


def digest_search(options: TuneOptions) -> str:
    """Return a text that is the same for searches whose trials may stand for each other."""
    plain = TuneOptions()
    same = replace(options, trials=plain.trials, out=None, batch=1, jobs=0, on="", patience=plain.patience)
    config = "" if options.config is None else str(options.config)
    words = (options.driver, options.track, *options.cars.split(","), config,
             *(pair.partition("=")[2] for pair in options.host))  # fmt: skip
    files = sorted(hashlib.sha256(data).hexdigest() for data in collect_files(words).values())
    return hashlib.sha256(msgspec.json.encode([same, files, hash_source()], enc_hook=str)).hexdigest()[:24]


def _is_trial(row: Mapping[str, object]) -> bool:
    values, cost = row.get("values"), row.get("cost_s")
    if not isinstance(values, dict) or type(cost) not in (int, float):
        return False
    return math.isfinite(cost) and all(type(value) in (int, float) for value in values.values())  # type: ignore[arg-type]


def _sort_values(values: Mapping[str, float]) -> _Values:
    return tuple(sorted((name, float(value)) for name, value in values.items()))
