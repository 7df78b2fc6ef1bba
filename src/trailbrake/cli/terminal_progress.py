"""Progress of a drive on stderr: a bar on a terminal, plain lines elsewhere."""

import math
import sys
from types import TracebackType
from typing import Any, Self

from trailbrake.cli.output import format_lap_time, print_notice
from trailbrake.errors import replace_controls
from trailbrake.laps import LapRecord
from trailbrake.run.options import DriveOptions
from trailbrake.state import CarState
from trailbrake.units import KMH


class TerminalProgress:
    """Shows a drive; a context manager that leaves the terminal as it was."""

    def __init__(self, options: DriveOptions) -> None:
        self._bar: Any = None
        self._task: Any = None
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn

            self._bar = Progress(
                TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"),
                console=Console(stderr=True), transient=True,
            )  # fmt: skip
            self._task = self._bar.add_task(
                f"{options.car or 'live'} on {options.track}" if options.track else "live", total=1.0
            )

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show_message(self, text: str) -> None:
        """Print a line above the bar."""
        if self._bar is not None:
            self._bar.console.print(replace_controls(text), style="dim", highlight=False, markup=False)
        else:
            print_notice(text)

    def show_lap(self, lap: LapRecord) -> None:
        """Print a finished lap."""
        verdict = "" if lap.valid else f"  not valid: {lap.invalid_reason}"
        self.show_message(f"lap {lap.number}  {format_lap_time(lap.time_s)}{verdict}")

    def show_progress(self, share_done: float, state: CarState, lap: int) -> None:
        """Move the bar."""
        if self._bar is not None:
            done = 0.0 if math.isnan(share_done) else min(share_done, 1.0)
            self._bar.update(self._task, completed=done, description=f"lap {lap}  {state.speed / KMH:3.0f} km/h")
