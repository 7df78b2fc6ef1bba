"""Laps that others have logged, as recordings of ours."""

from trailbrake.record.lap_logs.log_import import digest_file, is_lap_log, read_lap_log

__all__ = ["digest_file", "is_lap_log", "read_lap_log"]
