"""Recordings to reports."""
