"""Progress of a drive in a notebook: one line below the cell that changes, and the messages above it."""

import sys
from collections.abc import Callable

from trailbrake.driving.session.progress import ProgressListener, SilentListener
from trailbrake.laps import LapRecord
from trailbrake.state import CarState
from trailbrake.units import KMH


def make_listener() -> ProgressListener:
    """Return a listener that shows progress where a notebook runs this, else one that shows nothing."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return NotebookListener() if type(shell).__name__ == "ZMQInteractiveShell" else SilentListener()


class NotebookListener(SilentListener):
    """Shows messages, laps and progress by IPython."""

    def __init__(self) -> None:
        self._change_line: Callable[[object], object] | None = None

    def show_message(self, text: str) -> None:
        """Print a line."""
        print(text)

    def show_lap(self, lap: LapRecord) -> None:
        """Print the lap."""
        print(f"lap {lap.number}: {lap.time_s:.3f} s{'' if lap.valid else ', ' + lap.invalid_reason}")

    def show_progress(self, share_done: float, state: CarState, lap: int) -> None:
        """Change the line."""
        from IPython.display import HTML, display

        line = HTML(f'<progress value="{share_done:.3f}"></progress> lap {lap}, {state.speed / KMH:.0f} km/h')
        if self._change_line is None:
            self._change_line = display(line, display_id=True).update
        else:
            self._change_line(line)
