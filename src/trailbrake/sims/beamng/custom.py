"""A user's own file for the 50 free values of each message: `custom(state, received)`."""

import importlib.util
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from trailbrake.errors import DataError, UsageError, raised_at
from trailbrake.sims.beamng.codec import CUSTOM, NO_CUSTOM, Values
from trailbrake.state import CarState

Function = Callable[[CarState, Values], Sequence[float]]


class Custom:
    """Fills bank H by a function of the user's, which sees the state and bank B.

    Args:
        function: `custom(state, received)`, which returns up to 50 numbers; the rest is 0.
        where: what it comes from, for the error's line.

    Attributes:
        received: the free values of the newest command that was accepted.
    """

    def __init__(self, function: Function, where: str) -> None:
        self._function, self._where = function, where
        self.received = NO_CUSTOM

    def fill(self, state: CarState) -> Values:
        """Return the 50 values; DataError where the function raises or returns something else than numbers."""
        try:
            values = tuple(map(float, self._function(state, self.received)))
        except (Exception, SystemExit) as error:
            where = raised_at(error) or self._where
            raise DataError(f"custom() raised {type(error).__name__}: {error}", where=where) from error
        if len(values) > CUSTOM:
            raise DataError("custom() returned too much", where=self._where, expected=f"up to {CUSTOM} numbers",
                            got=str(len(values)))  # fmt: skip
        return values + NO_CUSTOM[len(values) :]


def load(path: Path) -> Custom:
    """Return what FILE.py defines.

    Raises:
        UsageError: there is no such file.
        DataError: it does not load, or has no function `custom`.
    """
    if not path.is_file():
        raise UsageError("no such file", where=f"--custom {path}", hint="give the path of a Python file")
    spec = importlib.util.spec_from_file_location(f"trailbrake_user_custom_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise DataError("cannot be imported", where=str(path), expected="a file that ends in .py")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        raise DataError(error.msg, where=f"{path}:{error.lineno}") from error
    except (Exception, SystemExit) as error:
        lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
        where = f"{path}:{lines[-1]}" if lines else str(path)
        raise DataError(f"raised {type(error).__name__} on import: {error}", where=where) from error
    function = getattr(module, "custom", None)
    if not callable(function):
        raise DataError("has no function custom", where=str(path), expected="def custom(state, received)")
    return Custom(function, str(path))
