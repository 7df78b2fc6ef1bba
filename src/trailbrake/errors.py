"""The errors that a user can meet. Each prints as one line: what, where, expected, got, what to try."""

from collections.abc import Callable

_CONTROLS = dict.fromkeys({*range(0x20), *range(0x7F, 0xA0)} - {0x09, 0x0A}, "?")  # tabs and ends of lines stay
_LONGEST_PART = 400  # characters of one part of an error's line
_LONGEST_HINT = 1200  # characters of a list of names


class TrailbrakeError(Exception):
    """Base of the errors that a user can fix. `str(error)` is one readable line.

    Args:
        what: what is wrong, as a sentence without a full stop.
        where: the file, line, key, flag or field it is about.
        expected: what would have been right.
        got: what was there instead.
        hint: what to try.
    """

    def __init__(self, what: str, *, where: str = "", expected: str = "", got: str = "", hint: str = "") -> None:
        # A file may hold a megabyte where a number should be: it is not repeated.
        what, where, got = (_shorten(text) for text in (what, where, got))
        self.what, self.where, self.expected, self.got, self.hint = what, where, expected, got, hint
        parts = [f"{where}: {what}" if where else what]
        if expected:
            parts.append(f"expected {expected}")
        if got:
            parts.append(f"got {got}")
        line = ", ".join(parts)
        super().__init__(replace_controls(" ".join((f"{line}; {hint}" if hint else line).split())))


def replace_controls(text: str) -> str:
    """Return a text without the control characters by which a name out of a file could steer a terminal."""
    return text if text.isprintable() else text.translate(_CONTROLS)


def describe_value(value: object, convert: Callable[[object], str] = str) -> str:
    """Return the text of a value of other people's code, whose `__str__` or `__repr__` may raise anything."""
    try:
        return convert(value)
    except BaseException as error:  # not even an interrupt that it raises is ours
        return f"({type(value).__name__} without a text: it raises {type(error).__name__})"


def describe_os_error(error: BaseException) -> str:
    """Return what the system says of a call that failed, without its number and the file; else the error's text."""
    return getattr(error, "strerror", None) or str(error)


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST_PART else f"{text[: _LONGEST_PART - 4]} ..."


class UsageError(TrailbrakeError):
    """Wrong flag, unknown name, missing file or missing extra."""


class DataError(TrailbrakeError):
    """A track, car, driver, configuration or recording file that cannot be used as it is."""


class WireError(TrailbrakeError):
    """Bytes that do not fit the wire's format. Never raised into a drive loop: decoders' callers count it."""


class SimulatorError(TrailbrakeError):
    """The simulator at the other end is missing, gone, or already taken."""


class DriverError(TrailbrakeError):
    """A driver that raised, or answered with something that is not `Controls`."""


class CarStuckError(TrailbrakeError):
    """A car that its driver cannot bring back onto the road. Raised out of `act`, it ends the drive with its line."""


class OsErrors:
    """A block in which errors of the system become one of ours: `with OsErrors("cannot write the line", where=path):`.

    Args:
        what: what could not be done.
        where: the file or folder.
        kind: of the error that is raised; what the system says is its `got`.
        hint: what to try.
    """

    def __init__(self, what: str, *, where: str, kind: "type[TrailbrakeError] | None" = None, hint: str = "") -> None:
        self._what, self._where, self._kind, self._hint = what, where, kind or UsageError, hint

    def __enter__(self) -> None:
        """Begin the block."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """End it; raise the error of ours where it raised an OSError."""
        if isinstance(error, OSError):
            raise self._kind(self._what, where=self._where, got=describe_os_error(error), hint=self._hint) from error


def suggest_names(name: str, known: "list[str] | tuple[str, ...]") -> str:
    """Return a hint for a misspelled `name`: the nearest known names, else all of them, "" where they fill a page."""
    import difflib

    parts = [each for each in known if min(len(name), len(each)) > 2 and (name in each or each in name)]
    if close := difflib.get_close_matches(name, known, n=3, cutoff=0.65) or parts[:3]:
        return f"did you mean {' or '.join(close)}?"
    every = f"there are: {', '.join(sorted(known))}"
    return every if len(every) <= _LONGEST_HINT else ""


def raised_at(error: BaseException) -> str:
    """Return FILE:LINE of the code that was called and raised `error`, not of what that code called in turn.

    Call it where the error is caught. Empty where the call itself failed, as with wrong arguments. Functions that only
    pass a call on have a local variable `__tracebackhide__`, as for pytest, and do not count.
    """
    import traceback

    steps = list(traceback.walk_tb(error.__traceback__))[1:]
    frames = [(frame.f_code.co_filename, line) for frame, line in steps if "__tracebackhide__" not in frame.f_locals]
    lines = [line for file, line in frames if file == frames[0][0]]
    return f"{frames[0][0]}:{lines[-1]}" if lines else ""
