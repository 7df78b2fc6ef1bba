"""The cache folder's name must change with everything that a kernel can reach: numba itself looks at one file only."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from trailbrake.kernels import cache

FAKE = {
    "__init__.py": "",
    "kernels/__init__.py": "def jit(f): return f\n",
    "constants.py": "G = 9.81\n",
    "curves.py": "def curve(x): return x\n",
    "law.py": "from trailbrake.constants import G\n",
    "tables/__init__.py": "WIDTH = 3\n",
    "tables/columns.py": "X = 0\n",
    "tables/names.py": "Y = 1\n",
    "kernel.py": (
        "import math\n"
        "from trailbrake import curves as shapes\n"
        "from trailbrake.kernels import jit\n"
        "from trailbrake.law import (\n    G,  # through two modules\n    curve,\n)\n"
        "from trailbrake.tables import (\n    WIDTH,\n    columns,\n)\n"
        "import trailbrake.tables.names\n"
    ),
    "other.py": "print('no kernel, and no kernel imports it')\n",
}
REACHED = [name for name in FAKE if name != "other.py"]


@pytest.fixture
def package(tmp_path, monkeypatch):
    root = tmp_path / "trailbrake"
    for name, text in FAKE.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(cache, "_PACKAGE", root)
    return root


@pytest.fixture
def empty(tmp_path, monkeypatch):
    """No variable of the user's, and a cache of our own."""
    root = tmp_path / "cache"
    monkeypatch.setenv("TRAILBRAKE_CACHE", str(root))
    # Set, then deleted: so monkeypatch takes away what prepare() sets.
    monkeypatch.setenv("NUMBA_CACHE_DIR", "x")
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    return root


@pytest.mark.parametrize("name", REACHED)
def test_the_key_changes_with_every_module_that_a_kernel_reaches(package, name):
    before = cache.source_key()
    path = package / name
    path.write_text(path.read_text() + "# edited\n")
    assert cache.source_key() != before


def test_the_key_stays_when_something_else_changes(package):
    before = cache.source_key()
    (package / "other.py").write_text("print('edited')\n")
    (package / "notes.txt").write_text("new\n")
    assert cache.source_key() == before


def test_the_key_changes_when_a_module_is_renamed(package):
    before = cache.source_key()
    (package / "kernel.py").rename(package / "kernel2.py")
    assert cache.source_key() != before


def test_the_key_is_short_and_the_same_each_time():
    assert cache.source_key() == cache.source_key()
    assert len(cache.source_key()) == 16


def test_the_real_kernels_are_reached():
    reached = {name.decode() for name in cache._read_kernel_sources()}
    assert {"cars.tyre", "tracks.frenet", "tracks.road_columns", "planning.speed_profile", "units", "kernels"} <= {
        name.removeprefix("trailbrake.") for name in reached
    }
    assert "trailbrake.cli.main" not in reached


def test_prepare_tells_numba_of_a_folder_named_by_the_key(package, empty):
    folder = cache.prepare_folder()
    assert folder == empty / "kernels" / cache.source_key()
    assert folder.is_dir()
    assert os.environ["NUMBA_CACHE_DIR"] == str(folder)


def test_a_user_s_cache_folder_is_respected(package, empty, monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "theirs"))
    assert cache.prepare_folder() == tmp_path / "theirs"
    assert os.environ["NUMBA_CACHE_DIR"] == str(tmp_path / "theirs")
    assert not empty.exists()


def test_an_empty_variable_counts_as_not_set(package, empty, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", "")
    assert cache.prepare_folder() == empty / "kernels" / cache.source_key()


def test_old_folders_are_pruned_newest_kept(package, empty):
    for age in range(8):
        old = empty / "kernels" / f"old{age}"
        old.mkdir(parents=True)
        (old / "k.nbi").write_text("")
        os.utime(old, (1e9 - age, 1e9 - age))
    folder = cache.prepare_folder()
    assert {p.name for p in folder.parent.iterdir()} == {folder.name, "old0", "old1", "old2", "old3"}


def test_the_present_folder_is_kept_however_old(package, empty):
    folder = cache.prepare_folder()
    del os.environ["NUMBA_CACHE_DIR"]
    (folder / "k.nbi").write_text("")
    os.utime(folder, (1.0, 1.0))
    for k in range(6):
        (folder.parent / f"other{k}").mkdir()
    assert cache.prepare_folder() == folder
    assert (folder / "k.nbi").is_file()


def test_where_no_folder_can_be_made_there_is_none(package, empty):
    empty.write_text("a file where the folder should be")
    assert cache.prepare_folder() is None
    assert "(at each start: " in cache.describe_compilation(None)
    assert "(once, " in cache.describe_compilation(empty)
    assert "NUMBA_CACHE_DIR" not in os.environ


def test_cold_means_nothing_compiled(tmp_path):
    assert cache.is_cold(None)
    assert cache.is_cold(tmp_path / "missing")
    assert cache.is_cold(tmp_path)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "k.nbi").write_text("")
    assert not cache.is_cold(tmp_path)


KERNEL = "from trailbrake.kernels import jit\n\n\n@jit\ndef twice(x):\n    return 2.0 * x\n"


@pytest.mark.slow
@pytest.mark.parametrize("home", ["writable", "read-only"])
def test_kernels_work_with_and_without_a_place_to_keep_them(tmp_path, home):
    (tmp_path / "kernel.py").write_text(KERNEL)
    place = tmp_path / "cache"
    if home == "read-only":
        place.write_text("a file where the folder should be")
    environment = {k: v for k, v in os.environ.items() if k not in ("NUMBA_CACHE_DIR", "TRAILBRAKE_KERNELS")}
    said = subprocess.run(
        [sys.executable, "-c", "import kernel; print(kernel.twice(2.0))"], cwd=tmp_path, check=True,
        capture_output=True, text=True,
        env={**environment, "TRAILBRAKE_CACHE": str(place), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )  # fmt: skip
    assert said.stdout == "4.0\n"
    assert said.stderr == ""
    kept = [p for p in tmp_path.rglob("*.nbi") if Path(p).is_file()]
    # In no case beside the source, where only numba's own, too narrow, check would guard it.
    assert [p.is_relative_to(place) for p in kept] == ([True] if home == "writable" else [])
