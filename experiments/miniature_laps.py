"""Counts laps, contacts and fork choices of the camera drivers: the tables behind docs/figures.md, as they are driven.

    python experiments/miniature_laps.py PART DRIVER

PART: shipped (5 tracks, both looks, 3 laps), generated (gen:1 to gen:20 and gen:24, looks in turn, 3 laps), forks
(gen:1 to gen:51, looks in turn, a lap), parked (shipped, both looks, 3 laps, 4 parked cars). Nothing in it is random: a
line repeats to the figure. A lap takes some 3 s.
"""

import sys

from trailbrake.bench.trend import CountedDrive, drive_laps
from trailbrake.world.miniature.track_library import miniature_track_names

HEAD = "| driver | track | look | laps, s | driven, m | best / ideal | contacts | stuck, s | wrong way, s | forks |"
SHIPPED = [(track, look, 3) for track in miniature_track_names() for look in "AB"]
PARTS = {
    "shipped": (SHIPPED, 0),
    "generated": ([(f"gen:{seed}", "AB"[seed % 2], 3) for seed in (*range(1, 21), 24)], 0),
    "forks": ([(f"gen:{seed}", "AB"[seed % 2], 1) for seed in range(1, 52)], 0),
    "parked": (SHIPPED, 4),
}


def line(one: CountedDrive) -> str:
    """Return a drive as a row of the table."""
    laps = " ".join(f"{lap:.2f}" for lap in one.lap_times) + " -" * (one.requested_laps - len(one.lap_times))
    driven = " ".join(f"{way:.1f}" for way in one.lap_distances)
    ideal = f"{one.ratio_to_ideal:.4f}" if one.lap_times else "-"
    return (f"| `{one.driver}` | {one.track} | {one.look} | {laps} | {driven} | {ideal} | {one.contacts} "
            f"| {one.stuck_s:.1f} | {one.wrong_way_s:.1f} | {one.shorter_forks}/{one.forks} |")  # fmt: skip


def main(part: str, driver: str) -> None:
    """Drive a part of the table."""
    drives, parked = PARTS[part]
    print(HEAD, "|---" * 10 + "|", sep="\n")
    done = []
    for track, look, laps in drives:
        done.append(drive_laps(driver, track, look, laps, parked))
        print(line(done[-1]), flush=True)
    right, forks = sum(one.shorter_forks for one in done), sum(one.forks for one in done)
    print(f"\n{driver}, {part}: {sum(one.is_clean for one in done)} of {len(done)} clean; forks {right} of {forks}")


if __name__ == "__main__":
    main(*sys.argv[1:])
