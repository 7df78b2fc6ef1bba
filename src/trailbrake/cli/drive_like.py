"""`drive --like RUN`: a recorded drive again, with what the user names changed, and what that changes."""

import contextlib
import re
import sys
from pathlib import Path
from typing import Any

import msgspec

from trailbrake.analysis.lap_table import format_lap_time
from trailbrake.cli.drive import report_drive
from trailbrake.cli.drive_flags import DriveFlags, override_spec
from trailbrake.cli.output import print_notice
from trailbrake.dashboard.options import PageOptions
from trailbrake.driving.goals import Laps
from trailbrake.driving.spec import DriveSpec
from trailbrake.errors import UsageError

OTHER_INPUTS = frozenset({"driver", "track", "car", "line", "cached_line"})  # with which the line is chosen anew


def drive_like(
    like: str, flags: DriveFlags, given: frozenset[str], live: object, page: PageOptions, *, json: bool
) -> int:
    """Drive a recorded drive again, print the summary and the difference, and return the exit code.

    Args:
        like: a recording, a run, or a TOML or JSON file of a drive.
        flags: of the command line.
        given: names of those that are there.
        live: the simulator's live options of the command line; None without any.
        page: the live page.
        json: whether one object is printed.
    """
    from trailbrake.cli.runs import find_recording
    from trailbrake.cli.terminal_progress import TerminalProgress
    from trailbrake.driving.session.drive_inputs import (
        DriveOfRecording,
        list_differences,
        make_like,
        read_recorded_drive,
    )
    from trailbrake.driving.session.drive_session import drive
    from trailbrake.driving.spec import read_spec, write_spec
    from trailbrake.record.recording_reader import Recording

    if page.watch:
        raise UsageError("a drive that is driven again has no page yet", where="--watch", hint="replay RUN --watch")
    if like.endswith((".toml", ".json")):
        recording, recorded, name = None, DriveOfRecording(read_spec(Path(like))), Path(like).name
    else:
        recording = Recording.open(find_recording(like))
        recorded, name = read_recorded_drive(recording), recording.path.name
    if "sim" in given and flags.sim != recorded.spec.site.sim:
        raise UsageError("a drive like it goes through its own wire", where="--sim", expected=recorded.spec.site.sim,
                         got=flags.sim)  # fmt: skip
    spec = override_spec(make_like(recorded, live=flags.live), flags, given, live)
    _check_files(spec)
    contents = recorded.contents
    if contents is not None:
        known = {what: value for what, value in contents.sha256.items() if what.rpartition(" ")[2] not in given}
        contents = contents._replace(sha256=known, line=None if given & OTHER_INPUTS else contents.line)
    if recorded.lacks:
        print_notice(f"trailbrake: {name} does not tell {', '.join(recorded.lacks)}")
    with TerminalProgress(f"like {name}", wanted=not json) as show, contextlib.redirect_stdout(sys.stderr):
        summary = drive(spec, contents=contents, listener=show, view=show if show.is_shown else None)
    before = [] if recording is None else [float(lap.time_s) for lap in recording.laps]
    changed = list_differences(write_spec(msgspec.structs.replace(recorded.spec, keep=spec.keep)), summary["spec"])
    after = [lap["time_s"] for lap in summary["laps"]]
    same = before == after if before or after else None
    summary["like"] = {"recording": None if recording is None else str(recording.path), "differences": changed,
                       "laps_before_s": before, "is_same": same}  # fmt: skip
    code = report_drive(summary, is_endless=isinstance(spec.goal, Laps) and not spec.goal.count, json=json)
    if not json and recording is not None:
        _print_differences(summary)
    return code


def _check_files(spec: DriveSpec) -> None:
    """Raise UsageError where a file that the drive names is not here: names are relative to where it was driven."""
    first, site = spec.first, spec.site
    for flag, name in (("sim", site.sim), ("track", spec.track), ("car", spec.car), ("driver", first.driver),
                       ("config", first.config)):  # fmt: skip
        path = Path(re.sub(r"^policy:|(?<=\.py):\w+$", "", name))
        if path.suffix and not path.is_absolute() and not path.exists():
            raise UsageError("the file that this drive names is not here", where=f"{flag} {name}",
                             hint=f"go to the folder that it was driven in, or give --{flag} FILE")  # fmt: skip


def _print_differences(summary: dict[str, Any]) -> None:
    like = summary["like"]
    for line in like["differences"]:
        print(f"changed   {line}")
    if like["is_same"]:
        print(f"like      {like['recording']}: the same laps, to the bit")
        return
    times = [lap["time_s"] for lap in summary["laps"]]
    if not times and not like["laps_before_s"]:
        print("like      no finished laps to compare")
    for number, (before, now) in enumerate(zip(like["laps_before_s"], times, strict=False), 1):
        print(f"lap {number}     {format_lap_time(before)} -> {format_lap_time(now)}  {now - before:+.3f} s")
    if len(times) != len(like["laps_before_s"]):
        print(f"laps      {len(like['laps_before_s'])} -> {len(times)}")
