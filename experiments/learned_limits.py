"""Drives learned cars at their limit: the section `learned-limits` of docs/figures.md.

`python experiments/learned_limits.py measure` takes the files that `learned_cars.py learn` has written, one of each
car, searches the reference lap of the true car (`trailbrake reference`), plans the line of the learned file, and has
`line_track` drive seven laps on it by the wire on which the car was learned. `page` writes the figures alone. NAME ...
selects simulators, cars and tracks, `--again` repeats what is stored; reference laps that are there are taken. What was
measured is in experiments/results: a call that was broken off goes on. Needs the extra "limit".
"""

import statistics
from pathlib import Path

from first_cells import Campaign, Figures
from learned_cars import CARS, SIMS, Case
from learned_cars import file_path as learned_path
from reference_laps import FOLDER, track_argument

from trailbrake.cars.car_library import load_car
from trailbrake.cli.drive_flags import DriveFlags
from trailbrake.driving.session.drive_session import drive
from trailbrake.errors import DataError
from trailbrake.optimal.line_session import plan_line
from trailbrake.optimal.options import LineOptions
from trailbrake.planning.line_file import car_digest, read_line
from trailbrake.reference.options import ReferenceOptions
from trailbrake.reference.reference_session import make_reference_lap

LAPS = 7  # of a drive, the first from rest
CAMPAIGN = Campaign("limits", __doc__ or "")
BAR = 0.02  # over the reference lap, the best of the flying laps, as a median


def is_reference_of(path: Path, car: str) -> bool:
    """Return whether `path` is there and of this car."""
    return path.is_file() and read_line(path).about["car_sha256"] == car_digest(load_car(car))


def measure_case(case: Case) -> Figures:
    """Return the reference lap of the true car and the laps of `line_track` with the learned file."""
    if not learned_path(case).is_file():
        raise DataError("no learned file", where=case.name, hint="experiments/learned_cars.py learn makes it")
    track, name = track_argument(case.track), f"{case.track}-{case.car.replace(':', '_')}"
    true_line, reference = FOLDER / f"line-{name}.csv", FOLDER / f"reference-{name}.csv"
    if not is_reference_of(reference, case.car):
        plan_line(LineOptions(track=track, car=case.car, report=False, out=true_line))
        make_reference_lap(ReferenceOptions(track=track, car=case.car, line=true_line, out=reference))
    line, car = FOLDER / f"line-{name}-{case.sim}-learned.csv", str(learned_path(case))
    plan_line(LineOptions(track=track, car=car, report=False, out=line))
    summary = drive(DriveFlags(sim=case.sim, driver="line_track", track=track, car=car, laps=LAPS, report=False,
                                 world=(f"car={case.car}",), line=line, out=FOLDER / "drives").make_spec())  # fmt: skip
    return {
        "reference_s": read_line(reference).about["time_s"],
        "laps": [[round(lap["time_s"], 3), lap["valid"]] for lap in summary["laps"]],
        "off_track_s": round(summary["off_track_s"], 3),
        "contacts": int(summary["contacts"]),
    }


def compute_gap(found: Figures) -> float | None:
    """Return by which share the best valid flying lap is over the reference lap; None without one."""
    best = min((time for time, valid in found.get("laps", [])[1:] if valid), default=None)
    return None if best is None else best / found["reference_s"] - 1.0


def describe_limits(figures: Figures) -> str:
    """Return the table."""
    lines = [
        "| car | wire | track | reference lap, s | lap 2, s | best of laps 2 to 7, s | gap | |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for case in sorted(CAMPAIGN.list_cases(), key=lambda case: CARS.index(case.car)):
        found = figures.get(case.name)
        if found is None:
            continue
        head = f"| {case.car} | {SIMS[case.sim]} | {case.track} |"
        gap = compute_gap(found)
        if gap is None:
            lines.append(f"{head} {found.get('reference_s', '')} | | | | {found.get('failed', 'no valid lap')} |")
            continue
        times = [time for time, _ in found["laps"]]
        bad = [str(number) for number, (_, valid) in enumerate(found["laps"], 1) if not valid]
        words = f"not valid: {', '.join(bad)}; {found['contacts']} contacts" if bad or found["contacts"] else "clean"
        best = found["reference_s"] * (1.0 + gap)
        cells = [f"{found['reference_s']:.2f}", f"{times[1]:.2f}", f"{best:.2f}", f"{100.0 * gap:.2f} %", words]
        lines.append(f"{head} {' | '.join(cells)} |")
    return "\n".join(lines)


def summarize_limits(figures: Figures) -> str:
    """Return a line with the gaps of all cars."""
    found = [figures[case.name] for case in CAMPAIGN.list_cases() if case.name in figures]
    gaps = [gap for gap in map(compute_gap, found) if gap is not None]
    bad = sum(bool(row.get("contacts")) or not all(valid for _, valid in row.get("laps", [])) for row in found)
    return (
        f"{len(gaps)} cars: the best of laps 2 to {LAPS} is {100.0 * statistics.median(gaps):.2f} % over the reference"
        f" lap in the median, {100.0 * max(gaps):.2f} % at most; {sum(gap <= BAR for gap in gaps)} of {len(gaps)} are"
        f" within {100.0 * BAR:.0f} %, {len(found) - bad} of {len(found)} drives are clean."
    )


if __name__ == "__main__":
    CAMPAIGN.run(measure_case, describe_limits, summarize_limits)
