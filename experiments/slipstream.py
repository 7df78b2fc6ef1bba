"""Top speed of a car alone and behind an equal one, which is held at a gap ahead of it. Prints its table."""

import numpy as np

from trailbrake.cars.car_library import load_car
from trailbrake.state import Controls
from trailbrake.tracks.road import Road
from trailbrake.tracks.track import Track
from trailbrake.world.batch import Batch, count_substeps, write_controls
from trailbrake.world.plant import PERIOD
from trailbrake.world.row_layout import StateRow

LENGTH = 12_000.0  # m of a straight, on which the pair is set back to its begin at its end
SECONDS = 90
GAPS = (30.0, 10.0)  # m, tail to nose


def measure_top_speed(name: str, gap: float | None) -> float:
    """Return the speed (km/h) after SECONDS at full throttle; `gap` None: alone."""
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
        write_controls(batch.view_car(1)[StateRow.COUNT :].data, Controls(throttle=1.0))
        batch.step(PERIOD / substeps, substeps)
    return float(batch.get_row(StateRow.VX)[1]) * 3.6


if __name__ == "__main__":
    print("| car | alone |", " | ".join(f"{gap:g} m" for gap in GAPS), "|")
    for name in ("gt3", "f1", "hatchback"):
        print(
            f"| `{name}` |", " | ".join(f"{measure_top_speed(name, gap):.1f}" for gap in (None, *GAPS)), "|", flush=True
        )
