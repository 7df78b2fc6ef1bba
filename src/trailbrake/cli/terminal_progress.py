"""Progress on stderr: a bar with the time left on a terminal, and for drives a table; plain lines elsewhere."""

import math
import sys
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from trailbrake.cli.output import format_lap_time, print_notice
from trailbrake.errors import replace_controls
from trailbrake.system import standard_error

if TYPE_CHECKING:  # verbs import this module, and `--help` must be quick
    from rich.console import Console, RenderableType

    from trailbrake.dashboard.live_tap import LiveTap
    from trailbrake.laps import LapRecord
    from trailbrake.planning.course import Course
    from trailbrake.roles import Driver, Link, Tap
    from trailbrake.state import CarState

REDRAWS_PER_SECOND = 4
MIN_TABLE_WIDTH, MIN_TABLE_HEIGHT = 78, 10  # characters of a terminal; a smaller one gets the bar alone


def find_terminal(wanted: bool = True) -> "Console | None":
    """Return the terminal behind stderr; None where there is none that can be redrawn, or it is not `wanted`."""
    if not (wanted and sys.stderr.isatty()):
        return None
    from rich.console import Console

    console = Console(stderr=True)
    return None if console.is_dumb_terminal else console


def describe_times(elapsed: float, share: float) -> str:
    """Return how long a task has taken (s) and will still take, if the share that is done (0 to 1, or NaN) tells it."""
    if not (share > 0.0 and elapsed > 1.0):  # false for NaN
        return f"{format_duration(elapsed)} so far"
    return (
        f"{100.0 * share:3.0f} %  {format_duration(elapsed)} so far, {format_duration(elapsed / share - elapsed)} left"
    )


def format_duration(seconds: float) -> str:
    """Return whole seconds as 4:05 or 1:04:05."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class TaskProgress:
    """A bar with the time left; a context manager that leaves the terminal as it was.

    Args:
        title: what is done.
        wanted: False: no bar, as with --json.
    """

    def __init__(self, title: str, *, wanted: bool = True) -> None:
        self._console = find_terminal(wanted)
        self._live: Any = None
        self._bar: Any = None
        self._task: Any = None
        if self._console is not None:
            from rich.progress import BarColumn, Progress, TextColumn

            self._bar = Progress(
                TextColumn("{task.description}", markup=False), BarColumn(bar_width=24),
                TextColumn("{task.fields[times]}", markup=False), console=self._console,
            )  # fmt: skip
            self._task = self._bar.add_task(replace_controls(title), total=None, times="")

    def __enter__(self) -> Self:
        if self._console is not None:
            from rich.live import Live

            self._live = Live(console=self._console, get_renderable=self._render, transient=True,
                              refresh_per_second=REDRAWS_PER_SECOND)  # fmt: skip
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def _render(self) -> "RenderableType":
        task = self._bar.tasks[0]
        self._bar.update(
            self._task, times=describe_times(task.elapsed or 0.0, task.completed if task.total else math.nan)
        )
        return self._bar  # type: ignore[no-any-return]

    def show_message(self, text: str) -> None:
        """Print a line above the bar."""
        if self._console is not None:
            self._console.print(replace_controls(text), style="dim", highlight=False, markup=False)
        else:
            print_notice(text)

    def show_share(self, share: float) -> None:
        """Move the bar to a share of 0 to 1; NaN: how much there is to do is not known."""
        if self._bar is not None:
            known = math.isfinite(share)
            self._bar.update(self._task, completed=min(max(share, 0.0), 1.0) if known else 0.0,
                             total=1.0 if known else None)  # fmt: skip


class TerminalProgress(TaskProgress):
    """A ProgressListener and a DriveView: a bar, and a table of the drive that is redrawn a few times a second."""

    has_hands = False  # there is no way to drive by hand here

    def __init__(self, title: str, *, wanted: bool = True) -> None:
        super().__init__(title, wanted=wanted)
        self._tap: LiveTap | None = None
        self._updates_tap = False
        self._laps: list[LapRecord] = []
        self._lap = math.nan

    @property
    def is_shown(self) -> bool:
        """Whether there is a terminal to draw on."""
        return self._console is not None

    def attach_drive(self, about: dict[str, Any], link: "Link", driver: "Driver", course: "Course") -> "Tap":
        """Start to show a drive."""
        from trailbrake.dashboard.live_tap import LiveTap
        from trailbrake.planning.course import UnmappedCourse
        from trailbrake.system import steady_clock

        road = None if isinstance(course, UnmappedCourse) else course.track.road
        self._tap, self._updates_tap = LiveTap(steady_clock.now, link, driver, road), True
        return self._tap

    def execute_requests(self) -> None:
        """Nothing: a terminal requests nothing."""

    def show_samples(self, tap: "LiveTap") -> None:
        """Show the samples of a tap that another view updates."""
        self._tap = tap

    def show_message(self, text: str) -> None:
        """Print a line above the bar, unless its reader has stopped: a drive must not wait for that."""
        if standard_error.accepts_line():
            super().show_message(text)

    def show_lap(self, lap: "LapRecord") -> None:
        """Print a finished lap."""
        self._laps.append(lap)
        if self._tap is not None and self._updates_tap:
            self._tap.mark_lap(lap)
        verdict = "" if lap.valid else f"  not valid: {lap.invalid_reason}"
        self.show_message(f"lap {lap.number}  {format_lap_time(lap.time_s)}{verdict}")

    def show_progress(self, share_done: float, state: "CarState", lap: int) -> None:
        """Move the bar."""
        self._lap = lap
        self.show_share(share_done)

    def _render(self) -> "RenderableType":
        from rich.console import Group

        from trailbrake.cli.drive_table import DriveFigures, build_table, describe_drive

        tap, console = self._tap, self._console
        assert console is not None
        if tap is None or tap.newest is None or console.width < MIN_TABLE_WIDTH or console.height < MIN_TABLE_HEIGHT:
            return super()._render()
        if self._updates_tap:
            tap.update()
        state, controls, _ = tap.newest
        lap = self._lap if math.isfinite(self._lap) else state.lap
        figures = DriveFigures(state, controls, tap.measure_health(), tap.pace.delta, tuple(self._laps), lap)
        rows = describe_drive(figures, ascii_only=console.options.ascii_only)
        return Group(build_table(rows), super()._render())
