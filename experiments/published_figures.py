"""Writes the tables of docs/validation.md: figures of the library's cars beside published ones, and all of ours.

Times and top speeds are driven in the world, at full throttle with the automatic gearbox; accelerations are those of
the planner's envelope, which the world's cars reach within a few per cent (docs/figures.md).
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from figures_page import ROOT
from world_validation.driving import Field

from trailbrake.cars.car_library import car_names, load_car
from trailbrake.cars.ggv_envelope import compute_envelope
from trailbrake.cars.params import CarParams
from trailbrake.units import KMH, G
from trailbrake.world.row_layout import ControlRow, StateRow

SECONDS = 90.0  # in which the slowest is at its top speed
PAGE = ROOT / "docs" / "validation.md"
BEGIN, END = "<!-- {}: written by experiments/published_figures.py -->", "<!-- end of {} -->"


class Published(NamedTuple):
    """A figure of a car: what it is, the published range, its sources by their number, and how ours is computed."""

    car: str
    what: str
    least: float
    most: float
    sources: str
    ours: Callable[[CarParams], float]
    digits: int = 2


def braking(kmh: float) -> Callable[[CarParams], float]:
    """Return the deceleration (g) in a straight line at a speed."""
    return lambda car: float(np.interp(kmh * KMH, (e := compute_envelope(car)).speeds, e.brake[:, 0]) / G)


def mean_braking(first: float, last: float) -> Callable[[CarParams], float]:
    """Return the deceleration (g) of a stop from `first` to `last` (km/h), the mean over its distance."""
    speeds = np.linspace(last, first, 500) * KMH

    def mean(car: CarParams) -> float:
        limits = compute_envelope(car)
        way = np.trapezoid(speeds / np.interp(speeds, limits.speeds, limits.brake[:, 0]), speeds)
        return float((speeds[-1] ** 2 - speeds[0] ** 2) / (2.0 * way) / G)

    return mean


def lateral(kmh: float) -> Callable[[CarParams], float]:
    """Return the steady lateral acceleration (g) at a speed."""
    return lambda car: float(np.interp(kmh * KMH, (e := compute_envelope(car)).speeds, e.lateral) / G)


@cache
def drive_from_rest() -> dict[str, np.ndarray]:
    """Return, from rest, the speeds (km/h) of each car by name, and the times (s) under "time"."""
    names = car_names()
    field = Field([load_car(name) for name in names], np.zeros(len(names)))
    field.put(StateRow.GEAR, 1)
    field.put(StateRow.NEXT_GEAR, 1)
    field.put(ControlRow.GEAR, np.nan)
    field.put(ControlRow.THROTTLE, 1.0)
    rows = []
    while field.time < SECONDS:
        field.step()
        rows.append([*(field[StateRow.VX] / KMH), field.time])
    return dict(zip((*names, "time"), np.transpose(rows), strict=True))


def sprint(kmh: float) -> Callable[[CarParams], float]:
    """Return the time (s) from rest to a speed."""
    return lambda car: float((d := drive_from_rest())["time"][np.argmax(d[car.name] >= kmh)])


def top_speed(car: CarParams) -> float:
    """Return the top speed (km/h)."""
    return float(drive_from_rest()[car.name].max())


def downforce(kmh: float) -> Callable[[CarParams], float]:
    """Return the downforce (kg) at a speed, at static ride height."""
    half = 0.5 * (kmh * KMH) ** 2 / G
    return lambda car: half * car.aero.air_density * (car.aero.lift_area_front + car.aero.lift_area_rear)


FIGURES = (
    Published("gt3", "mass without driver and fuel, kg", 1305, 1350, "1", lambda car: car.body.mass - 110.0, 0),
    Published("gt3", "downforce at 200 km/h, kg", 640, 640, "2", downforce(200), 0),
    Published("gt3", "downforce at 250 km/h, kg", 870, 1200, "3, 4", downforce(250), 0),
    Published("gt3", "top speed, km/h", 275, 275, "5", top_speed, 0),
    Published("gt3", "peak braking, from 250 km/h, g", 2.0, 2.3, "6, 7", braking(250)),
    Published("gt3", "peak braking, at 200 km/h, g", 2.0, 2.3, "6, 7", braking(200)),
    Published("gt3", "loss of friction for twice the load, share", 0.07, 0.19, "8",
              lambda car: car.tyre_front.mu_y_load * 4000.0 / car.tyre_front.nominal_load),
    Published("f1", "mean braking, 330 to 90 km/h, g", 4.2, 4.2, "9", mean_braking(330, 90)),
    Published("sports_awd", "mass with driver, kg", 1848, 1848, "10", lambda car: car.body.mass, 0),
    Published("sports_awd", "0 to 97 km/h, s", 3.3, 3.5, "10, 11", sprint(96.6)),
    Published("sports_awd", "mean braking, 113 to 0 km/h, g", 1.13, 1.13, "10", mean_braking(112.7, 4)),
    Published("sports_awd", "lateral at 60 km/h, g", 0.99, 0.99, "10", lateral(60)),
    Published("hatchback", "0 to 100 km/h, s", 9.3, 9.3, "12", sprint(100)),
    Published("hatchback", "top speed, km/h", 204, 204, "12", top_speed, 0),
    Published("hatchback", "mean braking, 120 to 0 km/h, g", 1.05, 1.05, "13", mean_braking(120, 4)),
)  # fmt: skip


def deviation(figure: Published, ours: float) -> float:
    """Return by what share ours is beyond the published range; 0 within it."""
    nearest = min(max(ours, figure.least), figure.most)
    return ours / nearest - 1.0


def compare_figures() -> str:
    """Return the table of published figures and ours."""
    lines = ["| car | figure | published | ours | beyond |", "|---|---|---|---|---|"]
    for figure in FIGURES:
        ours, digits = figure.ours(load_car(figure.car)), figure.digits
        ends = dict.fromkeys(f"{value:.{digits}f}" for value in (figure.least, figure.most))
        off = deviation(figure, ours)
        lines.append(f"| `{figure.car}` | {figure.what} | {' to '.join(ends)} [{figure.sources}] | {ours:.{digits}f} |"
                     f" {f'{100.0 * off:+.0f} %' if abs(off) >= 0.005 else ''} |")  # fmt: skip
    return "\n".join(lines)


def list_figures() -> str:
    """Return the table of all our figures."""
    lines = ["| car | mass, kg | drag, lift area, m² | loss of grip | braking at 100, 200 km/h, g |"
             " lateral at 80, 150, 220 km/h, g | 0 to 100, 100 to 200 km/h, s | top, km/h |",
             "|---|---|---|---|---|---|---|---|"]  # fmt: skip
    for name in car_names():
        car = load_car(name)
        fastest = top_speed(car)
        cells = ([(car.body.mass, 0)],
                 [(car.aero.drag_area, 2), (car.aero.lift_area_front + car.aero.lift_area_rear, 2)],
                 [(car.tyre_front.mu_y_load, 2)], [(braking(v)(car), 2) for v in (100, 200) if v < fastest],
                 [(lateral(v)(car), 2) for v in (80, 150, 220) if v < fastest],
                 [(sprint(v)(car) - (sprint(100)(car) if v > 100 else 0.0), 1) for v in (100, 200) if v < fastest],
                 [(fastest, 0)])  # fmt: skip
        texts = (", ".join(f"{value:.{digits}f}" for value, digits in cell) for cell in cells)
        lines.append(f"| `{name}` | {' | '.join(texts)} |")
    return "\n".join(lines)


TABLES = {"published": compare_figures, "cars": list_figures}


def update_page(page: str) -> str:
    """Return the page with its tables as they are now."""
    for name, make in TABLES.items():
        begin, end = BEGIN.format(name), END.format(name)
        head, rest = page.split(begin)
        page = f"{head}{begin}\n{make()}\n{end}{rest.split(end)[1]}"
    return page


if __name__ == "__main__":
    PAGE.write_text(update_page(PAGE.read_text("utf-8")), "utf-8")
