"""Tables of drives with known answers: motion that is made up, and what a car of known numbers would tell of it."""

from dataclasses import fields, replace

import numpy as np

from trailbrake.learning.identification.drive_table import DriveTable
from trailbrake.learning.identification.engine_power import build_up_boost
from trailbrake.learning.identification.powertrain import drive_matrix, wheel_inertia_share

RATE = 50.0  # Hz


def make_table(rows, **columns):
    """Return a table of `rows` rows: 0 where nothing is given, NaN for what a wire may not tell."""
    silent = ("steer_applied", "wheel_angle", "limiter", "engine_power")
    wheels = ("spin", "load", "slip_ratio", "slip_angle", "combined_slip", "place_x", "place_y")
    values = {}
    for field in fields(DriveTable):
        shape = (rows, 4) if field.name in wheels else (rows,)
        values[field.name] = np.full(shape, np.nan if field.name in (*silent, *wheels) else 0.0)
    values["time"] = np.arange(rows) / RATE
    values["block"] = np.floor(values["time"])
    values["gear_age"] = np.full(rows, 10.0)
    for name, column in columns.items():
        values[name] = np.broadcast_to(np.asarray(column, float).T, values[name].T.shape).T.copy()
    values["boost"] = values["boost"] if "boost" in columns else values["throttle"]
    return DriveTable(**values)


def weave(rows, speed=6.0, amplitude=0.4):
    """Return (time, yaw rate, speed) of a weaving drive."""
    time = np.arange(rows) / RATE
    return time, amplitude * np.sin(2.0 * np.pi * time / 2.4), np.full(rows, speed)


def straight_drive(car, throttle_of, lag=0.0):
    """Return pulls and coasting of a car in three gears, the truth of its powertrain, and its engine speeds.

    Its boost builds up with `lag` (s), of which the table tells nothing.
    """
    rng = np.random.default_rng(1)
    parts = []
    for gear in (2, 3, 4):
        for throttle in throttle_of:
            engine = (
                rng.permutation(np.linspace(400.0, 860.0, 120)) if throttle < 0.5 else np.linspace(400.0, 860.0, 120)
            )
            parts.append((np.full(120, float(gear)), engine, np.full(120, throttle)))
    gear, engine, throttle = (np.concatenate(column) for column in zip(*parts, strict=True))
    ratio = np.array([car.gearbox.overall_ratio(int(g)) for g in gear])
    vx = engine / ratio * car.driven_radius
    speeds = np.linspace(400.0, 860.0, 12)
    radius = np.repeat([car.tyre_front.radius, car.tyre_rear.radius], 2)
    table = make_table(len(gear), vx=vx, gear=gear, engine=engine, throttle=throttle, spin=vx[:, None] / radius)
    mass, aero, rolling = car.body.mass, car.aero, car.tyre_front.rolling_resistance
    truth = np.concatenate([
        [car.engine.full_torque(s * 30.0 / np.pi) / mass for s in speeds],
        [car.engine.drag_torque(s * 30.0 / np.pi) / mass for s in speeds[[0, -1]]],
        [0.5 * aero.air_density * aero.drag_area / mass, rolling, car.engine.inertia / mass],
    ])  # fmt: skip
    inertia = wheel_inertia_share(car)
    # The acceleration appears on both sides: of the body, and of what turns.
    boost = build_up_boost(table, lag)
    still = drive_matrix(replace(table, ax=np.zeros(len(gear)), boost=boost), car, speeds) @ truth
    lever = (ratio / car.driven_radius) ** 2 * car.engine.inertia / mass
    ax = still / (1.0 + inertia + lever)
    return replace(table, ax=ax, fx=ax), truth, speeds
