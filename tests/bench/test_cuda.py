"""The bench of a graphics card measures what it says, on numba's simulator of one."""

import json

import pytest
from helpers.simulated_card import run_card_process

from trailbrake import kernels

RUN = """
import json
from dataclasses import asdict
from helpers.simulated_card import prepare_simulated_card
from trailbrake.bench import cuda, world
prepare_simulated_card()
cuda.CARS, cuda.SUBSTEPS, world.WARM_UP, world.STEPS = 4, 2, 1, 2
cuda.ENV_STEPS, cuda.WARM_STEPS, cuda.RUNS = 1, 0, 1
print(json.dumps([asdict(row) for row in cuda.measure_rows()]))
"""


@pytest.mark.slow
@pytest.mark.skipif(kernels.BACKEND != "numba", reason="plain Python kernels")
def test_rows_of_a_card():
    rows = {row["name"]: row for row in json.loads(run_card_process("-c", RUN))}
    assert set(rows) == {"cuda_f32", "cuda_f64", "cuda_env", "cuda_env_scan64"}
    assert all(row["value"] > 0.0 for row in rows.values())
    assert "4 x gt3 in races of 4 on hartmoor" in rows["cuda_f32"]["note"]
