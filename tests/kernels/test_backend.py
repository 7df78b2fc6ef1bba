import os
import subprocess
import sys


def run(code, backend):
    environment = {k: v for k, v in os.environ.items() if k != "TRAILBRAKE_KERNELS"}
    if backend is not None:
        environment["TRAILBRAKE_KERNELS"] = backend
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)


def test_python_gives_plain_functions_without_numba():
    code = (
        "import sys, types\n"
        "from trailbrake.cars.tyre import curve\n"
        "assert isinstance(curve, types.FunctionType), type(curve)\n"
        "assert 'numba' not in sys.modules\n"
        "from trailbrake import kernels\n"
        "assert kernels.COLD is False\n"
        "print(kernels.BACKEND, round(curve(0.0, 1.0, 1.5, -1.0), 6))\n"
    )
    said = run(code, "python")
    assert (said.returncode, said.stdout) == (0, "python 0.0\n"), said.stderr


def test_numba_is_the_default():
    code = (
        "from trailbrake import kernels\n"
        "from trailbrake.cars.tyre import curve\n"
        "print(kernels.BACKEND, type(curve).__module__.split('.')[0])\n"
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
