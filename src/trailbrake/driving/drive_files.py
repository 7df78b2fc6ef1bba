"""`open_drive`: the one loader of what can be read as a drive.

It reads recordings of ours, recorded sessions of simulators, and lap logs of others.
"""

import os
import tempfile
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

import numpy as np

from trailbrake.config import logs_folder
from trailbrake.driving.session_recording import record_session
from trailbrake.errors import OsErrors, UsageError
from trailbrake.record.format import SUFFIX
from trailbrake.record.lap_logs import describe_log, digest_file, is_lap_log, read_lap_log
from trailbrake.record.recording_reader import Recording
from trailbrake.sims import registry
from trailbrake.simulator import AnySimulator, load_part


def open_drive(path: str | Path, rate: float = 0.0, say: Callable[[str], None] = lambda text: None) -> Recording:
    """Return a drive as a recording, whose `path` is that of the file.

    What is no recording is converted, and kept in the cache folder; a lap log only once.

    Args:
        path: a recording, a recorded session of a simulator, or a lap log.
        rate: rows per second of a simulator's table without a column of time; 0 = the simulator's.
        say: takes lines for the user.

    Raises:
        UsageError: it cannot be read, or has no such rate.
        DataError: it is none of these, or is damaged.
    """
    path = Path(path)
    simulator = None if path.suffix == SUFFIX or not path.is_file() else find_session_simulator(path)
    if rate and simulator is None:
        raise UsageError(
            "the file has its own times", where="--rate", hint="it is for tables of a simulator's messages"
        )
    if simulator is not None:
        opened = _open_session(simulator, path, rate, say)
    elif is_lap_log(path):
        opened = read_lap_log(path)
        for line in describe_log(opened):
            say(line)
    else:
        return Recording.open(path)
    if gaps := list_gaps(opened):
        say(f"what it lacks: {'; '.join(gaps)}")
    return opened


def find_session_simulator(path: Path) -> AnySimulator | None:
    """Return the simulator whose messages are recorded in a file; None for any other file."""
    for simulator in registry.list_simulators().simulators:
        part = simulator.tools.get("replay")
        if part is not None and load_part(part).is_recorded_session(path):
            return simulator
    return None


def _open_session(simulator: AnySimulator, path: Path, rate: float, say: Callable[[str], None]) -> Recording:
    kept = logs_folder() / f"{digest_file(path, simulator.name, rate)}{SUFFIX}"
    options, tool = None, simulator.load_recorder()
    if rate:
        if tool is None or "rate" not in {field.name for field in fields(tool.options)}:
            raise UsageError(f"sessions of {simulator.name} have their own times", where="--rate")
        options = replace(tool.options(), rate=rate)
    with OsErrors("cannot write the cache", where=str(kept.parent)):
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as folder:  # again each time: what it says is for the user
            found = record_session(simulator, options, source=path, out=Path(folder), say=say)
            os.replace(found["recording"], kept)
    opened = Recording.open(kept)
    opened.path = path
    return opened


# In words, and the columns of which one is enough.
_WANTED = {
    "positions": ("x",),
    "throttle": ("throttle",),
    "brake": ("brake",),
    "steer": ("steer", "steering_wheel_angle"),
    "gear": ("gear",),
    "engine speed": ("engine_speed",),
    "accelerations": ("acceleration_y",),
    "yaw rate": ("yaw_rate",),
    "slip of the body": ("velocity_y",),
    "wheel speeds": ("fl_angular_velocity", "rl_angular_velocity"),
}
_TOUCHED = ("throttle", "brake", "steer", "gear")


def list_gaps(recording: Recording) -> list[str]:
    """Return what is missing, one part of a sentence each: laps, channels, controls that were never touched."""
    gaps = [] if recording.laps else ["no finished lap"]
    if not len(recording):
        return [*gaps, "no samples"]
    missing = []
    for words, columns in _WANTED.items():
        known = [values for values in (recording.state[name] for name in columns) if np.isfinite(values).any()]
        if not known:
            missing.append(words)
        elif words in _TOUCHED and all(np.nanmax(values) == np.nanmin(values) for values in known):
            gaps.append(f"the {words} never changes" if words == "gear" else f"the {words} is never touched")
    return [*gaps, *([f"not recorded: {', '.join(missing)}"] if missing else [])]
