"""Print how much of the largest acceleration a drive uses, by speed, with Polars: friction_use.py RUN."""

import sys

import polars

import trailbrake
from trailbrake.units import G


def main(run: str) -> None:
    frame = trailbrake.load(run, "polars")
    total = (polars.col("acceleration_x") ** 2 + polars.col("acceleration_y") ** 2).sqrt() / G
    bands = ((polars.col("speed") * 3.6 / 25).floor() * 25).alias("from km/h")
    by_speed = frame.select(bands, total.alias("g")).group_by("from km/h")
    for speed, used in by_speed.agg(polars.col("g").quantile(0.95)).sort("from km/h").iter_rows():
        print(f"{speed:4.0f} km/h: {used:.2f} g")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
