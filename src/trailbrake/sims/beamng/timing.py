"""The numbers that the simulator's two time parameters come to, and the speed to expect of them.

Source: protocol page beamng-coupling, section 6. No clock, no state.
"""

import math
from dataclasses import dataclass

PHYSICS_STEP = 0.0005  # s, fixed in the game
_NEAR = 1e-6  # steps: a period nearer than that to whole steps was meant to be whole


@dataclass(frozen=True, slots=True)
class Timing:
    """What `simulinkTime` and `pingTime` come to.

    Attributes:
        simulink_time: s, as asked for: how long the controller computes.
        ping_time: s, as asked for: how long the network takes there and back.
        send_skips: physics steps without a message between two messages.
        unanswered: messages that may be under way without an answer.
    """

    simulink_time: float
    ping_time: float
    send_skips: int
    unanswered: int

    @property
    def step(self) -> float:
        """S of simulator time from message to message: the step that a controller must use."""
        return self.send_offset * PHYSICS_STEP

    @property
    def send_offset(self) -> int:
        """Physics steps from message to message (a name of the README)."""
        return self.send_skips + 1

    @property
    def window_width(self) -> int:
        """Physics steps from a message to where its answer is due (a name of the README)."""
        return self.unanswered * self.send_offset

    @property
    def send_wait(self) -> int:
        """Physics steps before the first time that the simulator waits (a name of the README)."""
        return self.window_width

    def sentence(self) -> str:
        """Return for people what comes of the two times; a period that was rounded up is pointed out."""
        asked = self.simulink_time
        rounded = abs(self.step - asked) > 1e-6 * asked
        said = f" (simulink time {asked * 1e3:.6g} ms, rounded up to whole physics steps)" if rounded else ""
        plural = "s" if self.unanswered > 1 else ""
        return f"a message every {self.step * 1e3:g} ms{said}, {self.unanswered} message{plural} may be unanswered"


def as_the_game(simulink_time: float, ping_time: float) -> Timing:
    """Return the timing by the game's own arithmetic: a period a hair above whole steps costs a step more."""
    return Timing(simulink_time, ping_time, math.ceil(simulink_time / PHYSICS_STEP) - 1,
                  math.ceil(ping_time / simulink_time))  # fmt: skip


def as_meant(simulink_time: float, ping_time: float) -> Timing:
    """Return the timing with periods within 1e-6 of whole steps taken as whole, and a window of at least 1.

    A vendor example holds 0.5 ms as a float of 32 bits, 0.00050000002374873 s, which the game takes for 1 ms.
    """
    steps = _ceil(simulink_time / PHYSICS_STEP)
    return Timing(simulink_time, ping_time, steps - 1, max(1, _ceil(ping_time / simulink_time)))


def _ceil(ratio: float) -> int:
    whole = round(ratio)
    return whole if whole and abs(ratio - whole) <= _NEAR else math.ceil(ratio)


def expected_speed(timing: Timing, round_trip: float, compute: float) -> float:
    """Return simulator time over real time, at most 1, that a controller allows at real-time pace.

    `unanswered` messages may be under way at once, and the controller answers one after the other.

    Args:
        timing: of the coupling.
        round_trip: s from a message to its answer, with `compute` in it.
        compute: s that the controller works on one message.
    """
    return min(1.0, timing.unanswered * timing.step / max(round_trip, 1e-12), timing.step / max(compute, 1e-12))
