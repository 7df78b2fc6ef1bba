"""Recordings: write as it drives, read back, export."""
