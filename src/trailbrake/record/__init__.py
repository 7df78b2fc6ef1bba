"""Recordings: write as it drives, read back, export."""

from trailbrake.record.csv_export import export_csv
from trailbrake.record.recorder import Recorder
from trailbrake.record.recording_reader import Recording
from trailbrake.record.threaded_recorder import ThreadedRecorder

__all__ = ["Recorder", "Recording", "ThreadedRecorder", "export_csv"]
