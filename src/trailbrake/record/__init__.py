"""Recordings: write as it drives, read back, export."""

from trailbrake.record.export import export_csv
from trailbrake.record.reader import Recording
from trailbrake.record.threaded import Threaded
from trailbrake.record.writer import Recorder

__all__ = ["Recorder", "Recording", "Threaded", "export_csv"]
