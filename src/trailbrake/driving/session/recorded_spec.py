"""The drive behind a recording: what stands in it since there are specs, else what older recordings tell."""

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from trailbrake.driving.goals import Laps
from trailbrake.driving.options import DriveOptions
from trailbrake.driving.session.drive_inputs import DriveContents, read_contents
from trailbrake.driving.spec import DriveSpec, EmbeddedSite, KeepSpec, LiveSite, parse_spec
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
    names = {"sim": str, "driver": str, "track": str, "car": str, "laps": int, "seed": int, "speed": str, "live": bool,
             "camera": str, "gain": list, "world": list}  # fmt: skip
    known = {name: about[name] for name, kind in names.items() if isinstance(about.get(name), kind)}
    if known.get("live"):
        known.pop("world", None)
    known |= {name: tuple(map(str, known[name])) for name in ("gain", "world") if name in known}
    return DriveOptions(**known).make_spec()


def make_like(drive: DriveOfRecording, *, live: bool) -> DriveSpec:
    """Return the spec of a drive like a recorded one: embedded, unless `live`; kept where this drive's options say."""
    spec = msgspec.structs.replace(drive.spec, keep=KeepSpec(signals=drive.spec.keep.signals))
    site = spec.site
    if isinstance(site, LiveSite) and not live:
        embedded = EmbeddedSite(sim=site.sim, track=spec.track, car=spec.car, options=site.options)
        return msgspec.structs.replace(spec, site=embedded)
    if isinstance(site, EmbeddedSite) and live:
        game = LiveSite(sim=site.sim, options=site.options)
        return msgspec.structs.replace(spec, site=game)
    return spec


def override_spec(spec: DriveSpec, options: DriveOptions, given: frozenset[str], live: object) -> DriveSpec:
    """Return a drive with the options that the user has given.

    Args:
        spec: the drive.
        options: of the user.
        given: names of the options that count.
        live: the simulator's live options of the user; None: those of the drive.
    """
    wanted = options.make_spec(live)
    site, first, keep = {}, {}, {}
    for name in given:
        if name in ("laps", "seconds"):
            continue
        if name in KeepSpec.__struct_fields__:
            keep[name] = getattr(wanted.keep, name)
        elif name in ("track", "car"):
            first[name] = getattr(wanted, name)
            if isinstance(spec.site, EmbeddedSite) and not getattr(spec.first, name):
                site[name] = getattr(wanted, name)
                first[name] = ""
        elif name == "world" and isinstance(wanted.site, EmbeddedSite):
            site["conditions"] = wanted.site.conditions
        elif hasattr(wanted.first, name):
            first[name] = getattr(wanted.first, name)
        elif hasattr(spec.site, name):
            site[name] = getattr(wanted.site, name)
    if live is not None:
        site["options"] = wanted.site.options
    goal = wanted.goal if given & {"laps", "seconds"} else spec.goal
    if "laps" in given and "seconds" not in given and isinstance(spec.goal, Laps):
        goal = msgspec.structs.replace(spec.goal, count=options.laps)
    spec = msgspec.structs.replace(
        spec,
        goal=goal,
        site=msgspec.structs.replace(spec.site, **site),
        keep=msgspec.structs.replace(spec.keep, **keep),
    )
    spec = spec.with_cars(**first) if first else spec
    return msgspec.structs.replace(spec, cars=(spec.first,) * options.cars) if "cars" in given else spec


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
