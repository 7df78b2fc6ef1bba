"""Cells that do not have their declared outcome yet, and why. Strict: a cell that is mended has to leave the list."""

KNOWN = {}
