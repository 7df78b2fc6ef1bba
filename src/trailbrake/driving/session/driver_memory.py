"""The file of what drivers have learned: `drive --memory FILE`.

JSON, one entry for each driver, simulator, car and track. An entry holds for the car's data and the road with which it
was learned: `basis` is a hash of both.
"""

import hashlib
import json
from pathlib import Path

import msgspec

from trailbrake.config import driver_memory_file
from trailbrake.driving.spec import DriveSpec
from trailbrake.errors import DataError, UsageError
from trailbrake.json_types import JsonObject
from trailbrake.planning.course import Course
from trailbrake.roles import Driver, KeepsMemory
from trailbrake.system import steady_clock
from trailbrake.user_files import check_texts, convert_values, make_folder, parse_json, read_user_text, write_whole

FORMAT, VERSION = "trailbrake driver memory", 1
MOST_BYTES = 20_000_000
AUTO = "auto"


class MemoryEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one driver has learned in one simulator with one car on one track."""

    driver: str
    sim: str
    car: str
    track: str
    basis: str
    saved: str
    memory: JsonObject

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What it is for."""
        return self.driver, self.sim, self.car, self.track


class _MemoryContent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    format: str
    version: int
    entries: list[MemoryEntry]


def read_memory(path: Path) -> list[MemoryEntry]:
    """Return the entries of a file; [] where there is none yet.

    Raises:
        UsageError: it cannot be read.
        DataError: it is not such a file.
    """
    if not path.exists():
        return []
    values = parse_json(read_user_text(path, "driver's memory", MOST_BYTES), str(path))
    check_texts(values, str(path))
    content = convert_values(values, _MemoryContent, "no driver's memory", str(path), hint="name another file")
    if (content.format, content.version) != (FORMAT, VERSION):
        raise DataError("no driver's memory of this version", where=str(path), expected=f"{FORMAT} {VERSION}",
                        got=f"{content.format} {content.version}", hint="name another file")  # fmt: skip
    return content.entries


def parse_entry(values: object, where: str) -> MemoryEntry:
    """Return the entry of plain values; DataError where it is none."""
    return convert_values(values, MemoryEntry, "no driver's memory", where)


def write_memory(path: Path, entries: list[MemoryEntry]) -> None:
    """Write the file, whole or not at all; UsageError where it cannot be written."""
    content = msgspec.to_builtins(_MemoryContent(FORMAT, VERSION, entries))
    make_folder(path.parent)
    write_whole(path, (json.dumps(content) + "\n").encode(), "a driver's memory")


class DriverMemory:
    """The entry of one drive in its file.

    Args:
        spec: the drive, with driver, car and track named.
        course: that the driver plans on.
        driver: of the first car, after reset; what it learns is kept.
        others: of further cars, the same one: each takes up what is kept.
        replayed: whether a drive is driven again: then `entry` is what it had, and nothing is written.
        entry: of the drive that is driven again; None: it had none.

    Attributes:
        path: the file.
        found: the entry at the start of the drive; None without one.

    Raises:
        UsageError: the driver keeps no memory or does not learn, or the file cannot be read.
        DataError: it is not such a file.
    """

    def __init__(
        self,
        spec: DriveSpec,
        course: Course,
        driver: Driver,
        *others: Driver,
        replayed: bool = False,
        entry: MemoryEntry | None = None,
    ) -> None:
        name = spec.first.driver
        if not isinstance(driver, KeepsMemory):
            raise UsageError(f"{name} keeps no memory", where="--memory", hint="leave it out")
        if not driver.learns:
            raise UsageError(f"{name} learns nothing in this drive", where="--memory",
                             hint="add --gain learn=1, or leave it out")  # fmt: skip
        memory = spec.first.memory
        self.path = driver_memory_file() if memory == AUTO else Path(memory)
        self._driver, self._others = driver, others
        self._key = (name, spec.site.sim, spec.car, spec.track)
        self._basis = _hash_course(course)
        self._replayed = replayed
        kept = [entry] if replayed else read_memory(self.path)
        self.found = next((each for each in kept if each is not None and each.key == self._key), None)

    def recall(self) -> str:
        """Let the driver take up its entry; return a line for the user, "" where there is none."""
        entry = self.found
        if entry is None:
            return ""
        if entry.basis != self._basis:
            return f"{self.path}: learned with another version of the car or the road; begun anew"
        for driver in (self._driver, *self._others):
            assert isinstance(driver, KeepsMemory)
            driver.import_memory(entry.memory, str(self.path))
        return f"{self.path}: taken up what was learned until {entry.saved}"

    def store(self) -> str:
        """Write what the driver has learned; return a line where that fails: the drive has been driven all the same."""
        if self._replayed:
            return ""
        entry = MemoryEntry(*self._key, self._basis, steady_clock.iso_timestamp(), self._driver.export_memory())
        try:
            others = [other for other in read_memory(self.path) if other.key != self._key]
            write_memory(self.path, [*others, entry])
        except (UsageError, DataError) as error:
            return f"what was learned is not kept: {error}"
        return ""


def _hash_course(course: Course) -> str:
    """Return a hash of the car's data and the road."""
    text = msgspec.json.encode(course.known_car()) + course.track.road.table.tobytes()
    return hashlib.sha256(text).hexdigest()[:16]
