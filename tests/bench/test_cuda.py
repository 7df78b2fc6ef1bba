"""The bench of a graphics card measures what it says, on numba's simulator of one."""

import json
import os
import subprocess
import sys

import pytest

from trailbrake import kernels

RUN = """
import json
from dataclasses import asdict
from trailbrake.world import cuda_kernels
from trailbrake.bench import cuda, world
cuda.CARS, cuda.SUBSTEPS, world.WARM_UP, world.STEPS, cuda_kernels.THREADS = 4, 2, 1, 2, 4
cuda.ENV_STEPS, cuda.WARM_STEPS, cuda.RUNS = 1, 0, 1
print(json.dumps([asdict(row) for row in cuda.measure_rows()]))
"""


@pytest.mark.slow
@pytest.mark.skipif(kernels.BACKEND != "numba", reason="plain Python kernels")
def test_rows_of_a_card():
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", RUN], env=environment, capture_output=True, text=True, check=True
    )
    rows = {row["name"]: row for row in json.loads(ran.stdout)}
    assert set(rows) == {"cuda_f32", "cuda_f64", "cuda_env", "cuda_env_scan64"}
    assert all(row["value"] > 0.0 for row in rows.values())
    assert "4 x gt3 in races of 4 on hartmoor" in rows["cuda_f32"]["note"]
