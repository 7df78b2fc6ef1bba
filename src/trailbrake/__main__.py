"""`python -m trailbrake` is `trailbrake`."""

import os
import signal
import sys

_MIN_COLUMNS = 20  # of a terminal: in fewer the layout of tables and help does not end


def _exit_interrupted(number: int, frame: object) -> None:
    # Nothing has been begun: no traceback out of the middle of an import, and no clearing up.
    os.write(2, b"trailbrake: interrupted\n")
    os._exit(130)


def _mend_surroundings() -> None:
    """Open the null device for standard streams that were closed, and forget a width that no terminal has.

    Else the next file that is opened would get the number of such a stream, and what others print.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):  # the lowest free number comes first
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and (len(columns) > 4 or int(columns) < _MIN_COLUMNS):
        del os.environ["COLUMNS"]


def main() -> None:
    """The console script. Importing the command line takes a while, in which Ctrl-C already has to be understood."""
    _mend_surroundings()
    interrupt = signal.getsignal(signal.SIGINT)
    if interrupt is signal.default_int_handler:  # else the signal is ignored on purpose
        signal.signal(signal.SIGINT, _exit_interrupted)
    from trailbrake.cli.main import main as command_line

    if interrupt is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupt)
    command_line()


if __name__ == "__main__":
    main()
