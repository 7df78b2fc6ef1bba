"""`DeadTime`: how long a command takes from the state that it answers to its effect, on a wire that answers commands.

The simulator sends one telemetry for each command, and at most two more when it has just called (protocol page
formula-trend, section 1). So the newest telemetry shows the effect of the last command but two or of a newer one, and
the time since that command is not less than the dead time. Counting works whatever is in flight.
"""

from collections import deque

UNPROMPTED = 2  # telemetries that come without a command, at most
UNKNOWN_S = 0.3  # s, before the first measurement
LONGEST_S = 0.5  # s that are believed: a simulator that stops for a while is no slow wire
FADING = 0.98  # of a measurement with each newer telemetry: the longest of about the last second counts
MOST_IN_FLIGHT = 64


class DeadTime:
    """Measures the dead time of one link, in the simulator's time.

    Attributes:
        seconds: the longest of the newest measurements.
    """

    def __init__(self) -> None:
        self.seconds = UNKNOWN_S
        self._commands: deque[float] = deque(maxlen=MOST_IN_FLIGHT)  # when each was sent whose effect is not seen yet
        self._is_measured = False

    def begin_call(self, commands: int, time: float) -> None:
        """A simulator has called, and has been greeted with so many commands at `time`, s."""
        self._commands.clear()
        self._commands.extend([time] * (UNPROMPTED + commands))
        self._is_measured = False

    def note_command(self, time: float) -> None:
        """A command is sent that answers the state of `time`, s."""
        self._commands.append(time)

    def note_telemetry(self, time: float) -> None:
        """A telemetry has come: the state of `time`, s."""
        if not self._commands:
            return
        passed = time - self._commands.popleft()
        if not 0.0 < passed < LONGEST_S:  # a restart, or a stop
            return
        self.seconds = max(passed, FADING * self.seconds) if self._is_measured else passed
        self._is_measured = True
