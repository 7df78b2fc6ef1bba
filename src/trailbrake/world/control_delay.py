"""`ControlDelay`: the time from a control at the simulator's end of the wire until it acts."""

from collections import deque
from collections.abc import Sequence
from copy import copy

from trailbrake.state import Controls

MAX_PART = 0.0036  # s: a delay is rounded to parts of a period that are no longer


def divide_period(period: float, substeps: int) -> int:
    """Return the number of equal parts of whole substeps, none longer than MAX_PART unless a substep is.

    Parts of different lengths would not do: the outer step extrapolates the ground by the length of its last call.

    Args:
        period: s.
        substeps: of a period.
    """
    return next(
        parts for parts in range(1, substeps + 1)
        if parts == substeps or (substeps % parts == 0 and period <= parts * MAX_PART)
    )  # fmt: skip


class ControlDelay:
    """Holds back the controls of each car by its own delay.

    Args:
        delays: s, one per car; rounded to parts.
        period: s, of the world.
        substeps: of a period.

    Attributes:
        parts: number of equal parts into which a period is divided.
    """

    def __init__(self, delays: Sequence[float], period: float, substeps: int) -> None:
        self.parts = divide_period(period, substeps)
        late = [round(delay / period * self.parts) for delay in delays]
        self._periods = [count // self.parts for count in late]  # whole periods by which a car's controls are late
        self._begins = [count % self.parts for count in late]  # part of a period in which they change
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

    def delay_controls(self, controls: Sequence[Controls]) -> list[list[tuple[int, Controls]]]:
        """Return what changes in each part of the next period: (car, controls that act from then on).

        Args:
            controls: what arrives now, one per car.
        """
        parts: list[list[tuple[int, Controls]]] = [[] for _ in range(self.parts)]
        for car, wanted in enumerate(controls):
            waiting = self._waiting[car]
            waiting.append(copy(wanted))  # the sender may use the object again
            before = waiting.popleft()
            if self._begins[car]:  # after a restart this is not what acted last
                parts[0].append((car, before))
            parts[self._begins[car]].append((car, waiting[0]))
        return parts
