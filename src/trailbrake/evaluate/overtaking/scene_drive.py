"""Drives a scene through the simulator's wire in lockstep, and measures it by the world's own states.

A driver first practises alone: what it learns there it keeps, and its last lap is its free lap.
"""

import functools
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from trailbrake.cars.car_library import load_car
from trailbrake.drivers.loading.driver_registry import load_driver
from trailbrake.driving.loop.supervisor import Supervisor
from trailbrake.driving.run import CarWatch, NamedDriver, drive_cars
from trailbrake.driving.session.connection import Connection
from trailbrake.driving.session.drive_setup import DriveSetup, make_setup
from trailbrake.driving.spec import CarSpec, DriveSpec, EmbeddedSite
from trailbrake.errors import TrailbrakeError, describe_value, raised_at
from trailbrake.evaluate.overtaking.rivals import RivalDriver, RivalPlan
from trailbrake.evaluate.overtaking.scenes import OvertakingScene, OvertakingSuite
from trailbrake.json_types import JsonObject
from trailbrake.planning.course import Course
from trailbrake.roles import Driver, KeepsMemory, UsesKerbs
from trailbrake.sims import registry
from trailbrake.state import CarState, Controls, Pose
from trailbrake.tracks.road import Road
from trailbrake.tracks.track_library import load_track
from trailbrake.world.plant import World

MEASURE_TICKS = 6  # of the wire between two measurements
SLOWEST = 2.0  # a scene is over after its laps times this, in free laps; its rivals are slower
STALLED_SPEED = 1.0  # m/s, below which the judged car stands
STALLED_S = 20.0  # s at a stand, after which a scene is over


class JudgedDriver(NamedTuple):
    """A driver by name, its constants and its file of gains, as in `CarSpec`."""

    name: str
    gain: tuple[str, ...] = ()
    config: str = ""


class Practice(NamedTuple):
    """What a driver has done alone.

    Attributes:
        lap_s: s, the last lap.
        times: (n,) s from the line at each m of it, rising; n whole metres.
        speeds: (n,) m/s.
        memory: what it has learned; None where it learns nothing.
    """

    lap_s: float
    times: NDArray[np.float64]
    speeds: NDArray[np.float64]
    memory: JsonObject | None


class SceneResult(msgspec.Struct, frozen=True, kw_only=True):
    """What came out of a scene.

    Attributes:
        passed: all rivals, without a contact, for as long as the suite wants.
        after_s: s until it was ahead of the last; None where it never was.
        contact: whether the judged car and a rival touched.
        contact_at: where and how: s (m), m left of the rival, m ahead of it, and the speed of closing (m/s).
        off_road_s: s with more than two wheels off the road.
        wall_contacts: contacts with walls.
        lost_s: s, over its free lap, until the scene ended.
        rival_lost_s: s, of the first rival over its planned speeds; None for one that stands.
        ratio: measured pace ratio: own free lap over the rival's planned one.
        time_s: s of simulator time.
        error: why there is no result; "" otherwise.
    """

    passed: bool = False
    after_s: float | None = None
    contact: bool = False
    contact_at: tuple[float, ...] = ()
    off_road_s: float = 0.0
    wall_contacts: int = 0
    lost_s: float = 0.0
    rival_lost_s: float | None = None
    ratio: float = 0.0
    time_s: float = 0.0
    error: str = ""


class _Measured(NamedTuple):
    """A car at a measurement: m along the road, on over laps; m left; m/s; contacts; wheels on the road."""

    way: float
    offset: float
    speed: float
    contacts: float
    on_track: float


class SceneMonitor:
    """A Tap that follows all cars by the world's states, and judges a scene.

    Args:
        plant: the world.
        clear_m: m, by which the judged car has to be ahead of all others.
        clear_s: s, for how long.
    """

    def __init__(self, plant: World, clear_m: float, clear_s: float) -> None:
        self._plant, self._clear_m, self._clear_s = plant, clear_m, clear_s
        self._road = plant.track.road
        self._rows = [-1] * len(plant.cars)
        self._ticks = 0
        self.time = self.off_road_s = self.stalled_s = 0.0
        self.cars = [self._measure(car, math.nan) for car in range(len(plant.cars))]
        rivals = self.cars[1:]
        ahead = [(rival.way - self.cars[0].way) % self._road.length for rival in rivals]
        self.cars[1:] = [rival._replace(way=self.cars[0].way + gap) for rival, gap in zip(rivals, ahead, strict=True)]
        self.began = list(self.cars)
        self.ahead_since = math.nan
        self.contact_at: tuple[float, ...] = ()
        self.wall_contacts = 0
        self.lap_ways: list[tuple[float, float, float]] = []  # time, way, speed of the judged car

    def start(self, about: JsonObject) -> None:
        """Nothing to prepare."""

    def close(self) -> None:
        """Nothing to end."""

    def tick(self, state: CarState, controls: Controls) -> None:
        """Measure all cars."""
        self._ticks += 1
        if self._ticks % MEASURE_TICKS:
            return
        dt = MEASURE_TICKS * self._plant.period
        self.time += dt
        before, self.cars = self.cars, [self._measure(car, own.way) for car, own in enumerate(self.cars)]
        own = self.cars[0]
        self.lap_ways.append((self.time, own.way, own.speed))
        self.off_road_s += dt if own.on_track < 2.0 else 0.0
        self.stalled_s = self.stalled_s + dt if own.speed < STALLED_SPEED else 0.0
        self._judge_contacts(before[0].contacts)
        is_ahead = all(own.way - rival.way > self._clear_m for rival in self.cars[1:])
        self.ahead_since = math.nan if not is_ahead else self.time if math.isnan(self.ahead_since) else self.ahead_since

    @property
    def has_passed(self) -> bool:
        """Whether the judged car has been ahead for long enough."""
        return len(self.cars) > 1 and self.time - self.ahead_since >= self._clear_s

    def _judge_contacts(self, before: float) -> None:
        own = self.cars[0]
        if own.contacts <= before:
            return
        touches = [touch for touch in self._plant.counters().get("car_contacts", ()) if touch["first"] == 0]
        if not touches:
            self.wall_contacts += 1
        elif not self.contact_at:
            touch = touches[0]
            rival = self.cars[touch["second"]]
            self.contact_at = touch["s_m"], own.offset - rival.offset, own.way - rival.way, touch["closing_mps"]

    def _measure(self, car: int, before: float) -> _Measured:
        state = self._plant.car_state(car)
        s, offset, self._rows[car] = self._road.locate(state.x, state.y, self._rows[car])
        if not math.isnan(before):
            s += self._road.length * math.floor((before - s) / self._road.length + 0.5)
        on_track = sum(wheel.on_track for wheel in state.wheels)
        return _Measured(s, offset, state.speed, state.contacts, on_track)


@functools.cache
def load_course(track: str, car: str) -> Course:
    """Return the course of a venue."""
    return Course(load_track(track), load_car(car))


def make_scene_setup(suite_sim: str, track: str, car: str, drivers: list[Driver]) -> DriveSetup:
    """Return the drive of some drivers in the embedded world."""
    site = EmbeddedSite(sim=suite_sim, track=track, car=car)
    spec = DriveSpec(site=site, cars=tuple(CarSpec(driver="line_track") for _ in drivers))
    return make_setup(registry.find(suite_sim), spec, drivers=drivers)


def load_judged(judged: JudgedDriver, course: Course) -> Driver:
    """Return a judged driver after its reset, on the line that it wants."""
    driver = load_driver(judged.name, Path(judged.config) if judged.config else None, judged.gain)
    wants = isinstance(driver, UsesKerbs) and driver.uses_kerbs
    driver.reset(course.with_kerbs() if wants else course)
    return driver


def drive_monitored(
    setup: DriveSetup,
    drivers: list[Driver],
    places: list[tuple[Pose, float]],
    clear: tuple[float, float],
    is_over: Callable[[SceneMonitor], bool],
) -> SceneMonitor:
    """Drive from given places until `is_over` of the monitor; return the monitor.

    Args:
        setup: of the drive.
        drivers: one per car.
        places: pose and speed (m/s) of each car.
        clear: m and s, as `SceneMonitor` takes them.
        is_over: takes the monitor, returns whether the drive is over.
    """
    monitors: list[SceneMonitor] = []

    def watch_cars(connection: Connection) -> Iterator[CarWatch]:
        plant = connection.plant
        assert isinstance(plant, World)
        for car, (pose, speed) in enumerate(places):
            plant.place_car(car, pose, speed)
        monitor = SceneMonitor(plant, *clear)
        monitors.append(monitor)
        yield CarWatch([monitor], lambda: "" if is_over(monitor) else None)
        for _ in drivers[1:]:  # they end with it: a drive waits for all goals, for half as long again
            yield CarWatch([], lambda: "" if is_over(monitor) else None)

    named = [NamedDriver(driver, type(driver).__module__) for driver in drivers]
    outcome = drive_cars(setup, named, watch_cars, Supervisor())
    monitor = monitors[0]
    if outcome.loop.reason:
        raise TrailbrakeError(outcome.loop.reason)
    return monitor


def place_on_line(line: Road, s: float, offset: float = 0.0, turned: float = 0.0) -> Pose:
    """Return the pose on a line, `turned` (rad) to the left."""
    x, y, z, yaw = line.points(s, offset)[0].tolist()
    return Pose(x, y, z, yaw + turned)


@functools.lru_cache(maxsize=8)
def practise(sim: str, track: str, car: str, judged: JudgedDriver, laps: int) -> Practice:
    """Drive a driver alone for some laps from a rolling start; return its last lap and what it has learned."""
    course = load_course(track, car)
    driver = load_judged(judged, course)
    length = course.track.road.length
    start = place_on_line(course.line, 0.0), float(course.profile.speed[0])
    limit = 3.0 * (laps + 1) * course.profile.lap_time

    def is_over(monitor: SceneMonitor) -> bool:
        done = monitor.cars[0].way - monitor.began[0].way >= (laps + 0.1) * length
        return done or monitor.time > limit

    setup = make_scene_setup(sim, track, car, [driver])
    monitor = drive_monitored(setup, [driver], [start], (0.0, 0.0), is_over)
    lap = cut_last_lap(np.array(monitor.lap_ways), monitor.began[0].way, laps, length)
    if lap is None:
        raise TrailbrakeError(f"{judged.name} alone did not finish {laps} laps in {limit:.0f} s on {track}")
    memory = driver.export_memory() if isinstance(driver, KeepsMemory) else None
    return Practice(*lap, memory)


def cut_last_lap(
    driven: NDArray[np.float64], began: float, laps: int, length: float
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]] | None:
    """Return the last of `laps` laps: `lap_s`, `times` and `speeds` of a `Practice`; None if it was not finished.

    Args:
        driven: (n, 3) `SceneMonitor.lap_ways`.
        began: m along the road at the start, which may lie a little before its zero.
        laps: how many.
        length: m, of the road.
    """
    time, way, speed = driven.T
    first = length * (round(began / length) + laps - 1)
    if way[-1] < first + length:
        return None
    stations = np.arange(0.0, length) + first
    times = np.interp(stations, way, time)
    lap_s = float(np.interp(first + length, way, time) - times[0])
    return lap_s, times - times[0], np.interp(stations, way, speed)


def drive_scene(suite: OvertakingSuite, scene: OvertakingScene, judged: JudgedDriver) -> SceneResult:
    """Drive a scene; whatever goes wrong is a result."""
    try:
        return _drive_scene(suite, scene, judged)
    except TrailbrakeError as error:
        return SceneResult(error=str(error))
    except (Exception, SystemExit) as error:
        return SceneResult(error=f"{type(error).__name__}: {describe_value(error)} ({raised_at(error) or 'evaluate'})")


def _drive_scene(suite: OvertakingSuite, scene: OvertakingScene, judged: JudgedDriver) -> SceneResult:
    venue = scene.venue
    course = load_course(venue.track, venue.car)
    practice = practise(suite.sim, venue.track, venue.car, judged, suite.practice_laps)
    driver = load_judged(judged, course)
    if practice.memory is not None and isinstance(driver, KeepsMemory):
        driver.import_memory(practice.memory, "practice")
    plan = RivalPlan(scene.habit, scene.means, venue.reference_s / scene.ratio, scene.rival_seed)
    rivals = [RivalDriver(plan) for _ in scene.gaps_m]
    for rival in rivals:
        rival.reset(course)
    drivers: list[Driver] = [driver, *rivals]
    line, road = course.line, course.track.road
    own_s, profile, is_spun = scene.start * line.length, rivals[0].profile, scene.habit == "spun"
    start = place_on_line(line, own_s)
    own_way, _, _ = road.locate(start.x, start.y)
    own_speed = float(practice.speeds[int(own_way) % len(practice.speeds)])
    places = [(start, own_speed if is_spun else min(own_speed, _speed_at(profile.speed, line, own_s)))]
    for gap in scene.gaps_m:
        s = own_s + gap
        speed = 0.0 if is_spun else _speed_at(profile.speed, line, s)
        places.append((place_on_line(line, s, turned=0.5 * math.pi if is_spun else 0.0), speed))
    length = course.known_car().body.length
    limit = SLOWEST * scene.laps * practice.lap_s

    def is_over(monitor: SceneMonitor) -> bool:
        driven = monitor.cars[0].way - monitor.began[0].way
        return (monitor.has_passed or bool(monitor.contact_at) or driven >= scene.laps * road.length
                or monitor.time > limit or monitor.stalled_s > STALLED_S)  # fmt: skip

    setup = make_scene_setup(suite.sim, venue.track, venue.car, drivers)
    monitor = drive_monitored(setup, drivers, places, (length, suite.clear_s), is_over)
    first, last = monitor.began, monitor.cars
    free = _free_time(practice.times, practice.lap_s, first[0].way, last[0].way)
    along = np.concatenate([[0.0], np.cumsum(line.spacing / np.maximum(profile.speed, 1.0))])
    stations = np.arange(0.0, road.length) * (len(along) - 1) / road.length
    planned = np.interp(stations, np.arange(len(along)), along)
    rival_free = _free_time(planned, profile.lap_time, first[1].way, last[1].way)
    return SceneResult(
        passed=monitor.has_passed and not monitor.contact_at,
        after_s=None if math.isnan(monitor.ahead_since) else monitor.ahead_since,
        contact=bool(monitor.contact_at), contact_at=monitor.contact_at, off_road_s=monitor.off_road_s,
        wall_contacts=monitor.wall_contacts, lost_s=monitor.time - free,
        rival_lost_s=None if is_spun else monitor.time - rival_free, ratio=practice.lap_s / profile.lap_time,
        time_s=monitor.time,
    )  # fmt: skip


def _speed_at(speeds: NDArray[np.float64], line: Road, s: float) -> float:
    return float(speeds[int(s / line.spacing) % len(speeds)])


def _free_time(times: NDArray[np.float64], lap_s: float, begin: float, end: float) -> float:
    """Return the time (s) of a free lap from one way (m) to another; `times` at each m of the road."""
    length = len(times)

    def at(way: float) -> float:
        laps, s = divmod(way, length)
        return laps * lap_s + float(np.interp(s, np.arange(length + 1), np.append(times, lap_s)))

    return at(end) - at(begin)
