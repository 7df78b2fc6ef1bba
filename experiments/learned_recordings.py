"""Writes the table of cars that were learned from somebody else's recording in docs/learn-car.md.

`python docs/learned_recordings.py measure` records three laps from rest on pinegrove by docs/person_driver.py, which
drives like a person with 90 % of the grip; learns the car from that recording alone, as `trailbrake learn car --source`
does; and has `line_follow`, learning, drive seven laps with the file. The drives with the true file are those of
docs/learned_cars.json. `page` writes the table alone. NAME ... selects simulators, cars and tracks, `--again` repeats
what is stored. What was measured is in docs/learned_recordings.json: a call that was broken off goes on.
"""

import statistics
from pathlib import Path

from first_cells import Campaign, Figures
from learned_cars import (
    CARS,
    FLYING,
    FOLDER,
    LEARNED_ON,
    ROOT,
    SIMS,
    Case,
    best_flying,
    describe_drive,
    drive_case,
)
from learned_cars import read_figures as read_true_figures

from trailbrake.cars.car_library import load_car
from trailbrake.driving.options import DriveOptions
from trailbrake.driving.session.drive_session import drive
from trailbrake.evaluate.car_comparison import compare_cars
from trailbrake.run.learn_car import learn_car_file
from trailbrake.run.options import LearnCarOptions
from trailbrake.sims import registry

CAMPAIGN = Campaign("recordings", ROOT / "docs" / "learn-car.md", __doc__ or "")
PERSON = ROOT / "docs" / "person_driver.py"
RECORDED_LAPS = 3
BAR = 1.08  # of the true file's lap


def measure_case(case: Case) -> Figures:
    """Return how a car was recorded and learned, and the laps with its file."""
    folder = FOLDER / CAMPAIGN.name
    folder.mkdir(parents=True, exist_ok=True)
    recorded = drive(DriveOptions(sim=case.sim, driver=str(PERSON), track=LEARNED_ON, car=case.car, laps=RECORDED_LAPS,
                                  gain=(f"seed={CARS.index(case.car)}",), report=False, out=folder))  # fmt: skip
    out = folder / f"{case.sim}_{case.car.replace(':', '_')}.toml"
    learned = learn_car_file(registry.find(case.sim), LearnCarOptions(source=(Path(recorded["recording"]),), out=out))
    return {
        "recorded": [[round(lap["time_s"], 3), lap["valid"]] for lap in recorded["laps"]],
        "missing": learned["missing"],
        "numbers": compare_cars(load_car(str(out)), load_car(case.car)),
        **drive_case(case._replace(step="learned"), out),
    }


def describe_recordings(figures: Figures) -> str:
    """Return the table, and a line with the counts."""
    lines = [
        "| car | wire | track | best lap with the true file, after 3 and 6 | after 3 | after 6 | |",
        "|---|---|---|---|---|---|---|",
    ]
    true_figures = read_true_figures()
    ratios: dict[int, list[float]] = {laps: [] for laps in FLYING}
    cases = [case for case in CAMPAIGN.list_cases() if case.name in figures]
    clean = 0
    for case in sorted(cases, key=lambda case: CARS.index(case.car)):
        found, true = figures[case.name], true_figures.get(case._replace(step="true").name, {})
        head = f"| {case.car} | {SIMS[case.sim]} | {case.track} |"
        if "failed" in found:
            lines.append(f"{head} | | | {found['failed']} |")
            continue
        clean += found["outcome"] == "clean"
        own = ", ".join(f"{best_flying(true, laps):.2f} s" for laps in FLYING)
        found_ratios = [best_flying(found, laps) / best_flying(true, laps) for laps in FLYING]
        for laps, ratio in zip(FLYING, found_ratios, strict=True):
            if ratio > 0.0:  # not NaN
                ratios[laps].append(ratio)
        cells = [f"{ratio:.3f}" if ratio > 0.0 else "" for ratio in found_ratios]
        lines.append(f"{head} {own} | {' | '.join(cells)} | {describe_drive(found)} |")
    if ratios[FLYING[0]]:
        sums = [f"{sum(ratio <= BAR for ratio in found)} of {len(found)} are within {100.0 * (BAR - 1.0):.0f} % after"
                f" {laps} flying laps (median {statistics.median(found):.3f}, most {max(found):.3f})"
                for laps, found in ratios.items()]  # fmt: skip
        lines += ["", f"{clean} of {len(cases)} are clean; {' and '.join(sums)}."]
    return "\n".join(lines)


if __name__ == "__main__":
    CAMPAIGN.run(measure_case, describe_recordings)
