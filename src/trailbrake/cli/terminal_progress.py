"""Progress on stderr: a bar with the time left on a terminal, and for drives a table; plain lines elsewhere.

The table of a drive on a terminal: speed, lap, time gained or lost, pedals, the state of the connection.

It is for 80 columns, and for terminals of any encoding: bars are drawn in ASCII where there is nothing better.
"""

import math
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from trailbrake.analysis.lap_table import format_lap_time, format_number
from trailbrake.cli.output import print_notice
from trailbrake.errors import replace_controls
from trailbrake.laps import LapRecord
from trailbrake.state import CarState, Controls
from trailbrake.transport.client_notices import accepts_line
from trailbrake.units import KMH, RPM

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

    from trailbrake.dashboard.live_tap import LiveTap
    from trailbrake.dashboard.page_messages import ConnectionHealth
    from trailbrake.planning.course import Course
    from trailbrake.roles import Driver, Link, Tap

REDRAWS_PER_SECOND = 4
MIN_TABLE_WIDTH, MIN_TABLE_HEIGHT = 78, 10  # characters of a terminal; a smaller one gets the bar alone
BAR_WIDTH = 16  # characters; even
_SILENT_S = 0.25  # without a sample, from which the drive brakes


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

    def __exit__(self, *error: object) -> None:
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
        """Start to show a drive, titled by its car and its track, which a game may have named."""
        from trailbrake.dashboard.live_tap import LiveTap
        from trailbrake.planning.course import UnmappedCourse
        from trailbrake.system import steady_clock

        road = None if isinstance(course, UnmappedCourse) else course.track.road
        self._updates_tap = True
        return self.show_samples(about, LiveTap(steady_clock.now, link, driver, road))

    def execute_requests(self) -> None:
        """Nothing: a terminal requests nothing."""

    def show_samples(self, about: dict[str, Any], tap: "LiveTap") -> "LiveTap":
        """Show the samples of a tap that another view updates, titled by car and track; return it."""
        if self._bar is not None and about["track"]:
            self._bar.update(
                self._task, description=replace_controls(f"{about['car'] or 'unknown car'} on {about['track']}")
            )
        self._tap = tap
        return tap

    def show_message(self, text: str) -> None:
        """Print a line above the bar, unless its reader has stopped: a drive must not wait for that."""
        if accepts_line():
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


class DriveFigures(NamedTuple):
    """What the table shows.

    Attributes:
        state, controls: of the newest sample.
        health: of the connection.
        delta: s lost to the best lap at this place; NaN where there is none.
        laps: the finished ones.
        lap: the number of the one under way; NaN: not known.
    """

    state: CarState
    controls: Controls
    health: "ConnectionHealth"
    delta: float
    laps: Sequence[LapRecord]
    lap: float


def describe_drive(figures: DriveFigures, *, ascii_only: bool) -> list[tuple[str, str, str, str]]:
    """Return the rows of the table: two names with their values each."""
    state, controls, health, laps = figures.state, figures.controls, figures.health, figures.laps
    valid = [lap.time_s for lap in laps if lap.valid]
    speed = format_number(state.speed / KMH, "3.0f", " km/h")
    gear = "-" if state.gear is None else {-1: "R", 0: "N"}.get(state.gear, str(state.gear))
    engine = format_number(state.engine_speed / RPM, "5.0f", " rpm")
    throttle, brake, steer = (
        own if math.isfinite(own) else given
        for own, given in (
            (state.throttle, controls.throttle), (state.brake, controls.brake), (state.steer, controls.steer)
        )
    )  # fmt: skip
    silent = format_number(1e3 * health.silent, ".0f", " ms")
    if health.silent > _SILENT_S:
        silent += ", SILENT"
    number = f"lap {figures.lap:.0f}" if math.isfinite(figures.lap) else "lap"
    return [
        ("speed", speed, number, format_lap_time(health.lap_clock)),
        ("gear", f"{gear}  {engine}", "to best", format_number(figures.delta, "+.3f", " s")),
        ("throttle", draw_bar(throttle, ascii_only=ascii_only), "last", _format_lap(laps[-1]) if laps else "-"),
        ("brake", draw_bar(brake, ascii_only=ascii_only), "best", format_lap_time(min(valid, default=None))),
        ("steer", draw_centred_bar(steer, ascii_only=ascii_only), "samples",
         f"{format_number(health.received, '.0f')}, {format_number(health.loop_rate, '.0f', '/s')}"),
        ("link", f"newest {silent} old", "trouble",
         f"lost {format_number(health.lost, '.0f')}, silent {format_number(health.stale, '.0f')}"
         + (f", restarts {health.resyncs:.0f}" if health.resyncs > 0.0 else "")),
    ]  # fmt: skip


def draw_bar(share: float, *, ascii_only: bool) -> str:
    """Return a bar of BAR_WIDTH characters for a share of 0 to 1, with its percentage."""
    if not math.isfinite(share):
        return "-"
    full, empty = ("#", ".") if ascii_only else ("█", "░")
    filled = round(BAR_WIDTH * min(max(share, 0.0), 1.0))
    return f"{full * filled}{empty * (BAR_WIDTH - filled)} {100.0 * share:3.0f} %"


def draw_centred_bar(value: float, *, ascii_only: bool) -> str:
    """Return a bar from the middle for a value of -1 to 1, positive left, with its percentage."""
    if not math.isfinite(value):
        return "-"
    full, empty = ("#", ".") if ascii_only else ("█", "░")
    half = BAR_WIDTH // 2
    filled = round(half * min(abs(value), 1.0))
    side = full * filled, empty * (half - filled)
    left, right = (side[1] + side[0], empty * half) if value > 0.0 else (empty * half, side[0] + side[1])
    return f"{left}{right} {abs(100.0 * value):3.0f} % {'left' if value > 0.0 else 'right' if value < 0.0 else ''}"


def build_table(rows: Sequence[tuple[str, str, str, str]]) -> "Table":
    """Return the rows as a table of 78 columns at most."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2, 0, 0))
    for width, style in ((8, "dim"), (28, ""), (7, "dim"), (29, "")):
        table.add_column(width=width, style=style, no_wrap=True, overflow="crop")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table


def _format_lap(lap: LapRecord) -> str:
    return format_lap_time(lap.time_s) + ("" if lap.valid else " not valid")
