"""Print top speed and brake use of each lap with pandas: lap_statistics.py RUN (a file, an id, last or best)."""

import sys

import trailbrake


def main(run: str) -> None:
    frame = trailbrake.load(run)
    laps = frame[frame["lap"] > 0].groupby("lap")
    print((laps["speed"].max() * 3.6).rename("top km/h"))
    print(laps["command_brake"].mean().rename("mean brake"))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
