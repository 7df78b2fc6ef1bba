"""Every simulator folder has the same files and converters; `check_simulator` is tested over the same folders."""

import importlib
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

import trailbrake.sims
from trailbrake import roles
from trailbrake.sims.registry import find, simulator_names
from trailbrake.simulator import load_part

ROOT = Path(trailbrake.sims.__file__).parent
NAMES = simulator_names()
FILES = {
    "spec": ("NAME", "TITLE", "SUPPLIES", "ACCEPTS"),
    "codec": (),
    "convert": ("state_from_wire", "state_to_wire", "controls_from_wire", "controls_to_wire"),
    "link": ("Link",),
    "host": ("Host",),
}


def methods(protocol):
    return [n for n, v in vars(protocol).items() if not n.startswith("_") and callable(v)]


def test_there_are_simulators():
    assert "assetto" in NAMES
    assert sorted(p.name for p in ROOT.iterdir() if p.is_dir() and not p.name.startswith("_")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_files_and_names(name):
    for file, names in FILES.items():
        assert (ROOT / name / f"{file}.py").is_file()
        module = importlib.import_module(f"trailbrake.sims.{name}.{file}")
        for public in names:
            assert file == "spec" or vars(module)[public].__doc__, f"{file}.{public} has no docstring"


@pytest.mark.parametrize("name", NAMES)
def test_the_name_is_the_folder_s_and_the_methods_have_docstrings(name):
    simulator = find(name)
    assert simulator.name == name
    for protocol, part in ((roles.Link, simulator.link), (roles.Host, simulator.host)):
        made = load_part(part)
        classes = [made] if isinstance(made, type) else get_args(get_type_hints(made)["return"])  # a function makes one
        assert classes
        for cls in classes:
            for method in methods(protocol):
                assert getattr(cls, method).__doc__, f"{cls.__name__}.{method} has no docstring"
