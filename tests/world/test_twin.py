"""The compiled kernels and the same source as plain Python say the same."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.roads import circle

from trailbrake.cars.car_library import load_car
from trailbrake.kernels import BACKEND
from trailbrake.world.batch import Batch
from trailbrake.world.row_layout import ControlRow, StateRow

HERE = Path(__file__).resolve().parent


def drive():
    """Return the rows of two cars at each look, as nested lists."""
    batch = Batch(circle(60.0, bank=-0.15, half_width=5.0, runoff=1.0), [load_car("gt3"), load_car("hatchback")])
    for car in range(2):
        batch.place_cars(car, 0.0, -60.0, 0.0)
    seen = []
    for k in range(150):
        steer = 0.3 * math.sin(k / 20.0)
        batch.set_row(ControlRow.STEER, steer)
        batch.set_row(ControlRow.THROTTLE, 1.0)
        batch.set_row(ControlRow.BRAKE, 1.0 if k % 50 > 40 else 0.0)
        batch.step(dt=0.001, substeps=8)
        seen.append(batch.get_row(0, StateRow.COUNT).tolist())
    return seen


@pytest.mark.slow
@pytest.mark.skipif(BACKEND != "numba", reason="plain Python kernels")
def test_compiled_and_plain_python_agree():
    code = f"import json, sys; sys.path[:0] = {[str(HERE), str(HERE.parent)]!r}; import test_twin"
    environment = {**os.environ, "TRAILBRAKE_KERNELS": "python"}
    done = subprocess.run([sys.executable, "-c", f"{code}; print(json.dumps(test_twin.drive()))"], env=environment,
                          capture_output=True, text=True, check=True)  # fmt: skip
    compiled, plain = np.array(drive()), np.array(json.loads(done.stdout))
    assert compiled.shape == plain.shape
    scale = np.maximum(1.0, np.abs(plain))
    # Fused products and sums differ in the last bit, and a car on the limit doubles that a dozen times in a second.
    assert np.max(np.abs(compiled - plain) / scale) < 1e-8
