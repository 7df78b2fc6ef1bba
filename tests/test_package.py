import json
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

import trailbrake

HEAVY = ("numba", "llvmlite", "numpy", "mcap", "trailbrake.world", "trailbrake.kernels")


def modules_after(code):
    """Run `code` in a fresh process and return what it printed and which of the heavy modules it imported."""
    tail = f"import json, sys\nsys.stderr.write(json.dumps([m for m in {HEAVY!r} if m in sys.modules]))"
    said = subprocess.run([sys.executable, "-c", f"{code}\n{tail}"], capture_output=True, text=True, check=True)
    return said.stdout, json.loads(said.stderr)


def test_importing_the_package_imports_nothing_heavy():
    assert modules_after("import trailbrake; trailbrake.__version__")[1] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--help"], {"drive", "serve", "report", "export", "sims", "drivers", "tracks", "cars", "bench"}),
        (["--version"], {trailbrake.__version__}),
        (["drive", "--help"], {"--track"}),
    ],
)
def test_help_imports_nothing_heavy(flags, words):
    out, heavy = modules_after(
        f"from trailbrake.cli.main import run_command_line\nassert run_command_line({flags!r}) == 0"
    )
    assert heavy == []
    assert words <= set(out.split())


@pytest.mark.slow
def test_wrong_usage_is_one_line_and_exit_code_2():
    said = subprocess.run([sys.executable, "-m", "trailbrake", "drvie"], capture_output=True, text=True)
    assert said.returncode == 2
    assert said.stdout == ""
    assert len(said.stderr.splitlines()) == 1
    assert said.stderr.startswith("trailbrake: ")


@pytest.mark.parametrize("name", trailbrake.__all__)
def test_public_names_exist_and_are_described(name):
    value = getattr(trailbrake, name)
    assert name == "__version__" or value.__doc__


def test_public_names_are_those_that_are_written_down():
    assert trailbrake.__all__ == sorted(trailbrake.__all__)
    assert set(trailbrake.__all__) - {"__version__"} == set(trailbrake._LAZY)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'dirve'"):
        _ = trailbrake.dirve


def test_no_module_hides_a_public_name():
    """An imported submodule becomes an attribute of the package, in place of the name that is loaded on first use."""
    there = {path.stem for path in Path(trailbrake.__file__).parent.iterdir()}  # by letter: Windows finds either case
    assert not there & set(trailbrake.__all__)


def test_what_an_index_shows_has_links_that_work_there(monkeypatch):
    root = Path(__file__).parents[1]
    interface = ModuleType("hatchling.metadata.plugin.interface")
    interface.MetadataHookInterface = object
    monkeypatch.setitem(sys.modules, interface.__name__, interface)
    hook, metadata = runpy.run_path(str(root / "hatch_build.py"))["IndexMetadata"](), {}
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    hook.root, hook.config = root, settings["tool"]["hatch"]["metadata"]["hooks"]["custom"]
    hook.update(metadata)
    address, text = hook.config["repository"], metadata["readme"]["text"]
    assert all(url.startswith(address) for url in metadata["urls"].values())
    links = re.findall(r"\]\(([^)]*)\)", text)
    assert len(links) > 40
    assert all(link.startswith("https://") for link in links)
    assert f"]({address}/raw/main/docs/images/film.webp)" in text
