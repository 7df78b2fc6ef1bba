"""Correction rounds: the policy drives, and an expert labels each of its pictures with its own controls.

Source: Ross, Gordon, Bagnell, A reduction of imitation learning and structured prediction to no-regret online learning
(DAgger), AISTATS 2011. The expert runs afterwards on the recorded states.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trailbrake.drivers.loading.driver_registry import load_driver
from trailbrake.drivers.loading.policy import PREFIX
from trailbrake.driving.session.drive_session import drive
from trailbrake.errors import UsageError
from trailbrake.planning.course import UnmappedCourse
from trailbrake.record.recording_reader import Recording
from trailbrake.sims import registry
from trailbrake.state import CarState, Image
from trailbrake.train.options import CloneOptions
from trailbrake.train.sources import RecordingSource, TrainingSource

DRIVES_PER_ROUND = 4  # the next round continues in the list where this one ends
# What a camera's expert may ask for: a recording has it in its columns.
EXPERT_FIELDS = ("time", "speed", "steer", "throttle", "brake", "lap", "lap_time")


@dataclass(frozen=True)
class PracticeDrive:
    """A drive of the policy: a track, and the host's options."""

    track: str
    host: tuple[str, ...]


def plan_practice(sources: Sequence[TrainingSource], options: CloneOptions) -> list[PracticeDrive]:
    """Return the drives of which the rounds take theirs: every track in every paint.

    Raises:
        UsageError: no track is known; the expert cannot drive by what is recorded.
    """
    expert = load_driver(options.expert)
    beyond = set(expert.NEEDS) - {*EXPERT_FIELDS, "image"}
    if beyond:
        raise UsageError("this expert needs more than pictures", where="--expert", expected="one like lane_sign",
                         got=f"{options.expert}, which needs {', '.join(sorted(beyond))}")  # fmt: skip
    tracks = [track for track in options.tracks.split(",") if track]
    if not tracks:
        known = [
            source.open_recording().about.get("track", "") for source in sources if isinstance(source, RecordingSource)
        ]
        tracks = [track for track in dict.fromkeys(known) if track]
    if not tracks:
        raise UsageError("no track to practise on", where="--rounds", expected="--tracks NAME,NAME",
                         hint="a driving_log.csv does not say where it was driven")  # fmt: skip
    serve = registry.find(options.sim).serve_options
    painted = any(item.name == "look" for item in fields(serve))
    looks = [(f"look={look}",) for look in options.look.split(",") if look] if painted else [()]
    return [PracticeDrive(track, host) for track in tracks for host in looks or [()]]


def run_correction_round(
    policy: Path, practice: Sequence[PracticeDrive], number: int, options: CloneOptions, say: Callable[[str], None]
) -> tuple[list[TrainingSource], list[dict[str, Any]]]:
    """Let the policy drive and the expert label its drives; return them as sources, and a result of each drive."""
    corrected: list[TrainingSource] = []
    results: list[dict[str, Any]] = []
    for i in range(min(DRIVES_PER_ROUND, len(practice))):
        task = practice[(number * DRIVES_PER_ROUND + i) % len(practice)]
        summary = drive(
            sim=options.sim, driver=f"{PREFIX}{policy}", track=task.track, host=task.host, laps=1,
            seconds=options.seconds, report=False, out=options.out.parent / f"{options.out.stem}_rounds",
        )  # fmt: skip
        result = {"round": number + 1, "track": task.track, "host": list(task.host), "contacts": summary["contacts"],
                  "laps": len(summary["laps"]), "recording": summary["recording"]}  # fmt: skip
        say(f"round {number + 1}: {task.track} {' '.join(task.host)}: {result['laps']} laps, {result['contacts']:g} "
            "contacts")  # fmt: skip
        results.append(result)
        path = Path(summary["recording"])
        corrected.append(RecordingSource(path, compute_expert_answers(Recording.open(path), options.expert)))
    return corrected, results


def compute_expert_answers(recording: Recording, expert: str) -> NDArray[np.float64]:
    """Return the steer and the pedal (n, 2) that an expert answers at each row; NaN at rows without a picture."""
    driver = load_driver(expert)
    driver.reset(UnmappedCourse())
    columns = {name: recording.state[name] for name in EXPERT_FIELDS}
    answers = np.full((len(recording), 2), np.nan)
    last = np.nan
    for picture in recording.pictures():
        state = CarState(image=Image(picture.data, _decode_picture))
        for name, column in columns.items():
            setattr(state, name, float(column[picture.row]))
        dt = state.time - last
        controls = driver.act(state, dt if 0.0 < dt < 1.0 else 0.0)
        last = state.time
        backs = controls.gear is not None and controls.gear < 0
        answers[picture.row] = controls.steer, -controls.throttle if backs else controls.throttle - controls.brake
    return answers


def _decode_picture(data: bytes) -> Any:
    from PIL import Image as Picture

    with Picture.open(BytesIO(data), formats=("JPEG", "PNG")) as picture:
        return np.asarray(picture.convert("RGB"))
