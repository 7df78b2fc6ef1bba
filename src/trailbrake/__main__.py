"""`python -m trailbrake` is `trailbrake`."""

import os
import signal


def _exit_interrupted(number: int, frame: object) -> None:
    # Nothing has been begun: no traceback out of the middle of an import, and no clearing up.
    os.write(2, b"trailbrake: interrupted\n")
    os._exit(130)


def main() -> None:
    """The console script. Importing the command line takes a while, in which Ctrl-C already has to be understood."""
    interrupt = signal.getsignal(signal.SIGINT)
    if interrupt is signal.default_int_handler:  # else the signal is ignored on purpose
        signal.signal(signal.SIGINT, _exit_interrupted)
    from trailbrake.cli.main import main as command_line

    if interrupt is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupt)
    command_line()


if __name__ == "__main__":
    main()
