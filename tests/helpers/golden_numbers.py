"""Comparison of numbers with those that are kept in `tests/golden`."""

from collections.abc import Mapping


def list_differences(now: Mapping[str, float], kept: Mapping[str, float], tolerance: float) -> list[str]:
    """Return what is missing, or beyond the tolerance, in words."""
    return [
        f"{key}: {now.get(key)} instead of {kept.get(key)}"
        for key in sorted(now.keys() | kept.keys())
        if key not in now or key not in kept or not abs(now[key] - kept[key]) <= tolerance
    ]
