"""Drivers by name or file: registry, checks, gains, and drivers that are policies or FMUs."""
