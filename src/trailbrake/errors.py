"""The errors a user can meet, each of which prints as one line: what, where, expected, got, what to try."""


class TrailbrakeError(Exception):
    """Base of every error that is the user's to mend. `str(error)` is one readable line.

    Args:
        what: what is wrong, as a sentence without a full stop.
        where: the file, line, key, flag or field it is about.
        expected: what would have been right.
        got: what was there instead.
        hint: what to try.
    """

    def __init__(self, what: str, *, where: str = "", expected: str = "", got: str = "", hint: str = "") -> None:
        self.what, self.where, self.expected, self.got, self.hint = what, where, expected, got, hint
        parts = [f"{where}: {what}" if where else what]
        if expected:
            parts.append(f"expected {expected}")
        if got:
            parts.append(f"got {got}")
        line = ", ".join(parts)
        super().__init__(" ".join((f"{line}; {hint}" if hint else line).split()))


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


def near(name: str, known: "list[str] | tuple[str, ...]") -> str:
    """Return a hint for a misspelled `name`: the nearest known names, else all of them."""
    import difflib

    close = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    return f"did you mean {' or '.join(close)}?" if close else f"there are: {', '.join(sorted(known))}"


def raised_at(error: BaseException) -> str:
    """Return FILE:LINE of the code that was called and raised `error`, not of what that code called in turn.

    To be asked where the error is caught. Empty where the call itself failed, as with wrong arguments.
    """
    import traceback

    frames = traceback.extract_tb(error.__traceback__)[1:]
    lines = [frame.lineno for frame in frames if frame.filename == frames[0].filename]
    return f"{frames[0].filename}:{lines[-1]}" if lines else ""
