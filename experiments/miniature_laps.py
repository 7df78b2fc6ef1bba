"""Counts laps, contacts and fork choices of the camera drivers: the tables behind docs/figures.md, as they are driven.

    python experiments/miniature_laps.py PART DRIVER [FIRST LAST]

PART: shipped (5 tracks, both looks, 3 laps), generated (gen:1 to gen:20 and gen:24, looks in turn, 3 laps), forks
(gen:1 to gen:51, looks in turn, a lap), parked (shipped, both looks, 3 laps, 4 parked cars), new (gen:FIRST to
gen:LAST, a lap; looks in turn, 0, 1 and 2 parked cars in turn). Nothing in it is random: a line repeats to the figure.
A lap takes some 3 s. The last two columns compare the best lap with the shortest way that the track has: one between
all walls, and one in the best lane, kept all round.
"""

import sys
from functools import cache

import numpy as np
from miniature_drives import CountedDrive, drive_laps, launch_loss
from numpy.typing import NDArray

from trailbrake.planning.minimum_curvature import Centreline, minimise_curvature
from trailbrake.planning.quadratic_program import Bounds
from trailbrake.planning.spline import resample_path
from trailbrake.world.miniature.car import TOP_SPEED
from trailbrake.world.miniature.layout import LANE
from trailbrake.world.miniature.parked_cars import CAR_WIDTH
from trailbrake.world.miniature.track import HalfColumn, RoadHalf
from trailbrake.world.miniature.track_library import load_miniature_track, miniature_track_names

Array = NDArray[np.float64]
HEAD = ("| driver | track | look | laps, s | driven, m | best / ideal | contacts | stuck, s | wrong way, s | forks "
        "| over the shortest | in a lane |")  # fmt: skip
SHIPPED = [(track, look, 3, 4) for track in miniature_track_names() for look in "AB"]
PARTS = {
    "shipped": [(track, look, laps, 0) for track, look, laps, _ in SHIPPED],
    "generated": [(f"gen:{seed}", "AB"[seed % 2], 3, 0) for seed in (*range(1, 21), 24)],
    "forks": [(f"gen:{seed}", "AB"[seed % 2], 1, 0) for seed in range(1, 52)],
    "parked": SHIPPED,
}
STEP = 0.05  # m between points of a path
# Each pass starts from the path of the last, may move so far (m), and weighs a metre so much (1/m^2): at the last one
# the path bends as tightly as the car's steering can follow, and no bend is wider for its curvature's sake.
PASSES = ((1.7, 1.0), (0.8, 3.0), (0.6, 10.0), (0.5, 100.0), (0.5, 100.0))


def measure_reach(places: Array, ways: Array, walls: Array) -> Array:
    """Return how far, m, it is from places (n, 2) to the first wall along unit vectors (n, 2)."""
    ends = walls[:, 2:4] - walls[:, :2]
    apart = walls[None, :, :2] - places[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        bend = ways[:, :1] * ends[:, 1] - ways[:, 1:] * ends[:, 0]
        along = (apart[..., 0] * ends[:, 1] - apart[..., 1] * ends[:, 0]) / bend
        share = (apart[..., 0] * ways[:, 1:] - apart[..., 1] * ways[:, :1]) / bend
    found: Array = np.where((along > 0.0) & (share >= 0.0) & (share <= 1.0), along, np.inf).min(axis=1)
    return found


def shorten(line: Array, walls: Array, reach: float = 0.0) -> Array:
    """Return the shortest path (n, 2) of the middle of a car near a closed line (m, 2): m.

    Args:
        line: between the walls.
        walls: of the track.
        reach: m to both sides that the path may leave the line; 0: as far as the walls let the car.
    """
    for limit, weight in PASSES[3:4] if reach else PASSES:
        x, y, yaw, _, _ = resample_path(line[:, 0], line[:, 1], True, STEP)
        centre = Centreline(x, y, -np.sin(yaw), np.cos(yaw), True)
        places, normals = np.column_stack([x, y]), np.column_stack(centre[2:4])
        sides = [measure_reach(places, way, walls) - 0.5 * CAR_WIDTH for way in (-normals, normals)]
        right, left = (np.minimum(side, reach or limit) for side in sides)
        middle = 0.5 * (left - right)
        bounds = Bounds(np.minimum(-right, middle - 0.002), np.maximum(left, middle + 0.002))
        line = places + minimise_curvature(centre, bounds, weight)[:, None] * normals
    return line


def measure_length(line: Array) -> float:
    """Return the length of a closed line (n, 2), m."""
    return float(np.hypot(*(np.roll(line, -1, axis=0) - line).T).sum())


@cache
def shortest_ways(name: str) -> tuple[float, float]:
    """Return the lengths, m, of the shortest way round: between all walls by the shorter branches, and in one lane."""
    track = load_miniature_track(name)
    s = np.arange(0.0, track.length, STEP)
    sides = [(at, 1.0 if fork.shorter_half == RoadHalf.LEFT else -1.0)
             for fork in track.forks for at in (fork.start - 0.6, fork.end + 0.6)]  # fmt: skip
    share = np.interp(s, *np.transpose(sides or [(0.0, 0.0)]), period=track.length)
    halves = [np.column_stack([np.interp(s, half[:, HalfColumn.ROAD_S], half[:, column], period=track.length)
                               for column in (HalfColumn.X, HalfColumn.Y)]) for half in track.halves]  # fmt: skip
    guide = 0.5 * ((1.0 + share)[:, None] * halves[0] + (1.0 - share)[:, None] * halves[1])
    lanes = [half[:, :2] + offset * np.column_stack([-half[:, HalfColumn.SIN], half[:, HalfColumn.COS]])
             for half in track.halves for offset in (-LANE, 0.0, LANE)]  # fmt: skip
    room = 0.5 * (LANE - CAR_WIDTH)
    return measure_length(shorten(guide, track.walls)), min(
        measure_length(shorten(lane, track.walls, room)) for lane in lanes
    )


def losses(one: CountedDrive) -> list[float]:
    """Return how much longer the best lap is than the shortest way takes at top speed, free and in a lane: shares."""
    start = launch_loss() if one.best_lap == 0 else 0.0
    return [one.lap_times[one.best_lap] / (way / TOP_SPEED + start) - 1.0
            for way in shortest_ways(one.track)]  # fmt: skip


def format_row(one: CountedDrive) -> str:
    """Return a drive as a row of the table."""
    laps = " ".join(f"{lap:.2f}" for lap in one.lap_times) + " -" * (one.requested_laps - len(one.lap_times))
    driven = " ".join(f"{way:.1f}" for way in one.lap_distances)
    ideal = f"{one.ratio_to_ideal:.4f}" if one.lap_times else "-"
    over = " | ".join(f"{100.0 * loss:+.1f} %" for loss in losses(one)) if one.lap_times else "- | -"
    return (f"| `{one.driver}` | {one.track} | {one.look} | {laps} | {driven} | {ideal} | {one.contacts} "
            f"| {one.stuck_s:.1f} | {one.wrong_way_s:.1f} | {one.shorter_forks}/{one.forks} | {over} |")  # fmt: skip


def main(part: str, driver: str, first: str = "0", last: str = "-1") -> None:
    """Drive a part of the table."""
    new = [(f"gen:{seed}", "AB"[seed % 2], 1, seed % 3) for seed in range(int(first), int(last) + 1)]
    print(HEAD, "|---" * 12 + "|", sep="\n")
    done = []
    for track, look, laps, parked in new if part == "new" else PARTS[part]:
        done.append(drive_laps(driver, track, look, laps, parked))
        print(format_row(done[-1]), flush=True)
    right, forks = sum(one.shorter_forks for one in done), sum(one.forks for one in done)
    over = [100.0 * losses(one)[0] for one in done if one.lap_times]
    print(f"\n{driver}, {part}: {sum(one.is_clean for one in done)} of {len(done)} clean; forks {right} of {forks}; "
          f"over the shortest {np.mean(over):.1f} % in the mean, {max(over):.1f} % at the most")  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
