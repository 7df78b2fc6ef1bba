"""What a learning has driven so far, in a file beside its result: the same command goes on from there."""

import hashlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from trailbrake.errors import DataError
from trailbrake.identification.planned_car import PlanReduction
from trailbrake.user_files import check_texts, parse_json, read_user_text, write_whole

FORMAT, VERSION = "trailbrake learning", 1
SUFFIX = ".learning.json"


class LearningStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One drive of a learning.

    Attributes:
        name: of the step: a step that was broken off is there more than once.
        recording: path of the recording.
        seconds: of simulator time.
        finished: whether the step is over; if not, it is driven again, and what was driven counts as well.
        left_road: whether it ended because the car left the road, or stood.
        outcome: how, in words; empty where it did not.
        car: digest of the car that was believed, of verification laps.
        reduction: what the next drive plans with.
    """

    name: str
    recording: str
    seconds: float
    finished: bool
    left_road: bool = False
    outcome: str = ""
    car: str = ""
    reduction: PlanReduction = PlanReduction()


class _Content(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    format: str
    version: int
    basis: str
    steps: list[LearningStep]


def journal_path(result: Path) -> Path:
    """Return the path of the journal of a learning that writes the file `result`."""
    return result.with_suffix(SUFFIX)


def hash_basis(parts: Sequence[object]) -> str:
    """Return a hash of what a learning is about; a journal with another one is not gone on with."""
    return hashlib.sha256(repr(tuple(parts)).encode()).hexdigest()[:16]


class LearningJournal:
    """The steps of one learning. Each `add_step` writes the file.

    Args:
        path: of the journal.
        basis: of `hash_basis`.
        again: begin anew, whatever the file says.
        show_message: receives lines for the user.

    Attributes:
        steps: in the order of the drive; those whose recordings are gone are left out.

    Raises:
        UsageError: the file cannot be read.
        DataError: it is no journal.
    """

    def __init__(self, path: Path, basis: str, *, again: bool, show_message: Callable[[str], None]) -> None:
        self._path, self._basis = path, basis
        self.steps: list[LearningStep] = []
        if again or not path.exists():
            return
        content = _read_content(path)
        if content.basis != basis:
            show_message(f"{path}: of another simulator, road or car; begun anew")
            return
        # os.path: also False for a name that no file can have.
        self.steps = [step for step in content.steps if os.path.isfile(step.recording)]
        if self.steps:
            seconds = sum(step.seconds for step in self.steps)
            show_message(f"{path}: goes on after {len(self.steps)} drives, {seconds:.0f} s; --again begins anew")

    def list_steps(self, name: str) -> list[LearningStep]:
        """Return the drives of one step."""
        return [step for step in self.steps if step.name == name]

    def is_finished(self, name: str) -> bool:
        """Return whether a step is over."""
        return any(step.finished for step in self.list_steps(name))

    def add_step(self, step: LearningStep) -> None:
        """Keep a drive; UsageError where the file cannot be written."""
        self.steps.append(step)
        content = _Content(FORMAT, VERSION, self._basis, self.steps)
        write_whole(self._path, msgspec.json.format(msgspec.json.encode(content)) + b"\n", "what was driven")


def _read_content(path: Path) -> _Content:
    values = parse_json(read_user_text(path, "journal of a learning"), str(path))
    check_texts(values, str(path))
    try:
        content = msgspec.convert(values, _Content)
    except msgspec.ValidationError as error:
        raise DataError(f"no journal of a learning: {error}", where=str(path), hint="--again begins anew") from None
    if (content.format, content.version) != (FORMAT, VERSION):
        raise DataError("no journal of this version", where=str(path), expected=f"{FORMAT} {VERSION}",
                        got=f"{content.format} {content.version}", hint="--again begins anew")  # fmt: skip
    return content
