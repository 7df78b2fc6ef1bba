"""A line kept for a track and a car, beside the middle of its road."""

from pathlib import Path

import numpy as np

from trailbrake.cars.car_library import load_car
from trailbrake.planning.line_file import LineFile, cached_line_path, car_digest, write_line
from trailbrake.tracks.track_library import load_track

TRACK, CAR = "lakeside", "gt3"


def keep_line(offset: float, car_name: str = CAR) -> Path:
    road, car = load_track(TRACK).road, load_car(CAR)
    s = np.arange(0.0, road.length, 4.0)
    places = road.points(s, offset)
    columns = {"s_m": s, "offset_m": 0.0 * s + offset, "x_m": places[:, 0], "y_m": places[:, 1]}
    columns["speed_mps"] = 0.0 * s + 9.0
    about = {"track": TRACK, "car": CAR, "car_sha256": car_digest(load_car(car_name)), "closed": True}
    path = cached_line_path(road, car)
    write_line(path, LineFile(about, columns))
    return path
