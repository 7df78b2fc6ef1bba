"""`LiveView`: a drive with a live page, which receives the messages of the terminal too.

`ServedWorldView`: the first car of a served world on the live page, whichever program drives it.

What the three-dimensional view draws: the road as strips of points, the ground around it, the car's measures.
"""

import io
import math
import sys
import webbrowser
from collections.abc import Callable
from types import TracebackType
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np

from trailbrake.arrays import Array
from trailbrake.cars.car_library import load_car
from trailbrake.cars.params import CarParams
from trailbrake.dashboard import page_messages
from trailbrake.dashboard.coach_choice import CoachChoice
from trailbrake.dashboard.live_tap import LiveTap
from trailbrake.dashboard.options import OWN_PAGE, PageAccess
from trailbrake.dashboard.page_messages import build_header, describe_edges, thin_points
from trailbrake.dashboard.replay_player import ReplayPlayer
from trailbrake.dashboard.server import FrameSource, PageServer, PageState
from trailbrake.driving.session.progress import ProgressListener
from trailbrake.errors import TrailbrakeError, UsageError
from trailbrake.laps import LapRecord
from trailbrake.planning.course import Course, UnmappedCourse
from trailbrake.record.recording_reader import Recording
from trailbrake.roles import Driver, HandDriven, Link, LinkCounters, Plant, RoadPlant, Tap
from trailbrake.state import CarState, OtherCar, SimCommand, applied_controls
from trailbrake.system import steady_clock
from trailbrake.tracks.kerbs import KERB_HEIGHT
from trailbrake.tracks.road import Road, RoadColumn

RATE_HZ = 60.0  # samples for the page in a second

MAX_STATIONS = 3000  # along the road
MIN_SPACING = 2.0  # m between them
GROUND_CELLS = 96  # along each side of the ground's grid
GROUND_MARGIN = 250.0  # m around the road
GROUND_DROP = 0.7  # m that the ground is below the road beside it: cells are larger than the road's details
NEAR_STATIONS = 600  # at most, from which the ground's height is interpolated
STRIPS = ("wall_left", "kerb_left", "edge_left", "edge_right", "kerb_right", "wall_right")


def describe_scene(road: Road | None, line: Array | None, car: CarParams | None) -> dict[str, Any]:
    """Return the scene as JSON values: lengths in m, world frame.

    Args:
        road: the track; None where it is not known.
        line: (n, 2) x, y (m, world) of the planned line; None without one.
        car: the car's model, None where it is not known.

    Returns:
        "closed"; "strips": name -> flat list of x, y, z per station, from left to right across the road; "kerbs": flat
        list of the widths left and right; "ground": {x0, y0, cell, count, z}, z row by row; "line": flat x, y, z;
        "car": its measures. None for what is not known.
    """
    scene: dict[str, Any] = {"closed": False, "strips": None, "ground": None, "line": None, "car": _car_measures(car)}
    if road is None:
        return scene
    step = max(1, math.ceil(MIN_SPACING / road.spacing), math.ceil(len(road.table) / MAX_STATIONS))
    stations = road.stations()[::step]
    rows = road.table[::step]
    offsets = _strip_offsets(rows)
    strips = {name: road.points(stations, offset)[:, :3] for name, offset in offsets.items()}
    scene["closed"] = road.closed
    scene["strips"] = {name: _flatten(points) for name, points in strips.items()}
    scene["kerbs"] = _flatten(rows[:, [RoadColumn.KERB_LEFT, RoadColumn.KERB_RIGHT]])
    scene["kerb_height"] = KERB_HEIGHT
    scene["ground"] = _ground_grid(strips["wall_left"], strips["wall_right"], rows[:, RoadColumn.X : RoadColumn.Z + 1])
    if line is not None and len(line) > 1:
        spacing = float(np.hypot(*np.diff(line, axis=0).T).mean())
        places = line[:: max(1, math.ceil(MIN_SPACING / max(spacing, 0.01)), math.ceil(len(line) / MAX_STATIONS))]
        placed = road.locate_many(places)
        scene["line"] = _flatten(road.points(placed[:, 0], placed[:, 1])[:, :3])
    return scene


def _strip_offsets(rows: Array) -> dict[str, Array]:
    left, right = rows[:, RoadColumn.WIDTH_LEFT], rows[:, RoadColumn.WIDTH_RIGHT]
    return dict(zip(STRIPS, (
        left + np.maximum(rows[:, RoadColumn.RUNOFF_LEFT], rows[:, RoadColumn.KERB_LEFT]),
        left + rows[:, RoadColumn.KERB_LEFT],
        left,
        -right,
        -right - rows[:, RoadColumn.KERB_RIGHT],
        -right - np.maximum(rows[:, RoadColumn.RUNOFF_RIGHT], rows[:, RoadColumn.KERB_RIGHT]),
    ), strict=True))  # fmt: skip


def _ground_grid(left: Array, right: Array, centre: Array) -> dict[str, Any]:
    """Return heights around the road: those of the nearest stations, weighted by the fourth power of the distance."""
    low = np.minimum(left, right)[:, :2].min(axis=0) - GROUND_MARGIN
    high = np.maximum(left, right)[:, :2].max(axis=0) + GROUND_MARGIN
    cell = float((high - low).max()) / (GROUND_CELLS - 1)
    axis = np.arange(GROUND_CELLS) * cell
    near = centre[:: math.ceil(len(centre) / NEAR_STATIONS)]
    bottom = np.minimum(left[:, 2], right[:, 2])[:: math.ceil(len(centre) / NEAR_STATIONS)]
    heights = np.empty((GROUND_CELLS, GROUND_CELLS))
    for row, y in enumerate(low[1] + axis):
        squared = (low[0] + axis[:, None] - near[:, 0]) ** 2 + (y - near[:, 1]) ** 2
        weights = 1.0 / (squared + 25.0) ** 2
        mean = (weights * bottom).sum(axis=1) / weights.sum(axis=1)
        # Within two cells of the road the ground stays below the lowest of it: it must not pierce the asphalt.
        within = np.where(squared < (2.0 * cell + 15.0) ** 2, bottom, math.inf).min(axis=1)
        heights[row] = np.minimum(mean, within) - GROUND_DROP
    return {
        "x0": round(float(low[0]), 2), "y0": round(float(low[1]), 2), "cell": round(cell, 4), "count": GROUND_CELLS,
        "z": _flatten(heights),
    }  # fmt: skip


def _car_measures(car: CarParams | None) -> dict[str, float] | None:
    if car is None:
        return None
    body = car.body
    return {
        "length": body.length, "width": body.width, "wheelbase": body.wheelbase, "front": body.cg_to_front,
        "track_front": body.track_front, "track_rear": body.track_rear, "height": body.cg_height,
        "radius": car.tyre_front.radius, "lock": car.steering.max_angle,
    }  # fmt: skip


def _flatten(values: Array) -> list[float]:
    numbers: list[float] = np.round(np.ravel(values), 2).tolist()
    return numbers


class WorldRequests:
    """What a page requests of the world; stands in for the link of a drive.

    Args:
        plant: the world; commands go to it between two ticks of the host.

    Attributes:
        plant: the world.
        counters: samples that the page has received.
    """

    ACCEPTS = frozenset({"restart", "teleport", "to_pits"})

    def __init__(self, plant: Plant) -> None:
        self.plant = plant
        self.counters = LinkCounters()

    def send_command(self, command: SimCommand) -> None:
        """Carry out a command for the first car."""
        self.plant.execute_command(0, command)


class ServedWorldView:
    """Shows a world some 60 times a second; a TickView.

    A tick of the host costs a comparison, and the states of the cars where a sample is due.

    Args:
        world: the world, and what a page requests of it.
        cars: how many there are.
        tap: receives the first car's samples, with the others.
        show_lap: takes the laps that the first car finishes.
        say: takes a line for the page's messages.
    """

    def __init__(
        self,
        world: WorldRequests,
        cars: int,
        tap: LiveTap,
        show_lap: Callable[[LapRecord], None],
        say: Callable[[str], None],
    ) -> None:
        self._world, self._cars, self._tap = world, cars, tap
        self._show_lap, self._say = show_lap, say
        self._due_at = 0.0
        self._lap_count = 0

    def update(self, now: float) -> None:
        """Pass on the newest sample, where one is due at `now` (s, steady clock), and carry out requests."""
        if now < self._due_at:
            self._tap.tick_count += 1
            return
        late = now - self._due_at
        self._due_at = now + 1.0 / RATE_HZ - (late if late < 1.0 / RATE_HZ else 0.0)
        self._tap.execute_pending(self._say)
        plant = self._world.plant
        state = plant.car_state(0)
        state.others = [_describe_other(index, plant.car_state(index)) for index in range(1, self._cars)]
        self._world.counters.received += 1
        self._tap.tick(state, applied_controls(state))
        laps = plant.laps(0)
        for lap in laps[self._lap_count :]:
            self._show_lap(lap)
        self._lap_count = len(laps)  # fewer after a restart


def _describe_other(index: int, state: CarState) -> OtherCar:
    return OtherCar(
        index=index, x=state.x, y=state.y, z=state.z, yaw=state.yaw, speed=state.speed,
        steering_wheel_angle=state.steering_wheel_angle, is_braking=float(state.brake > 0.0),
    )  # fmt: skip


@runtime_checkable
class ShowsSamples(Protocol):
    """A ProgressListener that shows the samples of a car, too: the terminal."""

    def show_samples(self, about: dict[str, Any], tap: LiveTap) -> LiveTap:
        """Show what this tap receives of a drive, and return it; the page updates it."""


def draw_qr_code(text: str) -> list[str]:
    """Return the rows of a QR code in block characters, for light on dark; a hint in its place without segno."""
    try:
        import segno
    except ImportError:
        return ["a QR code of it: pip install segno"]
    out = io.StringIO()
    segno.make(text, micro=False, error="l").terminal(out, border=2, compact=True)
    return out.getvalue().splitlines()


class LiveView:
    """A ProgressListener around another one, a DriveView and a ServeView; a context manager. On exit the page ends.

    Args:
        listener: receives everything as well.
        port: of the page, 0 for any free one.
        access: who sees the page.

    Attributes:
        url: where the page is.
        has_hands: True: a person can drive at the page.

    Raises:
        UsageError: control for other devices, which the page is not served to.
        SimulatorError: the port is taken, or there is no such address.
    """

    has_hands = True

    def __init__(self, listener: ProgressListener, port: int = 0, access: PageAccess = OWN_PAGE) -> None:
        if access.watch_control and not access.watch_host:
            raise UsageError("control for other devices, but no page", where="--watch-control", hint="add --watch-host")
        self._listener = listener
        self._state = PageState(steady_clock.now)
        self._server = PageServer(self._state, port, access)
        self._tap: LiveTap | None = None
        self.url = self._server.url
        listener.show_message(f"the page is at {self.url}")
        if self._server.outer_url:
            rights = "control" if access.watch_control else "watch"
            listener.show_message(f"on other devices, which may {rights}: {self._server.outer_url}")
            for row in draw_qr_code(self._server.outer_url) if sys.stderr.isatty() else ():
                listener.show_message(row)
        if access.open and not webbrowser.open(self.url):
            listener.show_message("no browser could be opened: open that address in one")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close("" if error is None else " ".join(str(error).split()) or type(error).__name__)

    def show_message(self, text: str) -> None:
        """Show a line for the user."""
        self._state.publish_text("said", text)
        self._listener.show_message(text)

    def show_lap(self, lap: LapRecord) -> None:
        """Show a finished lap."""
        if self._tap is not None:
            self._tap.mark_lap(lap)
        self._state.publish_text("lap", page_messages.lap_summary(lap))
        self._listener.show_lap(lap)

    def show_progress(self, share_done: float, state: CarState, lap: int) -> None:
        """Show how far the drive is."""
        self._listener.show_progress(share_done, state, lap)

    def attach_drive(self, about: dict[str, Any], link: Link, driver: Driver, course: Course) -> Tap:
        """Start to show a drive; a HandDriven driver receives the inputs of the person at the page."""
        if isinstance(course, UnmappedCourse):
            return self.start_view(about, link, driver, None, None, car=course.car)
        line = course.line if course.car is not None else None
        return self.start_view(about, link, driver, course.track.road, line, car=course.car)

    def execute_requests(self) -> None:
        """Carry out what pages have requested of simulator and driver; called by the drive between ticks."""
        if self._tap is not None:
            self._tap.execute_pending(self._log_request)

    def _log_request(self, text: str) -> None:
        self._state.publish_text("said", text)

    def start_view(
        self,
        about: dict[str, Any],
        link: Link,
        driver: Driver | None,
        road: Road | None,
        line: Road | None,
        *,
        car: CarParams | None = None,
        coach: CoachChoice | None = None,
    ) -> LiveTap:
        """Start to show the samples of a link.

        Args:
            about: sim, driver, car and track, for the page's title.
            link: whose counters are shown.
            driver: None where another program or person drives.
            road: the track; None where it is not known.
            line: the planned line.
            car: a model of the car; None where it is not known.
            coach: what a person is coached by; None: by nothing.
        """
        by_hand = isinstance(driver, HandDriven)
        if isinstance(driver, HandDriven):
            driver.hands = self._state.control_lease.newest_input
        self._tap = LiveTap(steady_clock.now, link, driver, road, self._state.publish_text, coach=coach)
        if isinstance(self._listener, ShowsSamples):
            self._listener.show_samples(about, self._tap)
        header = page_messages.build_header(about, road, line, by_hand)
        header["coach"] = None if coach is None else coach.describe()
        self._start_source(self._tap, header, road, None if line is None else line.table[:, :2], car)
        return self._tap

    def _start_source(
        self, source: FrameSource, header: dict[str, Any], road: Road | None, line: Array | None,
        car: CarParams | None,
    ) -> None:  # fmt: skip
        header["limiter_rpm"] = None if car is None else car.engine.limiter_rpm
        self._state.start_drive(source, header, describe_scene(road, line, car))

    def attach_world(self, about: dict[str, Any], plant: Plant, cars: int) -> ServedWorldView:
        """Start to show a served world of so many cars; the page follows the first one."""
        road, car = (plant.track.road, plant.cars[0]) if isinstance(plant, RoadPlant) else (None, None)
        requests = WorldRequests(plant)
        self._tap = tap = LiveTap(steady_clock.now, requests, None, road, self._state.publish_text)
        header = page_messages.build_header(about, road, None, by_hand=False)
        if road is None:
            edges = plant.road_outline()
            header["map"] = page_messages.describe_edges(edges.closed, edges.left, edges.right)
        self._start_source(tap, header, road, None, car)
        return ServedWorldView(requests, cars, tap, self.show_lap, self._log_request)

    def start_replay(
        self, recording: Recording, player: ReplayPlayer, road: Road | None, coach: CoachChoice | None = None
    ) -> None:
        """Start to show a recording; `road` is its track, None where it is not known, `coach` as of `start_view`."""
        plan, line = recording.plan, None
        if plan is not None and len(plan.x) > 1:
            line = np.column_stack([plan.x, plan.y])
        header = replay_header(recording, player, road)
        header["coach"] = None if coach is None else coach.describe()
        self._start_source(player, header, road, line, find_recorded_car(recording))


def replay_header(recording: Recording, player: ReplayPlayer, road: Road | None) -> dict[str, Any]:
    """Return what a page needs before the first frame of a replay.

    Args:
        recording: whose title, road and line are shown.
        player: whose laps are listed.
        road: the track; None where it is not known: the recorded edges are shown.
    """
    known = {signal["name"]: signal for signal in recording.about.get("signals", ()) if _is_signal(signal)}
    plain = {"unit": "", "meaning": ""}
    signals = [{**plain, **known.get(name, {}), "name": name} for name in recording.signals]
    header = build_header({**recording.about, "signals": signals}, road, None, by_hand=False)
    edges = recording.road_map
    if road is None and edges is not None:
        header["map"] = describe_edges(edges.closed, edges.left, edges.right)
    plan = recording.plan
    if plan is not None:
        header["line"] = thin_points(zip(plan.x, plan.y, strict=True))
    header["replay"] = player.describe_recording()
    return header


def find_recorded_car(recording: Recording) -> CarParams | None:
    """Return the model of the car in a recording; None where it names none that this machine has."""
    name = recording.about.get("car")
    try:
        return load_car(name) if isinstance(name, str) and name else None
    except TrailbrakeError:
        return None


def _is_signal(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(value.get(key), str) for key in ("name", "unit", "meaning"))
