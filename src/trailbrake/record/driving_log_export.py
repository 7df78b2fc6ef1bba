"""Writes a recording as `driving_log.csv` and `IMG/`, the layout in which Formula Trend's own recorder writes.

Source: protocol page formula-trend, section 8. Steer and pedals are the commands at each picture, which a
driver learns from; the simulator's wheels follow within some hundredths of a second.
"""

import math
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from trailbrake.errors import DataError, UsageError, describe_os_error
from trailbrake.record.driving_log import LOG_NAME, PICTURE_FOLDER, TREND_LOCK
from trailbrake.record.format import PNG
from trailbrake.record.recording_reader import Recording

PREFIX = "center"
_UNKNOWN_START = datetime(2000, 1, 1)  # of recordings without a date


def export_driving_log(recording: Recording, folder: Path) -> dict[str, Any]:
    """Add a recording to a folder; return {"log": the file, "rows": how many, "without_picture": ticks left out}.

    Rows are appended to an existing log, and no picture in the folder is overwritten.

    Raises:
        DataError: the recording has no pictures.
        UsageError: the folder cannot be written to.
    """
    state, controls = recording.state, recording.controls
    began, count = _start_time(recording), 0
    columns = [controls["steer"], controls["throttle"], controls["brake"], controls["gear"], state["speed"],
               state["time"], state["lap"]]  # fmt: skip
    file = None
    try:
        for picture in recording.pictures():
            if file is None:  # nothing is made for a recording without pictures
                (folder / PICTURE_FOLDER).mkdir(parents=True, exist_ok=True)
                file = (folder / LOG_NAME).open("a", encoding="utf-8", newline="")
            steer, throttle, brake, gear, speed, time, lap = (float(column[picture.row]) for column in columns)
            if recording.undone[picture.row] or not math.isfinite(steer + throttle + brake + speed + time):
                continue
            path = _write_picture(folder / PICTURE_FOLDER, began + timedelta(seconds=time), picture.data)
            pedal = -throttle if gear < 0.0 else throttle  # as the wire's one pedal: below 0 is backwards
            numbers = [-steer * TREND_LOCK, pedal, brake, speed]
            file.write(",".join([str(path.resolve()), *(f"{x + 0.0:.7g}" for x in numbers), f"{time:.3f}",
                                 f"{lap if lap >= 1.0 else 1.0:.0f}"]) + "\n")  # fmt: skip
            count += 1
    except OSError as error:
        raise UsageError("cannot write the driving log", where=str(error.filename or folder),
                         got=describe_os_error(error)) from error  # fmt: skip
    finally:
        if file is not None:
            file.close()
    if file is None:
        raise DataError("no pictures in the recording", where=str(recording.path),
                        hint="record without --no-pictures, through a wire with a camera")  # fmt: skip
    return {"log": str(folder / LOG_NAME), "rows": count, "without_picture": len(recording) - count}


def _start_time(recording: Recording) -> datetime:
    try:
        return datetime.fromisoformat(str(recording.about.get("started"))).replace(tzinfo=None)
    except ValueError:
        return _UNKNOWN_START


def _write_picture(folder: Path, moment: datetime, data: bytes) -> Path:
    """Write a picture under the first free name from `moment` on: names have the time to the millisecond."""
    suffix = ".png" if data.startswith(PNG) else ".jpg"
    while True:
        stamp = f"{moment:%Y_%m_%d_%H_%M_%S}_{moment.microsecond // 1000:03d}"
        path = folder / f"{PREFIX}_{stamp}{suffix}"
        try:
            with path.open("xb") as file:
                file.write(data)
            return path
        except FileExistsError:
            moment += timedelta(milliseconds=1)
