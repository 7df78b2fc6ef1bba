"""Figures of today beside those that are kept."""


def find_differences(now, kept, tolerance):
    """Return what is beyond `tolerance`, or in one of both alone, in words."""
    return [
        f"{key}: {now.get(key)} instead of {kept.get(key)}"
        for key in sorted(now.keys() | kept.keys())
        if key not in now or key not in kept or not abs(now[key] - kept[key]) <= tolerance
    ]
