"""Cars in bad places, drawn from a seed, and the time that a driver takes back onto the road through a real wire.

`python experiments/bad_poses.py --count 200` prints the table of docs/recovery.md. Two of the six
tracks are files beside the repository (`TRAILBRAKE_SHARED`); they are left out where they are missing.
"""

import argparse
import dataclasses
import math
import os
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from trailbrake.cars.car_library import load_car
from trailbrake.cli.drive_flags import DriveFlags
from trailbrake.drivers.loading.driver_registry import load_driver
from trailbrake.driving.loop.command_gate import CommandGate
from trailbrake.driving.loop.drive_loop import CarLoop
from trailbrake.driving.loop.supervisor import Supervisor
from trailbrake.driving.session.drive_setup import make_setup
from trailbrake.driving.session.open_connection import open_connection
from trailbrake.planning.course import Course
from trailbrake.sims import registry
from trailbrake.tracks import track_library
from trailbrake.tracks.road import RoadColumn
from trailbrake.tracks.track_library import load_track
from trailbrake.units import wrap_angle
from trailbrake.world.row_layout import StateRow

LIBRARY_TRACKS = (
    "pinegrove",
    "hartmoor:gravel",
    "kartwerk",
    "serpent_pass",
)  # grass, gravel, walls at the edge, slopes
SHARED_TRACKS = ("Berlin2018.csv", "Nuerburgring.csv")
CARS = ("gt3", "hatchback", "f1", "sports_awd", "kart")
KINDS = ("aside", "nose", "tail", "turned", "sliding")
LIMIT_S = 60.0  # after which a car counts as not back
GET_ON = 30.0  # m along the road that a car must drive on it, to be back
HEADING = 0.6  # rad from the road's direction, at most, all that way


@dataclasses.dataclass(frozen=True)
class BadPose:
    """A car in a bad place.

    Attributes:
        number: of the draw.
        kind: aside = at rest beside the road, any heading; nose, tail = against a wall; turned = across the road or
            backwards on it; sliding = anywhere, moving in any direction and turning.
        track: as `load_track` takes it, with `:SURFACE` for another ground beside the road.
        car: name.
        at: share of the road's length.
        aside: -1..1, from the right wall to the left one.
        heading: rad from the road's direction.
        velocity: m/s forward, m/s to the left, and rad/s.
    """

    number: int
    kind: str
    track: str
    car: str
    at: float
    aside: float
    heading: float
    velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How it went.

    Attributes:
        pose: of the beginning.
        seconds: of simulator time until the car had driven GET_ON on the road; infinite where it did not in LIMIT_S.
        was_placed: whether a command of the driver put the car back.
        ended: why the drive ended early.
    """

    pose: BadPose
    seconds: float
    was_placed: bool = False
    ended: str = ""


def list_tracks() -> tuple[str, ...]:
    """Return the names of the tracks that are there."""
    folder = Path(os.environ.get("TRAILBRAKE_SHARED", "shared")) / "data" / "tracks"
    return LIBRARY_TRACKS + tuple(str(folder / name) for name in SHARED_TRACKS if (folder / name).is_file())


def draw_poses(count: int, seed: int = 0, tracks: tuple[str, ...] = (), cars: tuple[str, ...] = CARS) -> list[BadPose]:
    """Return `count` poses; the tracks, the cars and the kinds take turns."""
    tracks = tracks or list_tracks()
    poses = []
    for number in range(count):
        rng = np.random.default_rng([seed, number])
        kind, track = KINDS[number % len(KINDS)], tracks[number % len(tracks)]
        car = cars[(number // len(tracks) + number // (len(tracks) * len(KINDS))) % len(cars)]
        side = 1.0 if rng.random() < 0.5 else -1.0
        aside, heading, velocity = side * rng.uniform(0.4, 1.0), rng.uniform(-math.pi, math.pi), (0.0, 0.0, 0.0)
        if kind in ("nose", "tail"):
            outward = side * math.pi / 2.0 + rng.uniform(-1.0, 1.0)
            aside, heading = side, outward if kind == "nose" else outward + math.pi
        elif kind == "turned":
            aside, heading = rng.uniform(-0.4, 0.4), side * rng.uniform(1.0, math.pi)
        elif kind == "sliding":
            aside, way = rng.uniform(-0.9, 0.9), rng.uniform(-math.pi, math.pi)
            speed = rng.uniform(2.0, 20.0)
            velocity = speed * math.cos(way), speed * math.sin(way), rng.uniform(-2.0, 2.0)
        poses.append(BadPose(number, kind, track, car, rng.uniform(0.02, 0.94), aside, wrap_angle(heading), velocity))
    return poses


def write_track(name: str, folder: Path) -> str:
    """Return the name or file of a track; `TRACK:SURFACE` is written into `folder`, with another ground beside it."""
    plain, _, surface = name.partition(":")
    if not surface:
        return name
    lines = (Path(track_library.__file__).parent / "library" / f"{plain}.toml").read_text(encoding="utf-8").splitlines()
    lines = [line for line in lines if not line.startswith("off_road")]
    first = next(k for k, line in enumerate(lines) if line.startswith("width"))
    lines.insert(first, f'off_road = "{surface}"')
    path = folder / f"{plain}_{surface}.toml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def run_poses(poses: list[BadPose], driver: str = "line_follow", sim: str = "assetto") -> Iterator[Outcome]:
    """Drive from each pose through the wire of `sim`, in lockstep; poses of one track and car share a connection."""
    groups = defaultdict(list)
    for pose in poses:
        groups[pose.track, pose.car].append(pose)
    simulator = registry.find(sim)
    with tempfile.TemporaryDirectory(prefix="trailbrake-poses-") as scratch:
        for (name, car), group in groups.items():
            file = write_track(name, Path(scratch))
            track = load_track(file)
            course = Course(track, load_car(car))
            setup = make_setup(
                simulator, DriveFlags(sim=sim, track=file, car=car).make_spec(), drivers=[load_driver(driver)]
            )
            with open_connection(setup, lambda: False) as connection:
                for pose in group:
                    yield run_pose(pose, connection, course, driver)


def run_pose(pose, connection, course, name):
    """Put the car of an embedded world to a pose and drive until it is back."""
    road, world, link = course.track.road, connection.plant, connection.link
    place_car(world, course, pose)
    driver, supervisor = load_driver(name), Supervisor()
    driver.reset(course)
    gate = CommandGate(link, frozenset(), lambda text: None, optional=getattr(driver, "OPTIONAL_COMMANDS", frozenset()))
    loop = CarLoop(link, driver, supervisor, [], lambda: None, commands=gate)
    start = world.car_state(0).time
    row, before, moved, seconds = -1, math.nan, 0.0, 0.0
    while seconds < LIMIT_S and not supervisor.stop_reason:
        loop.run_tick(connection.pacer.wait_for_sample(link))
        state = world.car_state(0)
        seconds = state.time - start
        s, offset, row = road.locate(state.x, state.y, row)
        at = road.table[row]
        ahead = abs(wrap_angle(state.yaw - at[RoadColumn.YAW])) < HEADING and state.velocity_x > 0.0
        if not (ahead and -at[RoadColumn.WIDTH_RIGHT] <= offset <= at[RoadColumn.WIDTH_LEFT]):
            before = math.nan
            continue
        if math.isnan(before):
            before, moved = s, 0.0
        change = s - before
        moved += (change + road.length / 2.0) % road.length - road.length / 2.0 if road.closed else change
        before = s
        if moved >= GET_ON:
            return Outcome(pose, seconds, gate.sent > 0)
    return Outcome(pose, math.inf, gate.sent > 0, supervisor.stop_reason)


def place_car(world, course, pose):
    """Put the first car of a world to a pose, moving as it says; cars against a wall touch it."""
    road, body = course.track.road, course.known_car().body
    s = pose.at * road.length
    side = 1.0 if pose.aside > 0.0 else -1.0
    columns = (
        (RoadColumn.WIDTH_LEFT, RoadColumn.RUNOFF_LEFT)
        if side > 0.0
        else (RoadColumn.WIDTH_RIGHT, RoadColumn.RUNOFF_RIGHT)
    )
    wall = sum(road.value_at(s, column) for column in columns)
    reach = 0.5 * (body.length * abs(math.sin(pose.heading)) + body.width * abs(math.cos(pose.heading)))
    offset = pose.aside * max(wall - reach, 0.0)
    x, y, _, yaw = road.points(s, offset)[0].tolist()
    forward, left, rate = pose.velocity
    world.batch.place_cars(0, x, y, yaw + pose.heading, forward)
    column = world.batch.view_car(0)
    column[StateRow.VY], column[StateRow.YAW_RATE] = left, rate


def print_table(title: str, outcomes: list[Outcome], by: str) -> None:
    """Print a line per value of a field of the pose."""
    print(f"\n{title:24} {'back':>9} {'<=30 s':>7} {'median':>7} {'p90':>7} {'worst':>7} {'placed':>7}")
    groups = defaultdict(list)
    for outcome in outcomes:
        groups[Path(str(getattr(outcome.pose, by))).stem if by else "all"].append(outcome)
    for name, group in groups.items():
        times = np.array([outcome.seconds for outcome in group])
        back = times[np.isfinite(times)]
        p50, p90, worst = np.percentile(back, [50.0, 90.0, 100.0]) if len(back) else (math.nan,) * 3
        placed = sum(outcome.was_placed for outcome in group)
        print(
            f"{name:24} {len(back):4}/{len(group):4} {int((times <= 30.0).sum()):7} {p50:7.1f} {p90:7.1f} {worst:7.1f}"
            f" {placed:7}"
        )


def main() -> int:
    """Drive from the poses that the command line names; return 1 where a car was not back within 30 s."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--driver", default="line_follow")
    parser.add_argument("--sim", default="assetto")
    parser.add_argument("--only", type=int, nargs="*", help="numbers of poses")
    options = parser.parse_args()
    poses = draw_poses(options.count, options.seed)
    if options.only:
        poses = [pose for pose in poses if pose.number in options.only]
    outcomes = []
    for outcome in run_poses(poses, options.driver, options.sim):
        outcomes.append(outcome)
        pose = outcome.pose
        print(
            f"{pose.number:4} {pose.kind:8} {Path(pose.track).stem:16} {pose.car:10} {outcome.seconds:6.1f} s"
            f"{' placed' if outcome.was_placed else ''} {outcome.ended}",
            flush=True,
        )
    for by in ("kind", "track", "car", ""):
        print_table(by or "", outcomes, by)
    return 0 if all(outcome.seconds <= 30.0 for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
