"""Races of `race_line` through Assetto's wire from a reversed grid: contacts and faults, finishes, order, pace.

`python experiments/races.py --races 10 --laps 5 --seed 1`. The lap times alone of a race's cars are spread evenly over
SPREAD, by the driver's `pace`; a seed moves each a little. Each car begins with what laps alone have taught.
"""

import argparse
import json
import random
import time

import numpy as np

from trailbrake.analysis.race_motion import open_race
from trailbrake.analysis.steward import judge_recordings
from trailbrake.driving.goals import Laps
from trailbrake.driving.session.drive_session import drive
from trailbrake.driving.spec import CarSpec, DriveSpec, EmbeddedSite, KeepSpec
from trailbrake.record.recording_reader import Recording

SPREAD = 0.08  # of the lap time, from the fastest car to the slowest
JITTER = 0.002  # of it, by which a seed moves each
PRACTICE_LAPS = 4
PACES = (1.0, 0.96, 0.92, 0.88)  # whose laps alone are measured
KEEP = KeepSpec(report=False)


def drive_alone(args: argparse.Namespace, laps: int, pace: float = 1.0) -> float:
    """Drive alone; return the last lap (s)."""
    site = EmbeddedSite(track=args.track, car=args.car)
    alone = CarSpec(driver="race_line", memory=args.memory, gain=(f"pace={pace}",))
    driven = drive(DriveSpec(site=site, cars=(alone,), goal=Laps(laps), keep=KEEP))
    return float(driven["laps"][-1]["time_s"])


def draw_paces(cars: int, seed: int, alone: dict[float, float]) -> list[float]:
    """Return a pace for each car, the slowest first: the first car ends a drive. `alone`: lap (s) by pace."""
    draw, free = random.Random(seed), min(alone.values())
    by_lap = sorted((lap, pace) for pace, lap in alone.items())
    spreads = [SPREAD * k / (cars - 1) + (draw.uniform(-JITTER, JITTER) if k else 0.0) for k in reversed(range(cars))]
    return [float(np.interp(free * (1.0 + spread), *zip(*by_lap, strict=True))) for spread in spreads]


def drive_race(args: argparse.Namespace, seed: int, alone: dict[float, float]) -> dict[str, float]:
    """Drive a race, print its contacts, and return its figures."""
    cars = tuple(CarSpec(driver="race_line", gain=(f"pace={pace:.5f}",), memory=args.memory)
                 for pace in draw_paces(args.cars, seed, alone))  # fmt: skip
    conditions = f"grid={args.grid}", f"race_laps={args.laps}"
    site = EmbeddedSite(track=args.track, car=args.car, seed=seed, conditions=conditions)
    began = time.monotonic()
    driven = drive(DriveSpec(site=site, cars=cars, goal=Laps(args.laps), keep=KEEP))
    wall = time.monotonic() - began
    judged = judge_recordings(open_race(Recording.open(driven["recording"])))
    for contact in judged:
        print("   ", contact.describe())
    order, n = [row["car"] for row in driven["race"]], args.cars
    off = sum((place - (n - 1 - car)) ** 2 for place, car in enumerate(order))  # by pace the last number leads
    figures = {
        "contacts": len(judged), "faults": sum(contact.fault is not None for contact in judged),
        "finished": sum(row["finish_s"] is not None for row in driven["race"]),
        "spearman": 1.0 - 6.0 * off / (n * (n * n - 1)),
        "off_s": sum(car["off_track_s"] for car in (driven, *driven["others"])), "wall_s": wall,
    }  # fmt: skip
    print(seed, driven["ended"], "order", order, json.dumps({name: round(v, 3) for name, v in figures.items()}))
    for number, car in enumerate((driven, *driven["others"])):
        print("    car", number, "laps", [round(lap["time_s"], 2) for lap in car["laps"]], flush=True)
    return figures


def main() -> None:
    """Read the command line, and drive."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, number in (("races", 1), ("cars", 8), ("laps", 5), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=number)
    for name, text in (("track", "pinegrove"), ("car", "gt3"), ("grid", "standing"), ("memory", "races.json")):
        parser.add_argument(f"--{name}", default=text)
    args = parser.parse_args()
    drive_alone(args, PRACTICE_LAPS)
    alone = {pace: drive_alone(args, 2, pace) for pace in PACES}
    print("alone", alone, flush=True)
    done = [drive_race(args, args.seed + k, alone) for k in range(args.races)]
    print("mean", {name: round(float(np.mean([race[name] for race in done])), 3) for name in done[0]})


if __name__ == "__main__":
    main()
