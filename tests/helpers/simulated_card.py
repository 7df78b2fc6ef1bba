"""Processes of their own that drive on a graphics card, or on numba's simulator of one: numba decides at import."""

import os
import subprocess
import sys
import threading
from pathlib import Path

TESTS = str(Path(__file__).resolve().parents[1])


def run_card_process(*words, simulated=True):
    """Return what Python says with these words, `-c CODE` or `-m MODULE ...`; it finds `helpers`."""
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1" if simulated else "0"}
    environment["PYTHONPATH"] = os.pathsep.join([TESTS, os.environ.get("PYTHONPATH", "")])
    environment["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"  # or JAX takes most of the card's memory
    ran = subprocess.run([sys.executable, "-W", "ignore", *words], env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def prepare_simulated_card():
    """Have rows that nothing loads NaN, and threads run one after the other, four a block; a real card stays as it is.

    No kernel of ours waits for another thread. numba polls all threads of a block without a pause, which keeps the
    interpreter from them.
    """
    import numba
    import numpy as np

    from trailbrake.world import cuda_kernels

    if not numba.config.ENABLE_CUDASIM:
        return
    from numba.cuda.simulator.kernel import BlockThread
    from numba.cuda.simulator.kernelapi import FakeCUDALocal

    def run_whole(thread):
        threading.Thread.start(thread)
        thread.join()

    BlockThread.start = run_whole
    FakeCUDALocal.array = lambda self, shape, dtype: np.full(shape, np.nan, dtype)
    cuda_kernels.THREADS = 4
