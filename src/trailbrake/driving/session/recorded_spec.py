"""The drive behind a recording: what stands in it since there are specs, else what older recordings tell."""

from collections.abc import Mapping
from typing import NamedTuple

from msgspec.structs import replace

from trailbrake.driving.session.drive_inputs import DriveContents, read_contents
from trailbrake.driving.spec import DriveSpec, EmbeddedSite, KeepSpec, LiveSite, make_spec, parse_spec
from trailbrake.errors import DataError
from trailbrake.json_types import JsonObject
from trailbrake.record.recording_reader import Recording

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
    """Return the drive of a recording.

    Raises:
        DataError: it is no drive of ours, or its spec cannot be used.
    """
    about, where = recording.about, str(recording.path)
    if "spec" in about:
        spec = parse_spec(about["spec"], f"{where}, spec")
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
    """Return the spec of a drive like a recorded one: embedded, unless `live`; kept where this drive's options say."""
    spec = replace(drive.spec, keep=KeepSpec(signals=drive.spec.keep.signals))
    site = spec.site
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
