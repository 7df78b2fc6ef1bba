"""Compiles what an environment launches on a graphics card to PTX, on a machine without one.

`python -m helpers.card_compiler FOLDER single CASE ...` writes a file for each kernel of cases of `card_race`; NVIDIA's
`ptxas -v` tells its registers, stack and spills.
"""

import sys
from pathlib import Path

import numba.cuda
import numba.cuda.dispatcher
import numpy as np
from numba import typeof
from numba.cuda import types

from trailbrake.kernels import cuda_compiler, cuda_memory

CAPABILITY = 9, 0


class PaperArray:
    """An array of a card that is not there: its type, and the values that were copied to it."""

    __cuda_ndarray__ = True

    def __init__(self, values):
        self.values = np.asarray(values)
        self.shape, self.dtype, self._numba_type_ = self.values.shape, self.values.dtype, typeof(self.values)

    def __getitem__(self, key):
        return PaperArray(self.values[key])

    def is_c_contiguous(self):
        return self.values.flags.c_contiguous

    def copy_to_device(self, values):
        self.values[...] = values

    def copy_to_host(self):
        return self.values


def find_type(value):
    """Return the type of an argument of a launch."""
    if isinstance(value, tuple):
        return types.Tuple([find_type(item) for item in value])
    if isinstance(value, PaperArray):
        kind = value._numba_type_
        return types.Array(find_type(value.dtype), kind.ndim, kind.layout)
    if isinstance(value, np.dtype | type):
        return getattr(types, np.dtype(value).name)
    return {bool: types.boolean, int: types.int64, float: types.float64}.get(type(value)) or find_type(type(value))


class PaperCard:
    """Stands in for a card of CAPABILITY: launches are compiled, each kernel once, and not run.

    Attributes:
        ptx: the assembly of each kernel by its name and the types of its arguments.
    """

    def __init__(self):
        self.ptx = {}

        class Device:
            compute_capability = CAPABILITY

        numba.cuda.dispatcher.get_current_device = Device
        numba.cuda.to_device = PaperArray
        cuda_compiler.require_cuda = lambda: numba.cuda
        cuda_memory.check_memory = lambda n, car_bytes: None

    def launch(self, kernel, threads, *arguments):
        name, signature = kernel.py_func.__name__, types.void(*map(find_type, arguments))
        if (name, signature) not in self.ptx:
            options = {key: value for key, value in kernel.targetoptions.items() if key == "fastmath"}
            self.ptx[name, signature] = numba.cuda.compile(
                kernel.py_func, signature, device=False, cc=CAPABILITY, abi="numba", **options
            )[0]


def compile_environment(card, options, n, *, single):
    """Let `card` compile each kernel that a reset and a step launch."""
    from trailbrake.env import cuda as env_cuda
    from trailbrake.world import cuda, cuda_kernels

    cuda.check_memory = env_cuda.check_memory = cuda_memory.check_memory
    env_cuda.launch = cuda_kernels.launch = card.launch
    # Not specialized: that asks the card.
    cuda_kernels.CardKernels.compile_advance = lambda self, *args: (
        self._advance if args[-1] is None else self._advance_equal
    )
    cuda_kernels.write_constants = lambda *args: None
    batch = env_cuda.CudaRaceBatch(options, n, seed=1, single_precision=single)
    batch.reset()
    batch.step(np.zeros((n, batch.task.action.width)))


if __name__ == "__main__":
    from helpers.card_race import CASES

    folder = Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    card = PaperCard()
    for case in sys.argv[3:]:
        compile_environment(card, CASES[case], 12, single=sys.argv[2] == "single")
    for number, ((name, _), text) in enumerate(card.ptx.items()):
        (folder / f"{number}_{name}.ptx").write_text(text)
        print(number, name, len(text))
