"""`ControlDelay`: the time from a control at the simulator's end of the wire until it acts, exact to a substep."""

from collections import deque
from collections.abc import Sequence
from copy import copy
from typing import NamedTuple

from trailbrake.state import Controls


class DelayedPart(NamedTuple):
    """A part of a period in which the controls that act stay the same.

    Attributes:
        substeps: its length.
        controls: (car, controls) of the cars whose controls change at its beginning.
    """

    substeps: int
    controls: list[tuple[int, Controls]]


class ControlDelay:
    """Holds back the controls of each car by its own delay.

    Args:
        delays: s, one per car; rounded to substeps.
        dt: s, length of a substep.
        substeps: of a period.
    """

    def __init__(self, delays: Sequence[float], dt: float, substeps: int) -> None:
        self._substeps = substeps
        late = [round(delay / dt) for delay in delays]
        self._periods = [count // substeps for count in late]  # whole periods by which a car's controls are late
        self._begins = [count % substeps for count in late]  # substep of a period at which they change
        self._waiting: list[deque[Controls]] = [deque() for _ in late]
        self.clear_all()

    def clear_all(self) -> None:
        """Discard the controls of all cars that have not acted yet: neutral ones take their place."""
        for car in range(len(self._waiting)):
            self.clear_car(car)

    def clear_car(self, car: int) -> None:
        """Discard the controls of a car that have not acted yet: neutral ones take their place."""
        waiting = self._waiting[car]
        waiting.clear()
        waiting.extend(Controls() for _ in range(self._periods[car] + 1))

    def delay_controls(self, controls: Sequence[Controls]) -> list[DelayedPart]:
        """Return the parts of the next period, first to last; `controls[i]` is what arrives now for car i."""
        changes: dict[int, list[tuple[int, Controls]]] = {0: []}
        for car, wanted in enumerate(controls):
            waiting = self._waiting[car]
            waiting.append(copy(wanted))  # the sender may use the object again
            before = waiting.popleft()
            begins = self._begins[car]
            if begins:  # a car that was moved or restarted meanwhile acts on what was before
                changes[0].append((car, before))
            changes.setdefault(begins, []).append((car, waiting[0]))
        starts = sorted(changes)
        ends = [*starts[1:], self._substeps]
        return [DelayedPart(end - start, changes[start]) for start, end in zip(starts, ends, strict=True)]
