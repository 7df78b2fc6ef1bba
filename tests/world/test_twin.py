"""The compiled kernels and the same source as plain Python say the same."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

DRIVE = """
import json, math, sys
sys.path.insert(0, sys.argv[1])
from helpers.roads import circle
from trailbrake.cars.car_library import load_car
from trailbrake.world.batch import Batch
from trailbrake.world.row_layout import ControlRow, StateRow
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
print(json.dumps(seen))
"""


def drive(kernels):
    here = str(Path(__file__).resolve().parent.parent)
    environment = {**os.environ, "TRAILBRAKE_KERNELS": kernels}
    done = subprocess.run(
        [sys.executable, "-c", DRIVE, here], env=environment, capture_output=True, text=True, check=True
    )
    return np.array(json.loads(done.stdout))


@pytest.mark.slow
def test_compiled_and_plain_python_agree():
    compiled, plain = drive("numba"), drive("python")
    assert compiled.shape == plain.shape
    scale = np.maximum(1.0, np.abs(plain))
    # Fused products and sums differ in the last bit, and a car on the limit doubles that a dozen times in a second.
    assert np.max(np.abs(compiled - plain) / scale) < 1e-8
