"""`StandstillTimer`: tells a car that stands from one that a single sample, or a jump, shows at rest."""

import math

from trailbrake.state import CarState

STANDSTILL_TIME_S = 0.5  # s of simulator time: a car that has just stopped rocks on its springs
LONGEST_GAP_S = 1.0  # s between two samples, in which the car may have done anything
DRIFT_MARGIN = 0.5  # m by which a standing car may appear to move


class StandstillTimer:
    """Measures for how long consecutive samples have shown a car at rest.

    A restart or gap of the clock and a position that moves begin the measurement anew.

    Args:
        speed_limit: m/s; a car that stands is slower.
    """

    def __init__(self, speed_limit: float) -> None:
        self._speed_limit = speed_limit
        self._since = self._time = self._x = self._y = math.nan

    def add_state(self, state: CarState) -> bool:
        """Count a fresh state; return whether the car has stood for STANDSTILL_TIME_S."""
        time = state.time
        if not state.speed < self._speed_limit:
            self._since = math.nan
            return False
        gap = time - self._time
        self._time = time
        moved = math.hypot(state.x - self._x, state.y - self._y)
        if math.isnan(self._since) or not 0.0 <= gap <= LONGEST_GAP_S or moved > DRIFT_MARGIN:
            self._since, self._x, self._y = time, state.x, state.y
        return time - self._since >= STANDSTILL_TIME_S
