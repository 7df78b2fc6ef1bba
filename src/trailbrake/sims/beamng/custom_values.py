"""The custom values of each state message, computed by a function of the user: `custom(state, received)`.

They are bank H of generation 1, and the signals of a contract whose meaning is not known.

Ignition, headlights and turn signals of the stand-in. No command of the wire sets them; options of `serve` do.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from trailbrake.errors import DataError, raised_at
from trailbrake.sims.beamng.codec import CUSTOM_COUNT, NO_CUSTOM, Doubles
from trailbrake.state import CarState
from trailbrake.system.user_module import import_user_file

CustomFunction = Callable[[CarState, Doubles], Sequence[float]]
BLINK_PERIOD = 2.0 / 3.0  # s: 90 flashes a minute, within the 60 to 120 of UN Regulation 6
STARTED = 2.0  # ignition level from which the engine runs


class CustomValues:
    """Computes the custom values with a user's function of the state and of the received ones.

    Args:
        function: `custom(state, received)`, which returns up to 50 numbers; the others are 0.
        where: the function's file, for errors.
        count: number of values in a message.

    Attributes:
        received: the custom values of the newest accepted command.
    """

    def __init__(self, function: CustomFunction, where: str, count: int = CUSTOM_COUNT) -> None:
        self._function, self._where, self._count = function, where, count
        self.received = NO_CUSTOM

    def compute_values(self, state: CarState) -> Doubles:
        """Return the values of a message; DataError if the function raises or does not return numbers."""
        try:
            values = tuple(map(float, self._function(state, self.received)))
        except (Exception, SystemExit) as error:
            where = raised_at(error) or self._where
            raise DataError(f"custom() raised {type(error).__name__}: {error}", where=where) from error
        if len(values) > self._count:
            raise DataError("custom() returned too much", where=self._where, expected=f"up to {self._count} numbers",
                            got=str(len(values)))  # fmt: skip
        return values + (0.0,) * (self._count - len(values))


def load_custom_values(path: Path, count: int = CUSTOM_COUNT) -> CustomValues:
    """Load the function `custom` of a Python file.

    Args:
        path: the file.
        count: number of values in a message.

    Raises:
        UsageError: the file does not exist.
        DataError: the file cannot be imported, or has no function `custom`.
    """
    function = vars(import_user_file(path, "custom")).get("custom")
    if not callable(function):
        raise DataError("has no function custom", where=str(path), expected="def custom(state, received)")
    return CustomValues(function, str(path), count)


class Electrics(NamedTuple):
    """What the messages of a vehicle report.

    Attributes:
        ignition: 0 off, 1 accessory, 2 on, 3 starting.
        lights: off, low or high.
        turn_signal: off, left, right or hazard.
    """

    ignition: float = STARTED
    lights: str = "off"
    turn_signal: str = "off"

    def set_lights(self, state: CarState) -> None:
        """Fill in the lights of a state; a turn signal is lit for the first half of each period."""
        lit = 1.0 if state.time % BLINK_PERIOD < 0.5 * BLINK_PERIOD else 0.0
        state.low_beam = 1.0 if self.lights == "low" else 0.0
        state.high_beam = 1.0 if self.lights == "high" else 0.0
        state.left_signal = lit if self.turn_signal in ("left", "hazard") else 0.0
        state.right_signal = lit if self.turn_signal in ("right", "hazard") else 0.0

    @property
    def engine_runs(self) -> bool:
        """Whether the engine gives torque."""
        return self.ignition >= STARTED
