"""What a drive was made of: versions, hashes of its files, and the content of those that the drive itself changes."""

import hashlib
import inspect
import platform
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec
import numba
import numpy as np

from trailbrake.drivers.loading import policy
from trailbrake.driving.session.driver_memory import DriverMemory, MemoryEntry, parse_entry
from trailbrake.driving.session.line_choice import OWN, ChosenLine, pack_content
from trailbrake.driving.spec import DriveSpec, EmbeddedSite
from trailbrake.errors import DataError, TrailbrakeError
from trailbrake.json_types import JsonObject
from trailbrake.planning.course import Course, UnmappedCourse
from trailbrake.planning.line_file import car_digest, road_digest
from trailbrake.roles import Driver
from trailbrake.user_files import open_user_file
from trailbrake.version import __version__

CONTENTS = "contents"


class DriveContents(NamedTuple):
    """What a drive had at its start, for a drive like it.

    Attributes:
        line: kind and packed content of the line; None: it is chosen anew.
        memory: the driver's memory; None: it had none.
        sha256: hashes of the inputs, to compare with; {} compares nothing.
    """

    line: tuple[str, str] | None = (OWN, "")
    memory: MemoryEntry | None = None
    sha256: Mapping[str, str] = {}


def describe_inputs(hashes: Mapping[str, str], line: ChosenLine, memory: DriverMemory | None) -> JsonObject:
    """Return versions, hashes (of `hash_inputs`) and contents of a drive that begins, as plain values."""
    contents: JsonObject = {"line": [line.kind, pack_content(line.data)]}
    if memory is not None and memory.found is not None:
        contents["memory"] = msgspec.to_builtins(memory.found)
    return {
        "versions": {
            "trailbrake": __version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "numba": numba.__version__,
            "machine": f"{platform.system()} {platform.machine()}",
        },
        "sha256": hashes,
        CONTENTS: contents,
    }


def hash_inputs(spec: DriveSpec, course: Course, driver: Driver) -> dict[str, str]:
    """Return the SHA-256 of each input of a drive by what it is."""
    hashes = {}
    for name, path in (("driver", find_driver_file(spec.first.driver, driver)), ("config", spec.first.config)):
        with suppress(TrailbrakeError):
            if path:
                hashes[name] = _hash_file(path, name)
    if course.car is not None:
        hashes["car"] = car_digest(course.car)
    if not isinstance(course, UnmappedCourse):
        hashes["track"] = road_digest(course.track.road)
    site = spec.site
    if isinstance(site, EmbeddedSite):
        for name, text in (("world's car", site.car), ("world's track", site.track)):
            if Path(text).is_file():
                hashes[name] = _hash_file(text, name)
    return hashes


def _hash_file(path: str | Path, what: str) -> str:
    with open_user_file(path, what) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def find_driver_file(name: str, driver: Driver) -> str:
    """Return the file that a driver comes from; "" where there is none."""
    if name.startswith(policy.PREFIX):
        return str(policy.find_policy_file(name))
    if name.endswith(".fmu"):
        return name
    with suppress(TypeError, OSError):
        return inspect.getfile(type(driver))
    return ""


def read_contents(inputs: object, where: str) -> DriveContents:
    """Return the contents that `describe_inputs` has written into a recording.

    Raises:
        DataError: something else stands there.
    """
    try:
        assert isinstance(inputs, Mapping)
        contents, hashes = inputs[CONTENTS], inputs["sha256"]
        kind, packed = contents["line"]
        memory = parse_entry(contents["memory"], where) if "memory" in contents else None
        if not all(isinstance(text, str) for text in (kind, packed, *hashes, *hashes.values())):
            raise TypeError
    except (AssertionError, AttributeError, KeyError, TypeError, ValueError):
        raise DataError("what this drive was made of cannot be read", where=f"{where}, inputs") from None
    return DriveContents((kind, packed), memory, dict(hashes))


def check_inputs(contents: DriveContents, spec: DriveSpec, hashes: Mapping[str, str]) -> None:
    """Compare the inputs of a drive with those of the one that it repeats.

    Args:
        contents: of the one before.
        spec: this drive.
        hashes: of this drive's inputs.

    Raises:
        DataError: an input has changed since; the line says which.
    """
    names = {"driver": spec.first.driver, "config": spec.first.config, "car": spec.car, "track": spec.track}
    for what, before in contents.sha256.items():
        if what in hashes and hashes[what] != before:
            raise DataError(
                f"the {what} has changed since that drive", where=names.get(what, what),
                expected=f"SHA-256 {before[:12]}", got=hashes[what][:12],
                hint=f"put the old one back, or name one by --{what.rpartition(' ')[2]}",
            )  # fmt: skip
