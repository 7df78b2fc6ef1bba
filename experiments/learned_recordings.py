"""Learns cars from another person's recording: the section `learned-recordings` of docs/figures.md.

`python experiments/learned_recordings.py measure` records three laps from rest on pinegrove by person_driver.py, which
drives like a person with 90 % of the grip; learns the car from that recording alone, as `trailbrake learn car --source`
does; and has `line_follow`, learning, drive seven laps with the file. The drives with the true file are those of
learned_cars.py. `page` writes the figures alone. NAME ... selects simulators, cars and tracks, `--again` repeats what
is stored. What was measured is in experiments/results: a call that was broken off goes on.
"""

import statistics
from pathlib import Path

from first_cells import Campaign, Figures
from learned_cars import (
    CARS,
    FLYING,
    FOLDER,
    LEARNED_ON,
    SIMS,
    Case,
    best_flying,
    describe_drive,
    drive_case,
)
from learned_cars import read_figures as read_true_figures

from trailbrake.cars.car_library import load_car
from trailbrake.cli.drive_flags import DriveFlags
from trailbrake.driving.session.drive_session import drive
from trailbrake.evaluate.car_comparison import compare_cars
from trailbrake.learning.car_learning import learn_car_file
from trailbrake.learning.options import LearnCarOptions
from trailbrake.sims import registry

CAMPAIGN = Campaign("recordings", __doc__ or "")
PERSON = Path(__file__).with_name("person_driver.py")
RECORDED_LAPS = 3
BAR = 1.08  # of the true file's lap


def measure_case(case: Case) -> Figures:
    """Return how a car was recorded and learned, and the laps with its file."""
    folder = FOLDER / CAMPAIGN.name
    folder.mkdir(parents=True, exist_ok=True)
    recorded = drive(DriveFlags(sim=case.sim, driver=str(PERSON), track=LEARNED_ON, car=case.car, laps=RECORDED_LAPS,
                                  gain=(f"seed={CARS.index(case.car)}",), report=False,
                                out=folder).make_spec())  # fmt: skip
    out = folder / f"{case.sim}_{case.car.replace(':', '_')}.toml"
    learned = learn_car_file(registry.find(case.sim), LearnCarOptions(source=(Path(recorded["recording"]),), out=out))
    return {
        "recorded": [[round(lap["time_s"], 3), lap["valid"]] for lap in recorded["laps"]],
        "missing": learned["missing"],
        "numbers": compare_cars(load_car(str(out)), load_car(case.car)),
        **drive_case(case._replace(step="learned"), out),
    }


def describe_recordings(figures: Figures) -> str:
    """Return the table."""
    lines = [
        "| car | wire | track | best lap with the true file, after 3 and 6 | after 3 | after 6 | |",
        "|---|---|---|---|---|---|---|",
    ]
    true_figures = read_true_figures()
    cases = [case for case in CAMPAIGN.list_cases() if case.name in figures]
    for case in sorted(cases, key=lambda case: CARS.index(case.car)):
        found, true = figures[case.name], true_figures.get(case._replace(step="true").name, {})
        head = f"| {case.car} | {SIMS[case.sim]} | {case.track} |"
        if "failed" in found:
            lines.append(f"{head} | | | {found['failed']} |")
            continue
        own = ", ".join(f"{best_flying(true, laps):.2f} s" for laps in FLYING)
        found_ratios = [best_flying(found, laps) / best_flying(true, laps) for laps in FLYING]
        cells = [f"{ratio:.3f}" if ratio > 0.0 else "" for ratio in found_ratios]
        lines.append(f"{head} {own} | {' | '.join(cells)} | {describe_drive(found)} |")
    return "\n".join(lines)


def summarize_recordings(figures: Figures) -> str:
    """Return a line with the counts."""
    true_figures = read_true_figures()
    cases = [case for case in CAMPAIGN.list_cases() if case.name in figures]
    parts = [f"{sum(figures[case.name].get('outcome') == 'clean' for case in cases)} of {len(cases)} are clean"]
    for laps in FLYING:
        pairs = [(figures[case.name], true_figures.get(case._replace(step="true").name, {})) for case in cases]
        ratios = [best_flying(found, laps) / best_flying(true, laps) for found, true in pairs]
        ratios = [ratio for ratio in ratios if ratio > 0.0]  # not NaN
        parts.append(f"{sum(ratio <= BAR for ratio in ratios)} of {len(ratios)} are within {100.0 * (BAR - 1.0):.0f} %"
                     f" of the true file after {laps} flying laps (median {statistics.median(ratios):.3f}, most"
                     f" {max(ratios):.3f})")  # fmt: skip
    return "; ".join(parts) + "."


if __name__ == "__main__":
    CAMPAIGN.run(measure_case, describe_recordings, summarize_recordings)
