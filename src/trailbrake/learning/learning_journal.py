"""What a learning has driven so far, in a folder beside its result: the same command resumes."""

import os
from collections.abc import Callable
from pathlib import Path

import msgspec

from trailbrake.campaign.case_run import CaseStore, fingerprint_case
from trailbrake.learning.identification.planned_car import PlanReduction

SUFFIX = ".learning"


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


def journal_folder(result: Path) -> Path:
    """Return the folder with the journals of the learnings that write the file `result`."""
    return result.with_suffix(SUFFIX)


class LearningJournal:
    """The steps of one learning. Each `add_step` writes them.

    Args:
        folder: of journals.
        basis: what the learning is about, in plain values; a journal of another basis is another one.
        again: starts over, whatever there is.
        show_message: receives lines for the user.

    Attributes:
        steps: in the order of the drive; those whose recordings are gone are left out.

    Raises:
        UsageError: the folder cannot be made.
    """

    def __init__(self, folder: Path, basis: object, *, again: bool, show_message: Callable[[str], None]) -> None:
        self._store = CaseStore(folder, list[LearningStep], any_source=True)  # a drive holds for any code
        self._basis, self._fingerprint = basis, fingerprint_case(basis)
        stored = None if again else self._store.read_result(self._fingerprint)
        # os.path: also False for a name that no file can have.
        self.steps: list[LearningStep] = [step for step in stored or [] if os.path.isfile(step.recording)]
        if self.steps:
            seconds = sum(step.seconds for step in self.steps)
            show_message(f"{folder}: resumes after {len(self.steps)} drives, {seconds:.0f} s; --again starts over")

    def list_steps(self, name: str) -> list[LearningStep]:
        """Return the drives of one step."""
        return [step for step in self.steps if step.name == name]

    def is_finished(self, name: str) -> bool:
        """Return whether a step is over."""
        return any(step.finished for step in self.list_steps(name))

    def add_step(self, step: LearningStep) -> None:
        """Keep a drive; UsageError where it cannot be written."""
        self.steps.append(step)
        self._store.store_result(self._fingerprint, self._basis, self.steps)
