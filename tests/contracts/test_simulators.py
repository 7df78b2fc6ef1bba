"""One checker over every simulator folder: the same files, the same public names, and honest declarations."""

import dataclasses
import importlib
from pathlib import Path

import pytest

import trailbrake.sims
from trailbrake import roles
from trailbrake.drivers import load as drivers
from trailbrake.run.needs import check_needs
from trailbrake.run.options import default_driver
from trailbrake.state.tables import COMMAND_FIELDS, CONTROL_FIELDS, STATE_FIELDS

ROOT = Path(trailbrake.sims.__file__).parent
NAMES = sorted(p.name for p in ROOT.iterdir() if p.is_dir() and not p.name.startswith("_"))
FILES = {
    "spec": ("NAME", "TITLE", "SUPPLIES", "ACCEPTS", "period", "cars", "ServeOptions", "LiveOptions"),
    "codec": (),
    "convert": ("state_from_wire", "state_to_wire", "controls_from_wire", "controls_to_wire"),
    "link": ("Link",),
    "host": ("Host",),
}


def module(name, file):
    return importlib.import_module(f"trailbrake.sims.{name}.{file}")


def methods(protocol):
    return [n for n, v in vars(protocol).items() if not n.startswith("_") and callable(v)]


def test_there_are_simulators():
    assert "assetto" in NAMES


@pytest.mark.parametrize("name", NAMES)
def test_files_and_names(name):
    for file, names in FILES.items():
        assert (ROOT / name / f"{file}.py").is_file()
        for public in names:
            thing = getattr(module(name, file), public)
            assert file == "spec" or thing.__doc__, f"{file}.{public} says nothing"


@pytest.mark.parametrize("name", NAMES)
def test_declarations(name):
    spec, link = module(name, "spec"), module(name, "link").Link
    assert name == spec.NAME
    assert spec.TITLE
    assert 0.0 < spec.period(spec.ServeOptions()) <= 0.05
    assert spec.cars(spec.ServeOptions()) >= 1
    assert isinstance(spec.SUPPLIES, frozenset)
    assert isinstance(spec.ACCEPTS, frozenset)
    assert not spec.SUPPLIES - STATE_FIELDS
    assert not spec.ACCEPTS - CONTROL_FIELDS - COMMAND_FIELDS
    assert {"time", "sequence", "age", "phase"} <= spec.SUPPLIES
    assert (link.SUPPLIES, link.ACCEPTS) == (spec.SUPPLIES, spec.ACCEPTS)


@pytest.mark.parametrize("name", NAMES)
def test_who_drives_where_nobody_is_named_can_drive_it(name):
    driver = default_driver(name)
    check_needs(drivers.load(driver), driver, name)


@pytest.mark.parametrize("name", NAMES)
def test_link_and_host_have_their_roles_methods(name):
    for protocol, cls in ((roles.Link, module(name, "link").Link), (roles.Host, module(name, "host").Host)):
        for method in methods(protocol):
            assert callable(getattr(cls, method)), f"{cls.__name__}.{method}"
            assert getattr(cls, method).__doc__, f"{cls.__name__}.{method} says nothing"


@pytest.mark.parametrize("name", NAMES)
def test_options_become_flags(name):
    """The command line is made of them: dataclasses, every field with a default and a line in the docstring."""
    for options in (module(name, "spec").ServeOptions, module(name, "spec").LiveOptions):
        options()
        for field in dataclasses.fields(options):
            assert f"{field.name}: " in options.__doc__
