"""Recordings: write as it drives, read back, export."""

from trailbrake.record.csv_files import export_csv
from trailbrake.record.recorder import Recorder
from trailbrake.record.recording_reader import Recording
from trailbrake.record.writer_thread import write_in_thread

__all__ = ["Recorder", "Recording", "export_csv", "write_in_thread"]
