"""Sensitivity of the lap time to a road's width and grip, from the multipliers of the optimal control problem."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

STRETCH = 50.0  # m of road whose sensitivities are added up
RANKED = 5  # stretches that are named


def stage_lengths(s: Array, closed: bool, length: float) -> Array:
    """Return the length of road (n,) m that each stage at s (n,) m stands for, on a road of `length` m."""
    steps = np.diff(s)
    if closed:
        steps = np.append(steps, length - s[-1])
        around: Array = 0.5 * (steps + np.roll(steps, 1))
        return around
    halves: Array = 0.5 * (np.append(0.0, steps) + np.append(steps, 0.0))
    return halves


def sum_sensitivities(columns: dict[str, Array], lengths: Array) -> dict[str, float]:
    """Return the lap time (s) saved by a metre more width along each edge, and by one percent more grip everywhere."""
    return {
        "metre_left_s": float(np.sum(columns["worth_left_spm2"] * lengths)),
        "metre_right_s": float(np.sum(columns["worth_right_spm2"] * lengths)),
        "percent_grip_s": float(np.sum(columns["worth_grip_spm"] * lengths)) / 100.0,
    }


def rank_sensitivities(columns: dict[str, Array], lengths: Array) -> list[dict[str, Any]]:
    """Return the stretches of `STRETCH` m where width and grip are worth most, the most first, `RANKED` of each kind.

    Each has `what` ("left edge", "right edge" or "grip"), `start_m`, `end_m` and `saved_s`: lap time saved by a metre
    more width at that edge, or by one percent more grip, on this stretch alone.
    """
    s = columns["s_m"]
    place = (s / STRETCH).astype(int)
    rows: list[dict[str, Any]] = []
    for what, name, unit in (
        ("left edge", "worth_left_spm2", 1.0),
        ("right edge", "worth_right_spm2", 1.0),
        ("grip", "worth_grip_spm", 0.01),
    ):
        saved = np.bincount(place, unit * columns[name] * lengths)
        rows += [
            {"what": what, "start_m": k * STRETCH, "end_m": (k + 1) * STRETCH, "saved_s": round(float(saved[k]), 5)}
            for k in np.argsort(saved)[::-1][:RANKED].tolist()
            if saved[k] > 0.0
        ]
    return rows
