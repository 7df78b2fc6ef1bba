"""Solves published minimum-time problems, and a campaign over roads and cars: `minimum-time` of docs/figures.md.

`python experiments/minimum_time.py problems` solves the published problems, `campaign` the campaign (twenty minutes on
a quiet machine), `campaign NAME ...` the cases of these tracks and cars alone. Both write the section from what was
measured last, which is in experiments/results, and all cases to build/experiments. Needs the extra "limit"; the tracks
and the reference lap are beside the repository, and TRAILBRAKE_SHARED names another folder.
"""

import dataclasses
import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from figures_page import RESULTS, SHARED, write_details, write_section
from line_replay import replay_solution, solve_curvature_line
from published_cars import RACECAR_MARGIN, RACECAR_STEP, racecar, solve_limebeer_lap

from trailbrake.cars.car_library import load_car
from trailbrake.errors import TrailbrakeError
from trailbrake.optimal.minimum_time import plan_minimum_time
from trailbrake.optimal.transcription import unscale_unknowns
from trailbrake.optimal.vehicle_model import vehicle_from_car
from trailbrake.planning.path_margins import EDGE_MARGIN
from trailbrake.tracks.track_library import load_track

FIGURES = RESULTS / "minimum_time.json"
CARS = ("f1", "gt3", "hatchback", "kart", "sports_awd")
CIRCUITS = ("copperbowl", "hartmoor", "lakeside", "pinegrove")
CAMPAIGN_STEP = 6.0  # m, of the campaign: less than half the work of the default
MEASURED = ("Berlin2018", "Monza", "Nuerburgring", "Shanghai", "Silverstone", "Spa")


def list_cases() -> list[tuple[str, str]]:
    """Return (track, car) of the campaign: measured tracks with all cars, library and generated circuits with gt3."""
    measured = [(f"{SHARED / 'tracks' / name}.csv", car) for name in MEASURED for car in CARS]
    return measured + [(name, "gt3") for name in CIRCUITS] + [(f"gen:{seed}", "gt3") for seed in range(1, 21)]


def measure_case(track_name: str, car_name: str) -> dict[str, Any]:
    """Return the figures of one case; `failed` says why there is no line."""
    track, car = load_track(track_name), vehicle_from_car(load_car(car_name))
    figures: dict[str, Any] = {"track": Path(track_name).stem if "/" in track_name else track_name, "car": car_name}
    began = time.process_time()
    try:
        line = plan_minimum_time(track.road, car, step=CAMPAIGN_STEP)
    except TrailbrakeError as error:
        return figures | {"failed": str(error)}
    figures |= {
        "time_s": round(line.time, 3),
        "cpu_s": round(time.process_time() - began, 1),
        "iterations": sum(line.iterations),
        "start": line.start + 1,
    }
    usual = solve_curvature_line(track.road, car, CAMPAIGN_STEP, car.path_room(EDGE_MARGIN))
    figures |= {"curvature_s": round(usual.time, 3) if usual.converged else None}
    return figures


def measure_campaign(names: list[str]) -> None:
    """Measure the cases whose track or car is among `names` (all without names); store after each."""
    for track, car in list_cases():
        if names and not any(name in (Path(track).stem, track, car) for name in names):
            continue
        case = measure_case(track, car)
        print(case, flush=True)
        stored = read_figures()
        kept = [old for old in stored.get("campaign", []) if (old["track"], old["car"]) != (case["track"], case["car"])]
        write_figures(stored | {"campaign": [*kept, case]})


def read_figures() -> dict[str, Any]:
    """Return what was measured last."""
    return json.loads(FIGURES.read_text("utf-8")) if FIGURES.is_file() else {}


def write_figures(figures: dict[str, Any]) -> None:
    """Store what was measured."""
    FIGURES.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def measure_problems() -> None:
    """Solve the published problems and store their figures."""
    road, car = load_track(str(SHARED / "tracks" / "Berlin2018.csv")).road, racecar()
    began = time.process_time()
    line = plan_minimum_time(road, car, step=RACECAR_STEP, margin=RACECAR_MARGIN)
    cpu = time.process_time() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    replay = replay_solution(road, car, line.solution)
    berlin = {"time_s": line.time, "iterations": list(line.iterations), "cpu_s": cpu, "memory_mib": memory}
    berlin["replay"] = dataclasses.asdict(replay)
    solution, speeds, published = solve_limebeer_lap(SHARED / "reference")
    found = unscale_unknowns(solution.x)["speed"]
    lap = {
        "time_s": solution.time,
        "published_s": published,
        "speed_rms_mps": float(np.sqrt(np.mean((found - speeds) ** 2))),
        "speed_largest_mps": float(np.abs(found - speeds).max()),
    }
    print(berlin, lap)
    write_figures(read_figures() | {"berlin": berlin, "catalunya": lap})


def describe_problems(figures: dict[str, Any]) -> str:
    """Return the table of the published problems."""
    berlin, lap = figures["berlin"], figures["catalunya"]
    replay = berlin["replay"]
    rows = [
        ("Berlin 2018, racecar, steps of 3 m", "lap time, s", "85.77", f"{berlin['time_s']:.3f}"),
        ("", "replayed in steps below 1 ms, s", "85.813 or less", f"{replay['time']:.3f}"),
        ("", "CPU time of one thread, s", "10 or less", f"{berlin['cpu_s']:.1f}"),
        ("", "memory, MiB", "300 or less", f"{berlin['memory_mib']:.0f}"),
        ("Catalunya, Limebeer car", "lap time, s", f"{lap['published_s']:.3f}, 0.1 %", f"{lap['time_s']:.3f}"),
        ("", "speed at the nodes, m/s rms", "0.5 or less", f"{lap['speed_rms_mps']:.3f}"),
    ]
    lines = ["| problem | figure | published, bar | ours |", "|---|---|---|---|"]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def describe_campaign(cases: list[dict[str, Any]]) -> str:
    """Return the table of the campaign."""
    lines = [
        "| track | car | minimum time, s | minimum curvature, s | gain | CPU s | start |",
        "|---|---|---|---|---|---|---|",
    ]
    for case in sorted(cases, key=lambda case: (case["track"].startswith("gen:"), case["track"], case["car"])):
        if "failed" in case:
            lines.append(f"| {case['track']} | {case['car']} | {case['failed']} | | | | |")
            continue
        usual = case["curvature_s"]
        gain = f"{100.0 * (1.0 - case['time_s'] / usual):.2f} %" if usual else "-"
        usual_text = f"{usual:.3f}" if usual else "no solution"
        cells = (case["track"], case["car"], f"{case['time_s']:.3f}", usual_text, gain, f"{case['cpu_s']:.1f}")
        lines.append("| " + " | ".join((*cells, str(case["start"]))) + " |")
    return "\n".join(lines)


def write_page() -> None:
    """Write the figures into docs/figures.md, and all cases beside the build."""
    figures = read_figures()
    cases = figures.get("campaign", [])
    good = [case for case in cases if "failed" not in case]
    compared = [case for case in good if case["curvature_s"]]
    quicker = [case for case in compared if case["time_s"] <= case["curvature_s"]]
    gains = [1.0 - case["time_s"] / case["curvature_s"] for case in compared]
    summary = (
        f"{len(good)} of {len(list_cases())} cases of the campaign converged, in steps of {CAMPAIGN_STEP:g} m."
        f" {len(quicker)} of {len(compared)} lines are at least as quick as the minimum-curvature line under the same"
        f" model, by {100.0 * float(np.median(gains)):.2f} % in the median."
    )
    write_section("minimum-time", f"{describe_problems(figures)}\n\n{summary}")
    write_details("minimum_time", describe_campaign(cases))


if __name__ == "__main__":
    what, *names = sys.argv[1:] or ["page"]
    if what == "problems":
        measure_problems()
    elif what == "campaign":
        measure_campaign(names)
    write_page()
