"""The coupling's timing: message period and unanswered messages from the game's two times, and the expected pace.

Source: protocol page beamng-coupling, section 6.

Measures the time between two messages, by a clock in the messages or by the way of the car, to check the options.

The wire of generation 1 has no clock: an end that assumes another period than the game's counts time wrongly, and every
rate with it, while all messages arrive. The way of a moving car over its speed shows that.
"""

import math
from dataclasses import dataclass

from trailbrake.state import CarState

PHYSICS_STEP = 0.0005  # s, fixed in the game
MIN_SPEED = 3.0  # m/s, below which a car that rocks on its springs falsifies the way
MIN_MESSAGES = 100
MIN_WAY = 2.0  # m
MIN_CLOCK_TIME = 0.5  # s: a sensor's clock may stand still for a graphics frame


@dataclass(frozen=True, slots=True)
class CouplingTiming:
    """The timing that follows from `simulinkTime` and `pingTime`.

    Attributes:
        simulink_time: s, the given time that the controller computes.
        ping_time: s, the given round-trip time of the network.
        send_skips: physics steps without a message between two messages.
        unanswered: how many messages may be without an answer at once.
    """

    simulink_time: float
    ping_time: float
    send_skips: int
    unanswered: int

    @property
    def message_period(self) -> float:
        """Simulator time between two messages, s: the step that a controller must use."""
        return self.send_offset * PHYSICS_STEP

    @property
    def send_offset(self) -> int:
        """Physics steps between two messages (a name of the vendor's README)."""
        return self.send_skips + 1

    @property
    def window_width(self) -> int:
        """Physics steps between a message and the step at which its answer is due (a name of the vendor's README)."""
        return self.unanswered * self.send_offset

    @property
    def send_wait(self) -> int:
        """Physics steps before the simulator waits for the first time (a name of the vendor's README)."""
        return self.window_width

    def describe_timing(self) -> str:
        """Return a sentence for the user: the period, whether it was rounded up, and the unanswered messages."""
        period_ms, given = self.message_period * 1e3, self.simulink_time
        rounded = abs(self.message_period - given) > 1e-6 * given
        note = f" (simulink time {given * 1e3:.9g} ms, rounded up to whole physics steps)" if rounded else ""
        plural = "s" if self.unanswered > 1 else ""
        return f"a message every {period_ms:g} ms{note}, {self.unanswered} message{plural} may be unanswered"


def compute_timing(simulink_time: float, ping_time: float) -> CouplingTiming:
    """Return the timing by the game's own arithmetic, which rounds up: a rounding error costs a whole step.

    A file of the vendor holds 0.5 ms as a 32-bit float, 0.00050000002374873 s. The game sends every 1 ms then, so link,
    setup and host must do so too.
    """
    return CouplingTiming(simulink_time, ping_time, math.ceil(simulink_time / PHYSICS_STEP) - 1,
                  math.ceil(ping_time / simulink_time))  # fmt: skip


def expected_speed(timing: CouplingTiming, round_trip: float, compute: float) -> float:
    """Return simulator time over real time, at most 1, for a controller that answers one message after the other.

    Args:
        timing: of the coupling.
        round_trip: s between a message and its answer, including `compute`.
        compute: s that the controller computes for one message.
    """
    return min(
        1.0,
        timing.unanswered * timing.message_period / max(round_trip, 1e-12),
        timing.message_period / max(compute, 1e-12),
    )


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
