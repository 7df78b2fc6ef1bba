"""The custom values of each state message, computed by a function of the user: `custom(state, received)`.

They are bank H of generation 1, and the signals of a contract whose meaning is not known.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from trailbrake.errors import DataError, raised_at
from trailbrake.sims.beamng.codec import CUSTOM_COUNT, NO_CUSTOM, Doubles
from trailbrake.state import CarState
from trailbrake.system.user_module import import_user_file

CustomFunction = Callable[[CarState, Doubles], Sequence[float]]


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
