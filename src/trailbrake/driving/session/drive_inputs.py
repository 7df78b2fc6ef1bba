"""What a drive was made of: versions, hashes of its files, and the content of those that the drive itself changes.

The drive behind a recording: what stands in it since there are specs, else what older recordings tell.
"""

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
from msgspec.structs import replace

from trailbrake.drivers.loading import policy
from trailbrake.driving.session.driver_memory import DriverMemory, MemoryEntry, parse_entry
from trailbrake.driving.session.line_choice import OWN, ChosenLine, pack_content
from trailbrake.driving.spec import DriveSpec, EmbeddedSite, LiveSite, make_spec, parse_spec
from trailbrake.errors import DataError, TrailbrakeError
from trailbrake.json_types import JsonObject
from trailbrake.planning.course import Course, UnmappedCourse
from trailbrake.planning.line_file import car_digest, road_digest
from trailbrake.record.recording_reader import Recording
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
    site, files = spec.site, {"sim": spec.site.sim}
    if isinstance(site, EmbeddedSite):
        files |= {"world's car": site.car, "world's track": site.track}
    for name, text in files.items():
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
    names = {"driver": spec.first.driver, "config": spec.first.config, "car": spec.car, "track": spec.track,
             "sim": spec.site.sim}  # fmt: skip
    for what, before in contents.sha256.items():
        if what in hashes and hashes[what] != before:
            raise DataError(
                f"the {what} has changed since that drive", where=names.get(what, what),
                expected=f"SHA-256 {before[:12]}", got=hashes[what][:12],
                hint=f"put the old one back, or name one by --{what.rpartition(' ')[2]}",
            )  # fmt: skip


# What recordings without a spec do not tell.
LACKS = ("gains of a file", "line", "options of wire and host", "memory", "hashes of driver, car and track")


class DriveOfRecording(NamedTuple):
    """The drive of a recording.

    Attributes:
        spec: the drive.
        contents: what it had at its start; None: the recording does not tell.
        lacks: what is not known of it, in words.
    """

    spec: DriveSpec
    contents: DriveContents | None = None
    lacks: tuple[str, ...] = ()


def read_recorded_drive(recording: Recording) -> DriveOfRecording:
    """Return the drive of a recording, without its folders: a drive like it is kept in the usual ones.

    Raises:
        DataError: it is no drive of ours, or its spec cannot be used.
    """
    about, where = recording.about, str(recording.path)
    if "spec" in about:
        spec = parse_spec(about["spec"], f"{where}, spec")
        spec = replace(spec, keep=replace(spec.keep, out="", log=""))
        contents = read_contents(about["inputs"], where) if "inputs" in about else None
        return DriveOfRecording(spec, contents, () if contents is not None else ("what files it was made of",))
    return DriveOfRecording(_rebuild_spec(about, where), None, LACKS)


def _rebuild_spec(about: JsonObject, where: str) -> DriveSpec:
    if not isinstance(about.get("driver"), str) or not isinstance(about.get("sim"), str):
        raise DataError("no driver of ours drove this recording", where=where, expected="a recording of `drive`")
    kinds = {"sim": str, "track": str, "car": str, "live": bool, "world": list, "driver": str, "gain": list,
             "laps": int, "camera": str, "seed": int, "speed": str}  # fmt: skip
    known = {name: about[name] for name, kind in kinds.items() if isinstance(about.get(name), kind)}
    known |= {name: tuple(map(str, known[name])) for name in ("gain", "world") if name in known}
    if known.get("live"):
        known.pop("world", None)
    return make_spec(**known)


def make_like(drive: DriveOfRecording, *, live: bool) -> DriveSpec:
    """Return the spec of a drive like a recorded one: embedded, unless `live`."""
    spec, site = drive.spec, drive.spec.site
    if isinstance(site, LiveSite) and not live:
        embedded = EmbeddedSite(sim=site.sim, track=spec.track, car=spec.car, options=site.options)
        return replace(spec, site=embedded)
    if isinstance(site, EmbeddedSite) and live:
        game = LiveSite(sim=site.sim, options=site.options)
        return replace(spec, site=game)
    return spec


def list_differences(before: object, after: object, path: str = "") -> list[str]:
    """Return a line for each value in which two specs as plain values differ: place, before, after."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        names = sorted({*before, *after})
        return [
            line for name in names for line in list_differences(before.get(name), after.get(name), f"{path}.{name}")
        ]
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after) and before:
        return [
            line
            for number, (one, two) in enumerate(zip(before, after, strict=True))
            for line in list_differences(one, two, f"{path}[{number}]")
        ]
    return [] if before == after else [f"{path.lstrip('.')}: {before} -> {after}"]
