"""Laps that others have logged, as recordings of ours."""

from trailbrake.record.lap_logs.log_import import describe_log, digest_file, is_lap_log, read_lap_log

__all__ = ["describe_log", "digest_file", "is_lap_log", "read_lap_log"]
