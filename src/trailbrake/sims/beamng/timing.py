"""The coupling's timing: message period and unanswered messages from the game's two times, and the expected pace.

Source: protocol page beamng-coupling, section 6.
"""

import math
from dataclasses import dataclass

PHYSICS_STEP = 0.0005  # s, fixed in the game


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
