"""Recordings for other viewers: a file of Rerun, and a layout for Foxglove, which opens the recording itself."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from trailbrake.errors import DataError, OsErrors, UsageError
from trailbrake.record.recording_reader import Recording

RERUN_COLUMNS = ("speed", "throttle", "brake", "steer", "gear", "engine_speed", "acceleration_x", "acceleration_y",
                 "yaw_rate", "fl_load", "fr_load", "rl_load", "rr_load")  # fmt: skip
BLOCK_ROWS = 100_000  # rows at a time


def export_rerun(recording: Recording, out: str | Path) -> int:
    """Write a recording as a .rrd file of Rerun and return the number of rows: the map, the car's place, the charts.

    Raises:
        DataError: there are no rows in it.
        UsageError: Rerun is missing (the extra `rerun`), or `out` cannot be written.
    """
    try:
        import rerun
    except ImportError as error:
        raise UsageError("needs Rerun", where="--format rerun", hint='pip install "trailbrake[rerun]"') from error
    if not len(recording):
        raise DataError("nothing was recorded, so there is nothing to export", where=str(recording.path))
    stream = rerun.RecordingStream("trailbrake", recording_id=recording.path.stem)
    try:
        stream.save(str(out))
    except Exception as error:  # of Rerun's own kind
        raise UsageError("cannot write the export", where=str(out), got=" ".join(str(error).split())[:160]) from error
    road = recording.road_map
    if road is not None:
        for name in ("left", "right"):
            points = getattr(road, name)
            points = np.vstack([points, points[:1]]) if road.closed else points
            stream.log(f"map/{name}", rerun.LineStrips2D([_face_up(points)]), static=True)
    if recording.plan is not None:
        points = np.column_stack([recording.plan.x, recording.plan.y])
        stream.log("map/plan", rerun.LineStrips2D([_face_up(points)], colors=[0, 114, 178]), static=True)
    for block in recording.iterate_rows(BLOCK_ROWS, ("time", "x", "y", *RERUN_COLUMNS), ()):
        state = block.state
        indexes = [rerun.TimeColumn("time", duration=state["time"])]
        for name in RERUN_COLUMNS:
            if np.isfinite(state[name]).any():
                stream.send_columns(
                    f"state/{name}", indexes=indexes, columns=rerun.Scalars.columns(scalars=state[name])
                )
        place = np.column_stack([state["x"], state["y"]])
        if np.isfinite(place).all():
            columns = rerun.Points2D.columns(positions=_face_up(place))
            stream.send_columns("map/car", indexes=indexes, columns=columns)
    stream.flush()
    stream.disconnect()
    return len(recording)


def _face_up(points: Any) -> Any:
    """Return points (n, 2) in Rerun's plane, whose second axis points down."""
    return np.asarray(points) * (1.0, -1.0)


def export_foxglove_layout(out: str | Path) -> None:
    """Write a layout of Foxglove for recordings of trailbrake: speed, pedals, steer, path, events.

    It belongs to no drive: import it once, and open any .mcap file.

    Raises:
        UsageError: `out` cannot be written.
    """
    with OsErrors("cannot write the layout", where=str(out)):
        Path(out).write_text(json.dumps(describe_foxglove_layout(), indent=2) + "\n", encoding="utf-8")


def describe_foxglove_layout() -> dict[str, Any]:
    """Return the layout as JSON values."""

    def plot(title: str, *paths: str, across: str = "") -> dict[str, Any]:
        lines = [{"value": path, "enabled": True, "timestampMethod": "receiveTime"} for path in paths]
        custom = {"xAxisVal": "custom", "xAxisPath": {"value": across, "enabled": True}} if across else {}
        return {"title": title, "paths": lines, "showLegend": True, "isSynced": True, "xAxisVal": "timestamp", **custom}

    panels = {
        "Plot!speed": plot("Speed, m/s", "/state.speed"),
        "Plot!pedals": plot("Pedals", "/state.throttle", "/state.brake", "/controls.throttle", "/controls.brake"),
        "Plot!steer": plot("Steer, positive to the left", "/state.steer", "/controls.steer"),
        "Plot!path": plot("Path, m", "/state.y", across="/state.x"),
        "Plot!loads": plot("Wheel loads, N", *(f"/state.{wheel}_load" for wheel in ("fl", "fr", "rl", "rr"))),
        "RawMessages!event": {"topicPath": "/event", "expansion": "all"},
    }
    left = {"direction": "column", "first": "Plot!path", "second": "RawMessages!event", "splitPercentage": 75}
    lower = {"direction": "column", "first": "Plot!steer", "second": "Plot!loads"}
    middle = {"direction": "column", "first": "Plot!pedals", "second": lower, "splitPercentage": 34}
    right = {"direction": "column", "first": "Plot!speed", "second": middle, "splitPercentage": 33}
    mosaic = {"direction": "row", "first": left, "second": right, "splitPercentage": 38}
    return {
        "configById": panels,
        "globalVariables": {},
        "userNodes": {},
        "playbackConfig": {"speed": 1},
        "layout": mosaic,
    }
