"""Top speeds of a car alone and behind an equal one at a gap; what rear wing and energy of a lap save. Prints tables.

slipstream.py                 top speeds
slipstream.py TRACK ...       flying laps of the f1 as planned: with the wing, and the motor used in two ways
"""

import sys

import numpy as np

from trailbrake.cars.car_library import load_car
from trailbrake.planning.course import Course
from trailbrake.planning.power_aids import plan_aids
from trailbrake.state import Controls
from trailbrake.tracks.road import Road
from trailbrake.tracks.track import Track
from trailbrake.tracks.track_library import load_track
from trailbrake.world.batch import Batch, count_substeps, write_controls
from trailbrake.world.plant import PERIOD
from trailbrake.world.row_layout import StateRow

LENGTH = 12_000.0  # m of a straight, on which the pair is set back to its begin at its end
SECONDS = 90
GAPS = (30.0, 10.0)  # m, tail to nose
ENERGIES = (0.5e6, 2e6)  # J, of a lap


def measure_top_speed(name: str, gap: float | None, wing: float = 0.0) -> float:
    """Return the speed (km/h) after SECONDS at full throttle; `gap` None: alone; `wing`: 1 is open."""
    car, substeps = load_car(name), count_substeps(PERIOD)
    s = np.arange(0.0, LENGTH + 2000.0, 2.0)
    track = Track("straight", "", (Road.from_columns(2.0, False, s, 0.0 * s, 0.0 * s, 0.0 * s),))
    batch = Batch(track, [car], 2, group_size=2, slipstream=gap is not None)
    batch.collisions_enabled = False
    batch.place_cars([0, 1], [200.0, 100.0], 0.0, 0.0, 60.0)
    for _ in range(round(SECONDS / PERIOD)):
        x, speed = batch.get_row(StateRow.X)[1], batch.get_row(StateRow.VX)[1]
        if x > LENGTH:
            batch.set_row(StateRow.X, x := 100.0, 1)
        ahead = {StateRow.X: x + car.body.length + (gap or 0.0), StateRow.VX: speed, StateRow.Y: 0.0, StateRow.YAW: 0.0}
        for row, value in ahead.items():
            batch.set_row(row, value, 0)
        batch.update_ground()
        write_controls(batch.view_car(1)[StateRow.COUNT :].data, Controls(throttle=1.0, drs=wing))
        batch.step(PERIOD / substeps, substeps)
    return float(batch.get_row(StateRow.VX)[1]) * 3.6


def plan_laps(name: str) -> list[str]:
    """Return s of a lap of the f1 without aids, and what it saves with the wing and with the motor, evenly and best."""
    course = Course(load_track(name), load_car("f1"), on_kerbs=True)
    alone, wing = course.profile.lap_time, plan_aids(course, course.line, 0.0).profile.lap_time
    cells = [f"{alone:.2f}", f"{alone - wing:.3f}"]
    for energy in ENERGIES:
        laps = [plan_aids(course, course.line, energy, is_constant=flag) for flag in (True, False)]
        cells.append(" / ".join(f"{wing - lap.profile.lap_time:.3f}" for lap in laps))
    return cells


if __name__ == "__main__":
    if sys.argv[1:]:
        heads = [f"{energy * 1e-6:g} MJ evenly / best" for energy in ENERGIES]
        print("| track | lap (s) | wing saves |", " | ".join(heads), "|")
        for name in sys.argv[1:]:
            print(f"| {name} |", " | ".join(plan_laps(name)), "|", flush=True)
    else:
        print("| car | alone |", " | ".join(f"{gap:g} m" for gap in GAPS), "| open wing |")
        for name in ("gt3", "f1", "hatchback"):
            speeds = [measure_top_speed(name, gap) for gap in (None, *GAPS)] + [measure_top_speed(name, None, 1.0)]
            print(f"| `{name}` |", " | ".join(f"{speed:.1f}" for speed in speeds), "|", flush=True)
