"""Measures the time between two messages, by a clock in the messages or by the way of the car, to check the options.

The wire of generation 1 has no clock: an end that assumes another period than the game's counts time wrongly, and every
rate with it, while all messages arrive. The way of a moving car over its speed shows that.
"""

import math

from trailbrake.sims.beamng.timing import PHYSICS_STEP
from trailbrake.state import CarState

MIN_SPEED = 3.0  # m/s, below which a car that rocks on its springs falsifies the way
MIN_MESSAGES = 100
MIN_WAY = 2.0  # m
MIN_CLOCK_TIME = 0.5  # s: a sensor's clock may stand still for a graphics frame


class PeriodCheck:
    """Compares the assumed period with the messages.

    Args:
        period: s of simulator time between two messages, as the options give it.

    Attributes:
        measured: s; NaN until it is known.
        finding: one line for the user where the measured period contradicts the assumed one, else "".
        done: whether the measurement is over.
    """

    def __init__(self, period: float) -> None:
        self._period = period
        self._clock_start: tuple[int, float] | None = None  # sequence and time of the first message with a clock
        self._previous: CarState | None = None
        self._way = self._speed_sum = 0.0  # m, and m/s summed over messages
        self._messages = 0
        self.measured, self.finding, self.done = math.nan, "", False

    def add_state(self, state: CarState, clock: float) -> None:
        """Use a state in order of arrival; `clock` is the simulator's time in its message, s, NaN if there is none."""
        if clock == clock:
            self._compare_clocks(state.sequence, clock)
        else:
            self._compare_way(state)

    def _compare_clocks(self, sequence: int, clock: float) -> None:
        start = self._clock_start
        if start is None or sequence <= start[0] or clock < start[1]:
            self._clock_start = sequence, clock
        elif sequence - start[0] >= MIN_MESSAGES and clock - start[1] >= MIN_CLOCK_TIME:
            self._finish((clock - start[1]) / (sequence - start[0]), "a sensor's clock")

    def _compare_way(self, state: CarState) -> None:
        before, self._previous = self._previous, state
        if before is None or not 0 < state.sequence - before.sequence < MIN_MESSAGES or not state.speed > MIN_SPEED:
            return
        messages = state.sequence - before.sequence
        step = math.dist((state.x, state.y, state.z), (before.x, before.y, before.z))
        if not step < 10.0 * state.speed * messages * max(self._period, PHYSICS_STEP):  # a teleport, or no position
            return
        self._way += step
        self._speed_sum += 0.5 * (state.speed + before.speed) * messages
        self._messages += messages
        if self._messages >= MIN_MESSAGES and self._way >= MIN_WAY:
            self._finish(self._way / self._speed_sum, "the way of the car")

    def _finish(self, measured: float, source: str) -> None:
        self.measured, self.done = measured, True
        self._previous = None
        if abs(measured - self._period) > max(0.5 * PHYSICS_STEP, 0.2 * self._period):
            steps = max(round(measured / PHYSICS_STEP), 1) * PHYSICS_STEP
            self.finding = (
                f"a message comes every {measured * 1e3:.3g} ms by {source}, but the options say "
                f"{self._period * 1e3:g} ms: state.time and all rates are wrong; "
                f"give --simulink-time as the game has it: {steps:g}"
            )
