"""The checkpoint of a training: everything that is needed to go on to the bit, in one .npz written atomically."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from trailbrake.drivers.loading.policy_archive import decode_header, read_arrays, write_arrays
from trailbrake.drivers.loading.race_policy import digest_observation
from trailbrake.errors import DataError, TrailbrakeError, UsageError
from trailbrake.train.rl.networks import Weights
from trailbrake.train.rl.options import RlOptions
from trailbrake.user_files import open_user_file

KIND, VERSION = "trailbrake rl checkpoint", 1
MAX_BYTES = 1 << 30  # unpacked: a small file must not allocate unlimited memory
_PREFIX = "state."  # before the names of the learner's arrays


@dataclass(frozen=True)
class TrainingProgress:
    """How far a training is.

    Attributes:
        iteration: iterations done.
        steps: of all cars.
        wall_time: s.
        cpu_time: s of processor time.
        best_score: of the best policy so far, `evaluation.score_results`.
        best_iteration: after which that policy was judged; 0 where none was.
    """

    iteration: int = 0
    steps: int = 0
    wall_time: float = 0.0
    cpu_time: float = 0.0
    best_score: float = 1e9
    best_iteration: int = 0


def _describe_learner(options: RlOptions) -> dict[str, Any]:
    # What must be the same for the arrays of a learner to fit.
    return {
        "method": "ppo", "observe": list(options.observed_parts), "hidden": options.hidden,
        "period": options.period, "steer_rate": options.steer_rate, "pedal_rate": options.pedal_rate,
        "observation": digest_observation(options.observed_parts),
    }  # fmt: skip


def write_checkpoint(path: Path, options: RlOptions, progress: TrainingProgress, state: Weights) -> None:
    """Write a checkpoint, whole or not at all; OSError where that fails, and the old one stays."""
    header = {
        "kind": KIND, "version": VERSION, "learner": _describe_learner(options), "progress": asdict(progress),
        "judged": list(options.judged_tracks),
    }  # fmt: skip
    write_arrays(path, {"header": np.array(json.dumps(header)), **{_PREFIX + k: v for k, v in state.items()}})


def read_checkpoint(path: Path, options: RlOptions) -> tuple[TrainingProgress, Weights]:
    """Return how far the training was, and the state of its learner; no best score where other tracks judge now.

    Raises:
        UsageError: there is no such file, it cannot be read, or it is of a learner with other options.
        DataError: it is no checkpoint, of another version, or damaged.
    """
    try:
        with open_user_file(path, "checkpoint", hint="leave out --resume to begin") as file:
            arrays = read_arrays(file, MAX_BYTES, "checkpoint", path)
        header = decode_header(arrays["header"])
        _check_header(header, options, path)
        state = {k.removeprefix(_PREFIX): v for k, v in arrays.items() if k.startswith(_PREFIX)}
        if any(values.dtype.kind not in "biuf" for values in state.values()):
            raise ValueError("an array of something else than numbers")
        progress = msgspec.convert(header["progress"], TrainingProgress)
        if header.get("judged") != list(options.judged_tracks):  # scores on other tracks do not compare
            progress = replace(progress, best_score=TrainingProgress.best_score, best_iteration=0)
        return progress, state
    except TrailbrakeError:
        raise
    # The errors of zip, NumPy and JSON readers have no common base.
    except Exception as error:
        raise DataError("not a checkpoint", where=str(path), expected="a file of trailbrake train rl, whole",
                        got=" ".join(str(error).split())[:160] or type(error).__name__,
                        hint="leave out --resume and name another --out") from error  # fmt: skip


def _check_header(header: Mapping[str, Any], options: RlOptions, path: Path) -> None:
    if header["kind"] != KIND:
        raise ValueError(f"a file of another kind: {str(header['kind'])[:40]!r}")
    if header["version"] != VERSION:
        raise DataError("a checkpoint of another version", where=str(path), expected=str(VERSION),
                        got=str(header["version"])[:40], hint="begin anew in another folder")  # fmt: skip
    found, wanted = header["learner"], _describe_learner(options)
    for name, value in wanted.items():
        if found.get(name) != value:
            raise UsageError("the checkpoint is of another learner", where=f"{path}, {name}", expected=str(value),
                             got=str(found.get(name))[:80], hint="use the options that it began with")  # fmt: skip
