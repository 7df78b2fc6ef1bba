"""A cloning as a task: `clone_policy` from bytes to bytes. The recordings are read where it runs."""

import math
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec

from trailbrake.train.clone import clone_policy
from trailbrake.train.options import CloneOptions
from trailbrake.user_files import read_user_file

CLONE_TASK = "trailbrake.train.clone_task:run_clone_task"
MAX_FILE = 256 << 20  # bytes of a policy or a report


class CloneJob(msgspec.Struct, frozen=True):
    """A policy to learn.

    Attributes:
        paths: of recordings and folders, the same on every node.
        options: values of `CloneOptions` by name, without `out`.
    """

    paths: list[str]
    options: dict[str, Any]


class CloneAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What came out.

    Attributes:
        policy, report: the files, as bytes.
        pictures: learned from.
        loss, error: of the last epoch, on what was held out; None where nothing was.
        cpu_s: s of processor time.
    """

    policy: bytes
    report: bytes
    pictures: int
    loss: float | None
    error: float | None
    cpu_s: float


def encode_clone_job(paths: Sequence[Path], options: CloneOptions) -> bytes:
    """Return a training as the argument of a task; where its policy is to go does not count.

    Args:
        paths: recordings and folders.
        options: how.
    """
    values = asdict(options)
    del values["out"]
    return msgspec.msgpack.encode(CloneJob([str(path) for path in paths], values))


def run_clone_task(argument: bytes) -> bytes:
    """Learn the policy of an encoded `CloneJob` and return an encoded `CloneAnswer`."""
    job = msgspec.msgpack.decode(argument, type=CloneJob)
    with tempfile.TemporaryDirectory(prefix="trailbrake-clone-") as folder:
        options = CloneOptions(**job.options, out=Path(folder) / "policy.npz")
        result = clone_policy([Path(path) for path in job.paths], options, _print_line)
        last = result["epochs"][-1]
        return msgspec.msgpack.encode(CloneAnswer(
            policy=read_user_file(result["policy"], "policy", MAX_FILE),
            report=read_user_file(result["report"], "report", MAX_FILE),
            pictures=result["pictures"], loss=_finite(last["held_loss"]), error=_finite(last["held_error"]),
            cpu_s=result["cpu_s"],
        ))  # fmt: skip


def _print_line(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
