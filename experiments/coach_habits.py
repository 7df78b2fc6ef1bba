"""Whether `trailbrake coach` finds a habit that a driver has: the table of docs/coach.md.

`python experiments/coach_habits.py drive SEED CELLS` draws cells: a random car, a road, a pace, a driver; and drives
each cell without a habit and with three of those of habit_driver.py, six laps each, into build/experiments; every
fifth cell through Assetto Corsa's wire, with short shifts: Forza's cars shift by themselves. `measure SEED CELLS`
coaches every drive and prints the table: what a habit costs is the difference of its drive from that without it.
`limits SEED CELLS` compares the limit lap of each cell's drive without a habit with what `line_track` drives in the
true car, once from the whole recording and once from its places and speeds alone, ten a second.
"""

import argparse
import json
import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from habit_driver import HABITS, find_road_corners

from trailbrake.analysis.comparison import DriveChoice, measure_zones
from trailbrake.cars.car_library import load_car
from trailbrake.cli.drive_flags import DriveFlags
from trailbrake.coaching.coach_session import CoachReport, coach_laps
from trailbrake.coaching.corner_findings import Habit
from trailbrake.coaching.options import CoachOptions
from trailbrake.driving.drive_files import open_drive
from trailbrake.driving.session.drive_session import drive
from trailbrake.errors import DataError, TrailbrakeError
from trailbrake.planning.course import Course
from trailbrake.record.recording_reader import Recording
from trailbrake.tracks.track_library import load_track

FOLDER = Path("build/experiments/coach")
DRIVER = Path(__file__).with_name("habit_driver.py")
ROADS = ("pinegrove", "kartwerk", "lakeside", "gen")  # gen: another random circuit in each cell
LAPS, HABITS_A_CELL = 6, 3
EVERYWHERE = {"slow hands": "hands", "short-shifts": "shifting"}  # habits that no corner has, and what they are named
LEAST_COST = 0.15  # s, from which a habit counts, where it is three times the spread of the laps too
SLOWING = 3.0  # m/s that a corner takes off the speed, from which it is braked for


class Case(NamedTuple):
    """A drive: one of a cell's."""

    sim: str
    car: str
    track: str
    seed: int
    pace: float
    habit: str
    corner: int

    @property
    def folder(self) -> Path:
        """Where its recording is."""
        return FOLDER / "_".join(map(str, self)).replace(":", "").replace(" ", "-")

    @property
    def recording(self) -> Path | None:
        """The recording, if it was driven."""
        return next(iter(sorted(self.folder.glob("*.mcap"))), None)


def draw_cells(seed: int, count: int) -> list[list[Case]]:
    """Return cells: a drive without a habit, and those with one."""
    rng = np.random.default_rng(seed)
    return [draw_cell(rng, ROADS[number % len(ROADS)], number % 5 == 4) for number in range(count)]


def draw_cell(rng: np.random.Generator, road: str, with_shifts: bool) -> list[Case]:
    """Return the drives of a random car on a road."""
    if road == "gen":
        road = f"gen:{rng.integers(100_000)}"
    car, seed = f"random:{rng.integers(100_000)}", int(rng.integers(100_000))
    pace = round(float(rng.uniform(0.90, 0.97)), 3)
    others = [habit for habit in HABITS[1:] if habit not in ("short-shifts", "enters fast")]
    habits = ["short-shifts"] if with_shifts else rng.choice(others, HABITS_A_CELL, replace=False).tolist()
    sim = "assetto" if with_shifts else "forza"
    braked, fast = sort_corners(road, car)
    cases = [Case(sim, car, road, seed, pace, habit, fast if habit == "lifts" else int(rng.choice(braked)))
             for habit in habits]  # fmt: skip
    fast_in = Case(sim, car, road, seed, pace, "enters fast", int(np.random.default_rng(seed).choice(braked)))
    return [Case(sim, car, road, seed, pace, "none", 1), *cases, fast_in]


def sort_corners(road: str, car: str) -> tuple[list[int], int]:
    """Return the corners that are braked for, and the fastest one."""
    course = Course(load_track(road), load_car(car))
    line, speed = course.line, course.profile.speed
    places = course.track.road.locate_many(line.table[:, :2])[:, 0]
    braked, slowest = [], {}
    for corner in find_road_corners(course.track.road):
        inside = (places >= corner.entry) & (places <= corner.exit)
        before = (places >= corner.entry - 80.0) & (places <= corner.entry)
        slowest[corner.number] = float(speed[inside].min())
        if before.any() and float(speed[before].max()) - slowest[corner.number] > SLOWING:
            braked.append(corner.number)
    braked = braked or list(slowest)
    return braked, max(slowest, key=lambda number: slowest[number])


def drive_case(case: Case) -> None:
    """Drive a case, once."""
    if case.recording is not None:
        return
    gains = {"seed": case.seed, "pace": case.pace, "habit": HABITS.index(case.habit), "corner": case.corner}
    drive(DriveFlags(sim=case.sim, driver=str(DRIVER), track=case.track, car=case.car, laps=LAPS, report=False,
                     gain=tuple(f"{name}={value}" for name, value in gains.items()),
                     out=case.folder).make_spec())  # fmt: skip


def measure_cell(cell: list[Case]) -> list[dict[str, Any]]:
    """Return a row for each drive of a cell: what its habit costs, and what the coach says."""
    rows: list[dict[str, Any]] = []
    base: CoachReport | None = None
    for case in cell:
        if case.recording is None:
            continue
        # Embedded drives have no page with the limiter of Assetto's car: it is named.
        options = CoachOptions(track=case.track, car=case.car if case.sim == "assetto" else "", limit=False)
        report = coach_laps([DriveChoice(Recording.open(case.recording), case.habit)], options)
        if len(report.chosen.laps) < LAPS - 2:
            continue
        if case.habit == "none":
            base = report
        if base is not None:
            rows.append({**case._asdict(), **judge_report(case, report, base)})
    return rows


def judge_report(case: Case, report: CoachReport, base: CoachReport) -> dict[str, Any]:
    """Return the true cost of a habit, and whether the coach finds it."""
    first = report.findings[0] if report.findings else None
    said = {} if first is None else {
        "named": first.corner.number if first.corner is not None else 0, "kind": first.kind, "cost": first.cost_s,
        "chance": first.chance, "advice": first.advice,
    }  # fmt: skip
    if case.habit == "none":
        # Some faults are there though nobody planted them: laps that fail by whole tenths, as the person loses the car,
        # and a bend in which the box changes down: counted apart, as one person driven without it was quicker by that.
        failed = sum(finding.kind == "mistakes" for finding in report.findings)
        changed = sum(finding.kind == "shifting" and finding.corner is not None for finding in report.findings)
        return {"invented": len(report.findings) - failed - changed, "failed": failed, "changed": changed, **said}
    times, without = (measure_zones(each.chosen.laps, report.corners) for each in (report, base))
    middle = np.mean if case.habit == "inconsistent" else np.median
    costs = middle(times, axis=0) - middle(without, axis=0)
    # Where bends follow each other closely, the time may be lost in the next zone or the one before.
    near = [k for k, corner in enumerate(report.corners) if abs(corner.number - case.corner) <= 1 and corner.number]
    zone = max(near, key=lambda k: costs[k])
    cost, planted = float(costs[zone]), report.corners[zone].number
    spread = float(without[:, zone].std(ddof=1))
    if case.habit in EVERYWHERE:
        own, plain = ([lap.time_s for lap in each.chosen.laps] for each in (report, base))
        cost, spread = float(np.median(own) - np.median(plain)), float(np.std(plain, ddof=1))
    found = first is not None and said["named"] == planted
    if case.habit in EVERYWHERE:
        found = first is not None and first.corner is None and first.kind == EVERYWHERE[case.habit]
    return {
        "true_cost": cost, "spread": spread, "counts": cost >= LEAST_COST and cost >= 3.0 * spread, "found": found,
        "near": found and abs(first.cost_s - cost) <= max(0.2 * cost, 0.03), "right": found and is_right(case, first),
        **said,
    }  # fmt: skip


def is_right(case: Case, first: Habit) -> bool:
    """Return whether the first finding says the opposite of the habit."""
    own, expected = first.own, first.expected
    if case.habit in EVERYWHERE:
        return True
    if first.kind == "evenness" or own is None or expected is None:
        return case.habit == "inconsistent"
    if case.habit == "enters fast":
        return first.advice.startswith("Enter")
    if case.habit in ("brakes early", "inconsistent"):
        return not own.brake_point >= expected.brake_point
    return own.min_speed < expected.min_speed or own.exit_speed < expected.exit_speed


def measure_limits(case: Case) -> list[dict[str, Any]]:
    """Return a row for each source of the laps of a case: the limit that is said, and the true one."""
    if case.recording is None:
        return []
    rows: list[dict[str, Any]] = []
    true = math.nan
    for source, path in (("true", case.recording), ("recording", case.recording), ("gps", write_gps(case.recording))):
        options = CoachOptions(track=case.track, car=case.car if source == "true" else "")
        report = coach_laps([DriveChoice(open_drive(path), source)], options)
        if report.limit is None:
            raise DataError("no limit", where=f"{case.folder} {source}", got="; ".join(report.notes))
        limit = report.limit
        if source == "true":
            true = limit.time_s
            continue
        rows.append({
            "car": case.car, "track": case.track, "pace": case.pace, "source": source, "best": report.best_s,
            "true": true, "limit": limit.time_s, "least": limit.least_s, "most": limit.most_s,
            "holds": limit.least_s <= true <= limit.most_s, "made_by": limit.made_by,
        })  # fmt: skip
    return rows


def write_gps(recording: Path) -> Path:
    """Write a recording's places and speeds as a GPS receiver of 10 Hz has them, and return the file."""
    opened, path = Recording.open(recording), recording.with_suffix(".csv")
    names = ("time", "x", "y", "z", "speed", "lap")
    rows = np.column_stack([opened.state[name] for name in names])
    rows = rows[np.unique(np.searchsorted(rows[:, 0], np.arange(rows[0, 0], rows[-1, 0], 0.1)))]
    np.savetxt(path, rows, "%.4f", ",", header="time [s],x [m],y [m],z [m],speed [m/s],lap", comments="")
    return path


def print_table(rows: list[dict[str, Any]]) -> None:
    """Print the counts by habit."""
    print("| habit | drives | that count | named first | cost near | right advice |\n|---|---|---|---|---|---|")
    for habit in HABITS[1:]:
        those = [row for row in rows if row["habit"] == habit]
        counting = [row for row in those if row["counts"]]
        cells = [sum(row[key] for row in counting) for key in ("found", "near", "right")]
        print(f"| {habit} | {len(those)} | {len(counting)} | {' | '.join(map(str, cells))} |")
    plain = [row for row in rows if row["habit"] == "none"]
    print(f"without a habit: {len(plain)} drives, {sum(row['invented'] > 0 for row in plain)} with an invented one,"
          f" {sum(row['failed'] > 0 for row in plain)} with corners that fail in some laps,"
          f" {sum(row['changed'] > 0 for row in plain)} that change down in a bend")  # fmt: skip


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("what", choices=("drive", "measure", "limits"))
    parser.add_argument("seed", type=int)
    parser.add_argument("cells", type=int)
    given = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for cell in draw_cells(given.seed, given.cells):
        try:
            if given.what == "drive":
                for case in cell:
                    drive_case(case)
            else:
                found = measure_cell(cell) if given.what == "measure" else measure_limits(cell[0])
                rows += found
                for row in found:
                    print(json.dumps(row, default=float), flush=True)
        except TrailbrakeError as error:
            print(cell[0], error, flush=True)
    if rows and given.what == "measure":
        print_table(rows)


if __name__ == "__main__":
    main()
