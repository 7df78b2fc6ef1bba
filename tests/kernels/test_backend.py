import os
import subprocess
import sys

import numpy as np
import pytest

from trailbrake.kernels import BACKEND, inline_jit, internal_jit, jit

compiled = pytest.mark.skipif(BACKEND != "numba", reason="plain Python kernels")


@internal_jit
def twice(x):
    return 2.0 * x


@inline_jit
def thrice(x):
    return 3.0 * x


@jit
def both(x):
    return twice(x) + thrice(x)


@jit
def make_array(n):
    return np.zeros(n)


def run(code, backend):
    environment = {k: v for k, v in os.environ.items() if k != "TRAILBRAKE_KERNELS"}
    if backend is not None:
        environment["TRAILBRAKE_KERNELS"] = backend
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)


@pytest.mark.slow
def test_python_gives_plain_functions_without_numba():
    code = (
        "import sys, types\n"
        "from trailbrake.cars.tyre import magic_formula\n"
        "assert isinstance(magic_formula, types.FunctionType)\n"
        "assert 'numba' not in sys.modules\n"
        "from trailbrake import kernels\n"
        "assert kernels.CACHE_IS_COLD is False\n"
        "print(kernels.BACKEND, round(magic_formula(0.0, 1.0, 1.5, -1.0), 6))\n"
    )
    said = run(code, "python")
    assert (said.returncode, said.stdout) == (0, "python 0.0\n"), said.stderr


@compiled
def test_numba_is_the_default():
    assert type(jit(lambda x: x)).__module__.split(".")[0] == "numba"


@pytest.mark.slow
def test_another_value_is_refused_in_one_line():
    said = run("import trailbrake.kernels", "fortran")
    assert said.returncode == 1
    assert said.stderr.splitlines()[-1] == (
        "trailbrake.errors.UsageError: TRAILBRAKE_KERNELS: no such kernel backend, expected numba or python, "
        "got 'fortran'"
    )


@compiled
def test_a_kernel_that_makes_an_array_is_refused_at_compile_time():
    from numba.core.errors import NumbaError

    with pytest.raises(NumbaError, match=r"nopython_type_inference(.|\n)*return np\.zeros\(n\)"):
        make_array(3)


@pytest.mark.slow
def test_what_is_found_on_disk_needs_nothing_of_the_compiler(tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_CACHE", str(tmp_path))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    code = (
        "import sys\n"
        "from trailbrake import kernels\n"
        "from trailbrake.tracks.road import Road\n"
        "import numpy as np\n"
        "x = np.arange(8.0)\n"
        "road = Road.from_columns(1.0, False, x, 0.0 * x, 0.0 * x, 0.0 * x)\n"
        "s, offset, _ = road.locate(2.5, 0.25)\n"
        "print(kernels.CACHE_IS_COLD, s, offset, len([name for name in sys.modules if name.startswith('numba.')]))\n"
    )
    cold, warm = (run(code, None).stdout.split() for _ in range(2))
    assert cold[:3] == ["True", "2.5", "0.25"]
    assert warm[:3] == ["False", "2.5", "0.25"]
    assert int(warm[3]) < int(cold[3]) - 50  # modules of numba: compiling takes twice as many


@compiled
def test_what_only_kernels_call_refuses_python():
    for _ in range(2):
        for kernel in (twice, thrice):
            with pytest.raises(TypeError, match=rf"{kernel.__name__}\(\) is compiled into kernels only"):
                kernel(1.0)
        assert both(1.0) == 5.0
        assert twice.py_func(1.0) == 2.0
