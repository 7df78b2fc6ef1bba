"""One clear error where numba lacks a private part, and a bound that is the one of pyproject.toml."""

import gc
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from trailbrake.errors import UsageError
from trailbrake.kernels import BACKEND

if BACKEND != "numba":
    pytest.skip("plain Python does not import numba", allow_module_level=True)

from numba.core.errors import TypingError

from trailbrake.kernels import numba_internals
from trailbrake.kernels.numba_internals import VERSIONS, check_numba, njit, transform_source


def test_the_installed_numba_fits():
    check_numba()


def test_a_missing_method_is_named_with_the_versions_that_have_it(monkeypatch):
    from numba.core.caching import FunctionCache

    monkeypatch.setitem(numba_internals._PRIVATE, FunctionCache, ("_load_overload", "_gone"))
    with pytest.raises(UsageError, match=r"^numba: .*expected numba>=0\.61.*without FunctionCache\._gone; pip install"):
        check_numba()


def test_a_missing_attribute_of_kernels_is_named(monkeypatch):
    monkeypatch.setattr(numba_internals, "_PRIVATE_OF_KERNELS", ("_compiler", "_gone"))
    with pytest.raises(UsageError, match=r"without Dispatcher\._gone"):
        check_numba()


def test_an_unknown_option_is_named(monkeypatch):
    monkeypatch.setitem(numba_internals.INTERNAL_OPTIONS, "_gone", True)
    with pytest.raises(UsageError, match="without option _gone"):
        check_numba()


def test_the_bound_is_that_of_the_package():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert f"numba{VERSIONS}" in project["dependencies"]


def test_the_garbage_collector_rests_while_a_kernel_compiles_and_is_then_as_it_was():
    seen = []

    def compile_new():
        transform_source(njit(lambda x: x + 1.0), lambda function: seen.append(gc.isenabled()) or function)(1.0)

    compile_new()
    assert (seen, gc.isenabled()) == ([False], True)
    with pytest.raises(TypingError):
        njit(lambda x: x.nothing)(1.0)
    assert gc.isenabled()
    gc.disable()
    try:
        compile_new()
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.slow
def test_a_damaged_file_of_machine_code_is_dropped_and_made_again(tmp_path):
    """As a full disk, or a machine that was switched off, leaves it."""
    program = (
        "import numpy as np; from trailbrake.planning.speed_profile import interpolate_speed\n"
        "print(interpolate_speed(np.array([0.0, 4.0, 6.0]), np.array([0.0, 2.0, 4.0]), 1.0))"
    )

    own = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}  # this process has set it

    def run():
        return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300.0,
                              env={**own, "TRAILBRAKE_CACHE": str(tmp_path)})  # fmt: skip

    whole = run()
    for pattern, data in (("*.nbi", b""), ("*.nbc", b"\x80\x05.")):
        damaged = list(tmp_path.rglob(pattern))
        assert damaged, whole.stderr
        for file in damaged:
            file.write_bytes(data)
        mended = run()
        assert (mended.returncode, mended.stdout) == (0, whole.stdout)
        (line,) = mended.stderr.splitlines()
        assert line.startswith("trailbrake: a damaged file of kernels in ")
    again = run()
    assert (again.returncode, again.stdout, again.stderr) == (0, whole.stdout, "")
