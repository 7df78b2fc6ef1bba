"""Drives to learn from: what `open_drive` reads, as tables."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trailbrake.driving.drive_files import open_drive
from trailbrake.errors import DataError, UsageError
from trailbrake.learning.identification.drive_table import DriveTable, RoadBounds, WireFacts, make_table
from trailbrake.record.recording_reader import Recording
from trailbrake.sims import registry
from trailbrake.state.signals import find_learning_signals

Array = NDArray[np.float64]


def read_drive(path: Path, number: int, bounds: RoadBounds | None = None) -> DriveTable:
    """Return a drive as a table.

    Args:
        path: what `open_drive` reads.
        number: of the drive.
        bounds: of its road; None: as the recording has them, if it does.

    Raises:
        TrailbrakeError: it cannot be read, or does not tell how a car moves.
    """
    if not path.is_file():
        raise UsageError("cannot read the recording", where=str(path), got="no such file")
    try:
        return _make_drive_table(open_drive(path), number, bounds)
    except DataError as error:
        raise error if str(path) in str(error) else DataError(f"{path}: {error}") from error


def _make_drive_table(recording: Recording, number: int, bounds: RoadBounds | None) -> DriveTable:
    state = {name: recording.state[name] for name in recording.state}
    state["time"] = np.where(recording.undone, np.nan, state["time"])
    controls = {name: recording.controls[name] for name in recording.controls}
    road = recording.road_map if bounds is None else None
    if road is not None:
        bounds = RoadBounds(road.centre, road.left, road.right)
    return make_table(state, controls, number, bounds, _read_wire_facts(recording))


def _read_wire_facts(recording: Recording) -> WireFacts:
    """Return what the wire of a recording has beside states and controls, by the signals that its simulator names."""
    simulators = {simulator.name: simulator for simulator in registry.list_simulators().simulators}
    simulator = simulators.get(str(recording.about.get("sim", "")))
    if simulator is None:
        return WireFacts(recording.wire_delay)
    signals, names = recording.signals, find_learning_signals(simulator.list_signals(simulator.live_options()))
    found = {role: [np.asarray(signals[name]) for name in names[role] if name in signals] for role in names}
    surface = None
    if len(found["surface"]) == len(found["kerb"]) == 4:
        surface = np.where(np.column_stack(found["kerb"]) > 0.0, np.nan, np.column_stack(found["surface"]))
    return WireFacts(recording.wire_delay, next(iter(found["engine_power"]), None), surface)
