"""A simulator's own axis map is a signed permutation of the axes, and its inverse is the map back."""

import importlib
from pathlib import Path

import numpy as np
import pytest

import trailbrake.sims

ROOT = Path(trailbrake.sims.__file__).parent
NAMES = sorted(path.parent.name for path in ROOT.glob("*/axes.py"))


def maps(name):
    """Return (map to ISO 8855 axes, map from them) of a simulator as 3 x 3 matrices."""
    axes = importlib.import_module(f"trailbrake.sims.{name}.axes")
    (to_iso,) = (getattr(axes, f) for f in vars(axes) if f.startswith("iso_from_"))
    (from_iso,) = (getattr(axes, f) for f in vars(axes) if f.endswith("_from_iso") and "points" not in f)
    return tuple(np.array([convert(tuple(unit)) for unit in np.eye(3)]).T for convert in (to_iso, from_iso))


@pytest.mark.parametrize("name", NAMES)
def test_an_axis_map_turns_axes_into_axes(name):
    to_iso, from_iso = maps(name)
    assert np.array_equal(np.sort(np.abs(to_iso), axis=0), [[0.0] * 3, [0.0] * 3, [1.0] * 3])
    assert np.array_equal(to_iso @ to_iso.T, np.eye(3))
    assert np.array_equal(from_iso, to_iso.T)


@pytest.mark.parametrize("name", NAMES)
def test_the_map_of_a_right_handed_simulator_is_a_rotation(name):
    assert np.linalg.det(maps(name)[0]) == pytest.approx(1.0)
