"""One clear error where numba lacks a private part, and a bound that is the one of pyproject.toml."""

import gc
import runpy
import tomllib
from pathlib import Path

import pytest

from trailbrake.errors import UsageError
from trailbrake.kernels import BACKEND, CACHE, jit

if BACKEND != "numba":
    pytest.skip("plain Python does not import numba", allow_module_level=True)

from numba.core import config
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


@pytest.mark.skipif(CACHE is None, reason="no folder for kernels")
def test_a_damaged_file_of_machine_code_is_dropped_and_made_again(tmp_path, monkeypatch, capsys):
    """As a full disk, or a machine that was switched off, leaves it."""
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    (tmp_path / "own.py").write_text("def double(x):\n    return 2.0 * x\n", encoding="utf-8")
    double = runpy.run_path(str(tmp_path / "own.py"))["double"]

    def compute():
        """Return what a new kernel of the function computes, and how often it was found on disk."""
        numba_internals._say_once.cache_clear()
        kernel = jit(double)
        return kernel(1.5), sum(kernel.stats.cache_hits.values())

    assert compute() == (3.0, 0)
    for pattern, data in (("*.nbi", b""), ("*.nbc", b"\x80\x05.")):
        damaged = list(tmp_path.rglob(pattern))
        assert damaged
        for file in damaged:
            file.write_bytes(data)
        assert compute() == (3.0, 0)
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("trailbrake: a damaged file of kernels in ")
    assert compute() == (3.0, 1)
    assert capsys.readouterr().err == ""
