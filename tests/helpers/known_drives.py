"""Tables of drives with known answers: motion that is made up, and what a car of known numbers would tell of it."""

from dataclasses import fields

import numpy as np

from trailbrake.identification.drive_table import DriveTable

RATE = 50.0  # Hz


def make_table(rows, **columns):
    """Return a table of `rows` rows: 0 where nothing is given, NaN for what a wire may not tell."""
    silent = ("steer_applied", "wheel_angle", "limiter")
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
    return DriveTable(**values)


def weave(rows, speed=6.0, amplitude=0.4):
    """Return (time, yaw rate, speed) of a weaving drive."""
    time = np.arange(rows) / RATE
    return time, amplitude * np.sin(2.0 * np.pi * time / 2.4), np.full(rows, speed)
