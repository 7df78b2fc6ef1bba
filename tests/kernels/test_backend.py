import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow  # each starts a Python of its own


def run(code, backend):
    environment = {k: v for k, v in os.environ.items() if k != "TRAILBRAKE_KERNELS"}
    if backend is not None:
        environment["TRAILBRAKE_KERNELS"] = backend
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)


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


def test_numba_is_the_default():
    code = (
        "from trailbrake import kernels\n"
        "from trailbrake.cars.tyre import magic_formula\n"
        "print(kernels.BACKEND, type(magic_formula).__module__.split('.')[0])\n"
    )
    said = run(code, None)
    assert (said.returncode, said.stdout) == (0, "numba numba\n"), said.stderr


def test_another_value_is_refused_in_one_line():
    said = run("import trailbrake.kernels", "fortran")
    assert said.returncode == 1
    assert said.stderr.splitlines()[-1] == (
        "trailbrake.errors.UsageError: TRAILBRAKE_KERNELS: no such kernel backend, expected numba or python, "
        "got 'fortran'"
    )


def test_a_kernel_that_makes_an_array_is_refused_at_compile_time(tmp_path):
    kernel = "import numpy as np\nfrom trailbrake.kernels import jit\n\n@jit\ndef make(n):\n    return np.zeros(n)\n"
    (tmp_path / "own.py").write_text(kernel)
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\nfrom own import make\nmake(3)\n"
    said = run(code, None)
    assert said.returncode == 1
    assert "return np.zeros(n)" in said.stderr
    assert "nopython_type_inference" in said.stderr


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


def test_what_only_kernels_call_refuses_python(tmp_path):
    own = "from trailbrake.kernels import inline_jit, internal_jit, jit\n\n"
    own += "@internal_jit\ndef twice(x):\n    return 2.0 * x\n\n@inline_jit\ndef thrice(x):\n    return 3.0 * x\n\n"
    own += "@jit\ndef both(x):\n    return twice(x) + thrice(x)\n"
    (tmp_path / "own.py").write_text(own)
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from own import both, thrice, twice\n"
        "def told(function):\n"
        "    try:\n        return function(1.0)\n"
        "    except TypeError as error:\n        return str(error)[:9]\n"
        "for _ in range(2):\n    print(told(twice), told(thrice), both(1.0), twice.py_func(1.0))\n"
    )
    said = run(code, None)
    assert said.stdout.splitlines() == ["twice() i thrice()  5.0 2.0"] * 2, said.stderr
