"""The report of a learned car: what was found, how sure it is, and the data behind it. One file, no network."""

from collections.abc import Callable, Sequence
from itertools import starmap
from pathlib import Path
from typing import Annotated, NamedTuple, get_args, get_origin, get_type_hints

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from trailbrake.arrays import Array
from trailbrake.cars.ggv_envelope import GRIP_SPEED, compute_envelope, compute_figures
from trailbrake.cars.params import CarParams, Tyre
from trailbrake.cars.section import Section
from trailbrake.cars.tyre_fit import magic_formula_curve
from trailbrake.learning.identification.actuator_response import estimate_brake_force
from trailbrake.learning.identification.braking import find_braking_rows, separate_forces
from trailbrake.learning.identification.drive_table import DriveTable
from trailbrake.learning.identification.learned_car import LearnedCar
from trailbrake.learning.identification.learned_value import LearnedValue
from trailbrake.learning.identification.powertrain import (
    FULL_THROTTLE,
    KNOTS,
    SHUT_THROTTLE,
    drive_matrix,
    pedal_rows,
    wheel_inertia_share,
)
from trailbrake.learning.identification.tyre_forces import GENTLE_SIDE, STEER_SPEEDS, P, steer_shares
from trailbrake.pages.rendering import THEME, escape_html, render_framed_page, write_page_file
from trailbrake.pages.svg_chart import CHART_STYLE, ChartFrame, find_range
from trailbrake.units import KMH, NORMAL_95, RPM, G

MAX_POINTS = 1500  # of a chart
OUTLIERS = (0.05, 0.95)  # quantiles, within which most points of a chart are
NO_KEYS = {"brakes.force_over_mass": "m/s^2"}  # numbers of learned cars that no car file has

POINTS = "points"  # the style of a series that is no curve
LEAST_ROWS = 20  # of the data of a plot
STEER_BAND = (3.0, 9.0)  # m/s, in which the curvature tells the road wheels' angle
STEADY_S, STEADY_SHARE = 0.5, 0.1  # s, and of the most steer: so that the wheels have followed
DELAY_WINDOW_S = 3.0  # of the braking that shows the delay
MIN_COMMAND_CHANGE = 0.3  # of the pedal in that window, up and down


class Series(NamedTuple):
    """Points, or a curve in the style `one`, `two` or `three` of the charts."""

    style: str
    x: Array
    y: Array


class CarPlot(NamedTuple):
    """A plot.

    Attributes:
        title: what is plotted, with units, and what the colours are.
        series: in the order of drawing.
    """

    title: str
    series: tuple[Series, ...]


def make_car_plots(table: DriveTable, learned: LearnedCar) -> list[CarPlot]:
    """Return the plots of a learned car, without those that the drives have no data for.

    Args:
        table: of the drives that the car was learned from.
        learned: the car.
    """
    makers: tuple[Callable[[DriveTable, LearnedCar], CarPlot | None], ...] = (
        _plot_front_tyres, _plot_rear_tyres, _plot_friction, _plot_torque, _plot_resistance, _plot_gears, _plot_brakes,
        _plot_steering, _plot_delay, _plot_limits,
    )  # fmt: skip
    plots = (make(table, learned) for make in makers)
    return [plot for plot in plots if plot is not None]


def _plot_front_tyres(_: DriveTable, learned: LearnedCar) -> CarPlot | None:
    return _plot_axle(learned, 0, "front", learned.car.tyre_front)


def _plot_rear_tyres(_: DriveTable, learned: LearnedCar) -> CarPlot | None:
    return _plot_axle(learned, 1, "rear", learned.car.tyre_rear)


def _plot_axle(learned: LearnedCar, axle: int, name: str, tyre: Tyre) -> CarPlot | None:
    """Return side force over load by slip angle; the curve is that of the axle's load at rest, without slip along."""
    if learned.tyres is None:
        return None
    body, rows = learned.car.body, learned.tyres.rows
    angle = -rows[:, axle]
    reach = float(np.percentile(np.abs(angle), 99.5))
    at = np.linspace(-reach, reach, 121)
    load = 0.5 * body.mass * G * (body.front_share if axle == 0 else 1.0 - body.front_share)
    more = load / tyre.nominal_load - 1.0
    slip = np.tan(np.abs(at)) / np.tan(tyre.peak_slip_angle) * (1.0 - tyre.slip_load * more)
    curve = magic_formula_curve(slip, tyre.stiffness_factor, tyre.shape, tyre.curvature)
    force = np.sign(at) * tyre.mu_y * (1.0 - tyre.mu_y_load * more) * curve
    near = np.abs(angle) <= reach
    return CarPlot(
        f"{name} axle: side force over load, by slip angle (deg); points driven, curve of the file at rest's load",
        (Series(POINTS, np.degrees(angle[near]), rows[near, 2 + axle]), Series("one", np.degrees(at), force)),
    )


def _plot_friction(_: DriveTable, learned: LearnedCar) -> CarPlot | None:
    if learned.tyres is None:
        return None
    rows = learned.tyres.rows
    return CarPlot("force over weight: along, by across (front axle)", (Series(POINTS, rows[:, 2], rows[:, 5]),))


def _plot_torque(table: DriveTable, learned: LearnedCar) -> CarPlot | None:
    """Return the torque at full throttle: of the rows, and of the file with its 95 % interval."""
    power = learned.powertrain
    if power is None or not power.covered.any():
        return None
    k = power.covered
    rpm, doubt = power.speeds[k] / RPM, NORMAL_95 * power.torque_sigma[k]
    curves = [Series("one", rpm, power.torque[k]), Series("two", rpm, power.torque[k] - doubt),
              Series("two", rpm, power.torque[k] + doubt)]  # fmt: skip
    full = pedal_rows(table, learned.car) & (table.throttle > FULL_THROTTLE) & (table.brake < 0.01)
    if full.sum() >= LEAST_ROWS:
        t = table.take(full)
        matrix = drive_matrix(t, learned.car, power.speeds)
        others = matrix[:, KNOTS:] @ power.fit.value[KNOTS:]
        pulled = t.fx + wheel_inertia_share(learned.car) * t.ax - others
        torque = pulled / np.maximum(matrix[:, :KNOTS].sum(axis=1), 1e-9)
        seen = (torque > 0.0) & (torque < 1.5 * power.torque[k].max())
        curves.insert(0, Series(POINTS, t.engine[seen] / RPM, torque[seen]))
    title = "full-throttle torque over mass (N m/kg), by engine speed (rpm); orange the file, blue its 95 %"
    return CarPlot(title, tuple(curves))


def _plot_resistance(table: DriveTable, learned: LearnedCar) -> CarPlot | None:
    """Return air drag and rolling resistance over speed, of coasting: what the engine takes is left out."""
    power, car = learned.powertrain, learned.car
    if power is None:
        return None
    coasting = pedal_rows(table, car) & (table.throttle < SHUT_THROTTLE) & (table.brake < 0.01)
    if coasting.sum() < LEAST_ROWS:
        return None
    t = table.take(coasting)
    unknowns = power.fit.value.copy()
    unknowns[-3:-1] = 0.0  # of air and rolling
    left = drive_matrix(t, car, power.speeds) @ unknowns - (t.fx + wheel_inertia_share(car) * t.ax)
    speeds = np.linspace(0.0, float(t.vx.max()), 60)
    lift = 0.5 * car.aero.air_density * (car.aero.lift_area_front + car.aero.lift_area_rear) / car.body.mass
    model = power.air[0] * speeds**2 + power.rolling[0] * (G + lift * speeds**2)
    return CarPlot(
        "air drag and rolling resistance over mass (m/s^2), by speed (m/s); points coasting, without the engine's",
        (Series(POINTS, t.vx, left), Series("one", speeds, model)),
    )


def _plot_gears(table: DriveTable, learned: LearnedCar) -> CarPlot | None:
    """Return the engine speed over speed, and the lines of the gears."""
    car = learned.car
    settled = (table.gear >= 1) & (table.gear_age > 0.4) & (table.vx > 2.0) & np.isfinite(table.engine)
    if learned.gearing is None or settled.sum() < LEAST_ROWS:
        return None
    t = table.take(settled)
    limiter = car.engine.limiter_rpm
    lines = []
    for gear in range(1, car.gearbox.top_gear + 1):
        fastest = limiter * RPM * car.driven_radius / car.gearbox.overall_ratio(gear)
        speeds = np.array([0.3 * fastest, min(fastest, 1.1 * float(t.vx.max()))])
        if speeds[1] > speeds[0]:
            lines.append(Series("one", speeds, limiter * speeds / fastest))
    title = "engine speed (rpm), by speed (m/s); lines of the gears up to the limiter"
    return CarPlot(title, (Series(POINTS, t.vx, t.engine / RPM), *lines))


def _plot_brakes(table: DriveTable, learned: LearnedCar) -> CarPlot | None:
    """Return the brakes' force over mass, by pedal."""
    if learned.braking is None:
        return None
    rows = find_braking_rows(table, learned.car)
    if rows.sum() < LEAST_ROWS:
        return None
    t = table.take(rows)
    forces = separate_forces(t, learned.car, learned.powertrain)
    pedal, force = np.array([0.0, float(t.brake.max())]), learned.braking.force
    low, high = force.interval
    return CarPlot(
        "brakes' force over mass (m/s^2), by pedal, below the tyres' limit; orange the file, blue its 95 %",
        (Series(POINTS, t.brake, forces.brakes), Series("one", pedal, force.value * pedal),
         Series("two", pedal, low * pedal), Series("two", pedal, high * pedal)),
    )  # fmt: skip


def _plot_steering(table: DriveTable, learned: LearnedCar) -> CarPlot | None:
    """Return the road wheels' angle by the curvature of slow driving, over steer, and the line of the file."""
    if learned.tyres is None:
        return None
    signal = getattr(table, learned.tyres.signal)
    slow = (
        (table.vx > STEER_BAND[0]) & (table.vx < STEER_BAND[1]) & (np.abs(table.fy) < GENTLE_SIDE) & np.isfinite(signal)
        & table.steady(signal, STEADY_S, STEADY_SHARE * float(np.nanmax(np.abs(signal), initial=0.0)))
    )  # fmt: skip
    if slow.sum() < LEAST_ROWS:
        return None
    t, steer = table.take(slow), signal[slow]
    car, values = learned.car, learned.tyres.fit.value
    angle = np.arctan(car.body.wheelbase * t.yaw_rate / t.speed)
    reach = float(np.abs(steer).max())
    line = np.array([-reach, reach])
    share = float(np.interp(np.median(t.vx), STEER_SPEEDS, steer_shares(values)))
    gain = values[P.STEER] * share
    unit = "steering wheel (deg)" if learned.tyres.signal == "wheel_angle" else "steer"
    scale = 180.0 / np.pi if learned.tyres.signal == "wheel_angle" else 1.0
    return CarPlot(
        f"road wheels' angle (deg) by the curvature of slow driving, by {unit}; line of the file",
        (Series(POINTS, scale * steer, np.degrees(angle)), Series("one", scale * line, np.degrees(gain * line))),
    )


def _plot_delay(table: DriveTable, learned: LearnedCar) -> CarPlot | None:
    """Return what the brakes gave in the liveliest braking, and the commands, later by the delay that was found."""
    delay = learned.values.get("actuation.delay")
    if learned.braking is None or learned.powertrain is None or delay is None or delay.source != "identified":
        return None
    rows = _find_liveliest(table, learned.car)
    if rows is None:
        return None
    near, held = estimate_brake_force(table, learned.car, learned.powertrain)
    since = table.time[rows] - table.time[rows][0]
    commanded = learned.braking.force.value * table.brake_command[rows]
    most = 1.3 * float(commanded.max())
    shown = np.where(near[rows], np.clip(held[rows], -0.3 * most, most), np.nan)
    return CarPlot(
        f"brakes' torque over radius and mass (m/s^2), by time (s): blue commanded {1e3 * delay.value:.0f} ms before,"
        " orange given; what is not held are the tyres",
        (Series("two", since + delay.value, commanded), Series("one", since, shown)),
    )  # fmt: skip


def _find_liveliest(table: DriveTable, car: CarParams) -> NDArray[np.int64] | None:
    """Return the rows of the window whose brakes were moved most in a straight line; None: hardly anywhere."""
    window = np.floor(table.time / DELAY_WINDOW_S).astype(np.int64)
    _, which = np.unique(window, return_inverse=True)
    change = np.abs(np.diff(table.brake_command, prepend=table.brake_command[0]))
    straight = (np.abs(table.fy) < 0.3 * G) & (table.vx > 6.0) & (table.gear_age > 0.4) & (table.gear >= 1)
    straight &= table.gear <= car.gearbox.top_gear
    moved = np.bincount(which, np.where(straight, change, 0.0))
    best = int(np.argmax(moved))
    rows = np.flatnonzero(which == best)
    return rows if moved[best] >= MIN_COMMAND_CHANGE and len(rows) >= LEAST_ROWS else None


def _plot_limits(_: DriveTable, learned: LearnedCar) -> CarPlot:
    limits = compute_envelope(learned.car)
    return CarPlot(
        "planned limits (m/s^2) by speed (m/s): across orange, braking blue, driving green",
        (Series("one", limits.speeds, limits.lateral), Series("two", limits.speeds, limits.brake[:, 0]),
         Series("three", limits.speeds, limits.drive[:, 0])),
    )  # fmt: skip


def find_unit(key: str) -> str:
    """Return the unit of a number by its key (`body.mass`, `engine.torque.4785`); "" for ratios and unknown keys."""
    section, _, rest = key.partition(".")
    kind = get_type_hints(CarParams).get(section)
    if key in NO_KEYS or not isinstance(kind, type) or not issubclass(kind, Section):
        return NO_KEYS.get(key, "")
    hint = get_type_hints(kind, include_extras=True).get(rest.partition(".")[0])
    if get_origin(hint) is not Annotated:
        return ""
    texts = [meta.description for meta in get_args(hint)[1:] if isinstance(meta, Meta) and meta.description]
    unit = texts[0].partition(",")[0] if texts else ""
    return "" if unit == "1" else unit


def describe_car(car: CarParams) -> str:
    """Return the car of a file in a line: mass, power, grip, and how far it may be driven with."""
    doubt, grip = car.uncertainty, compute_figures(car).lateral_grip / G
    power = car.engine.peak_power / 1000.0
    facts = f"{car.body.mass:.0f} kg, {power:.0f} kW, {grip:.1f} g at {GRIP_SPEED / KMH:.0f} km/h"
    if doubt is None or not doubt.is_verified:
        return f"{facts}; no laps have been driven with it yet"
    share = f"good to drive at {100.0 * doubt.planned_share:.0f} % of the grip that was found"
    return f"{facts}; {share}: {doubt.verified_laps} laps stayed on the road"


def write_car_report(
    path: Path, table: DriveTable, learned: LearnedCar, car: CarParams, recordings: Sequence[str]
) -> Path:
    """Write the report of a learned car.

    Args:
        path: of the file.
        table: of the drives that it was learned from.
        learned: the car.
        car: the same as its file has it.
        recordings: that it was learned from.

    Raises:
        UsageError: it cannot be written.
    """
    missing = "".join(f"<li>{escape_html(text)}</li>" for text in learned.missing) or "<li>nothing</li>"
    page = render_framed_page(
        "learning/car.html",
        styles=(THEME, CHART_STYLE),
        title=escape_html(f"{car.name}: learned car"),
        name=escape_html(car.name),
        headline=escape_html(describe_car(car)),
        about=f"{learned.seconds:.0f} s of driving; what no drive tells is that of the class "
        f"{escape_html(learned.kind.name)}.",
        recordings=escape_html(", ".join(recordings)),
        charts="".join(map(_draw_plot, make_car_plots(table, learned))),
        rows="".join(starmap(_draw_number, learned.values.items())),
        missing=missing,
    )
    return write_page_file(path, page)


def _draw_plot(plot: CarPlot) -> str:
    """Return a chart of the points and curves of a plot, without the few points that lie far from all others."""
    shown = [_leave_out_outliers(series) if series.style == POINTS else series for series in plot.series]
    frame = ChartFrame(find_range(series.x for series in shown), find_range(series.y for series in shown), height=270)
    parts = []
    for style, x, y in shown:
        if style == POINTS:
            chosen = np.linspace(0, len(x) - 1, min(len(x), MAX_POINTS)).astype(int)
            parts.append(frame.draw_points(x[chosen], y[chosen]))
        else:
            parts.append(frame.draw_curve(style, x, y))
    return frame.draw_figure(plot.title, *parts)


def _leave_out_outliers(series: Series) -> Series:
    """Return finite points without those beyond the quantiles of OUTLIERS by more than the distance between these."""
    known = np.isfinite(series.y)
    if not known.any():
        return Series(series.style, series.x[known], series.y[known])
    low, high = np.quantile(series.y[known], OUTLIERS)
    near = np.abs(series.y - 0.5 * (low + high)) <= 1.5 * (high - low)
    return Series(series.style, series.x[near], series.y[near])


def _draw_number(key: str, value: LearnedValue) -> str:
    """Return the row of a number in the table."""
    low, high = map(_format_number, value.interval)
    return (
        f'<tr><td class="words">{escape_html(key)}</td><td>{_format_number(value.value)}</td><td>{low} to {high}</td>'
        f'<td class="words">{escape_html(find_unit(key))}</td><td class="words">{escape_html(value.source)}</td>'
        f'<td class="words">{escape_html(value.note)}</td></tr>'
    )


def _format_number(value: float) -> str:
    """Return a number with four digits, without a power of ten where it is large."""
    return f"{value:.0f}" if abs(value) >= 1000.0 else f"{value:.4g}"
