"""The environment on a graphics card does what it does on the processor; comparisons are a process of their own."""

import json

import pytest
from helpers.simulated_card import run_card_process

from trailbrake import kernels

pytestmark = [pytest.mark.slow, pytest.mark.skipif(kernels.BACKEND != "numba", reason="plain Python kernels")]
CASES = ("state", "parts", "scan", "varied", "rivals", "group", "line", "random")
COMPILED = ("parts", "scan", "varied", "rivals")  # with each kernel
DOUBLE, SINGLE = ([f"{precision}:{case}" for case in CASES] for precision in ("double", "single"))
FAR = {"double": 1e-6, "single": 2e-3}


def has_card():
    return pytest.importorskip("numba.cuda").is_available()


def judge(cases, simulated):
    said = run_card_process("-m", "helpers.card_race", *cases, simulated=simulated)
    lines = [json.loads(line) for line in said.splitlines()]
    assert [f"{line['precision']}:{line['case']}" for line in lines] == cases
    for line in lines:
        print(line)  # on a card the figures are wanted
        for name, far in line["differences"].items():
            assert far <= FAR[line["precision"]], (line["case"], name, far)
        codes = line["codes"]
        assert set(codes) != {"0"}, line["case"]
        if line["case"] == "state":
            assert codes["-1"] > 0 < codes["1"]  # ends of both kinds, and restarts after them


def test_card_and_processor_agree_part_by_part():
    judge([*DOUBLE, *(f"single:{case}" for case in COMPILED)], True)


def test_so_does_a_real_card():
    if not has_card():
        pytest.skip("no graphics card here")
    judge([*DOUBLE, *SINGLE], False)


SHARED = """
import numpy as np, torch
from trailbrake.env.cuda import CudaRaceBatch
batch = CudaRaceBatch(n=256, seed=1)
first = torch.as_tensor(batch.reset(), device="cuda")
assert first.data_ptr() == batch._out[1].__cuda_array_interface__["data"][0]
actions = torch.zeros((256, 2), device="cuda")
actions[:, 1] = 1.0
before = first[:, 0].clone()
for _ in range(50):
    step = batch.step(actions)
batch.check_actions()
assert (first[:, 0] > before).float().mean() > 0.9, "no car became faster"
assert torch.equal(torch.as_tensor(step.observations, device="cuda"), first)
try:
    import jax
except ImportError:
    print("torch")
else:
    assert float(jax.dlpack.from_dlpack(first)[3, 0]) == float(first[3, 0])
    print("torch and jax")
"""


def test_torch_reads_and_writes_the_arrays_of_a_real_card():
    if not has_card():
        pytest.skip("no graphics card here")
    pytest.importorskip("torch")
    assert "torch" in run_card_process("-c", SHARED, simulated=False)


def test_every_kernel_compiles_for_a_card_without_one(tmp_path):
    pytest.importorskip("cuda.bindings.nvvm", reason="the extra gpu is not installed")
    words = ("-m", "helpers.card_compiler", str(tmp_path), "single", *COMPILED)
    written = run_card_process(*words, simulated=False)
    names = {line.split()[1] for line in written.splitlines()}
    assert names >= {"act", "observe", "observe_placed", "restart_worlds", "scan_part", "drive", "add_noise"}
    assert all(".entry" in path.read_text() for path in tmp_path.glob("*.ptx"))


REFUSED = """
import numpy as np
from trailbrake.env.cuda import CudaRaceBatch
from trailbrake.env.options import RaceOptions
from trailbrake.errors import UsageError
from trailbrake.kernels import cuda_memory

def expect(words, call):
    try:
        call()
    except UsageError as error:
        assert words in str(error), error
        assert "\\n" not in str(error)
    else:
        raise AssertionError(words)

batch = CudaRaceBatch(n=4)
expect("not begun", lambda: batch.step(np.zeros((4, 2))))
batch.reset()
expect("actions do not fit", lambda: batch.step(np.zeros((4, 3))))
expect("no slipstream", lambda: CudaRaceBatch(RaceOptions(cars=2, slipstream=True), n=2))
expect("fewer worlds than roads", lambda: CudaRaceBatch(RaceOptions(track=("pinegrove", "hartmoor")), n=1))
import numba.cuda
numba.cuda.current_context().__class__.get_memory_info = lambda self: (10_000_000, 80_000_000)
expect("at most", lambda: CudaRaceBatch(n=1_000_000))
expect("at most", lambda: CudaRaceBatch(n=1_000_000, single_precision=False))
"""


def test_bad_input_is_refused_in_one_line():
    run_card_process("-c", REFUSED)
