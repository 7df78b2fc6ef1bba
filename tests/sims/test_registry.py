"""Simulators by name, by file and by entry point, and every way in which a stranger's can be wrong."""

import importlib.metadata
from pathlib import Path

import pytest
from helpers.line_simulator import write_simulator

import trailbrake.sims
from trailbrake.errors import DataError, TrailbrakeError, UsageError
from trailbrake.sims import registry


class EntryPoint:
    """An entry point of an installed package, as far as the registry looks at it."""

    value = "package.module:SIMULATOR"

    def __init__(self, name, load):
        self.name, self.load = name, load
        self.dist = type("Dist", (), {"name": "strange-sims"})


@pytest.fixture
def plugins(monkeypatch):
    """Return plugins(*entry points): what the installed packages bring."""

    def install(*points):
        monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: list(points))

    return install


def test_a_simulator_is_a_folder():
    folder = Path(trailbrake.sims.__file__).parent
    assert registry.simulator_names() == sorted(p.name for p in folder.iterdir() if (p / "__init__.py").is_file())
    assert registry.find("assetto").name == "assetto"
    assert registry.find("assetto") is registry.find("assetto")


@pytest.mark.parametrize("name", ["asetto", "", "registry", "../assetto"])
def test_another_name_is_one_line_with_what_there_is(name):
    with pytest.raises(UsageError, match="no such simulator") as caught:
        registry.find(name)
    assert "assetto" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_is_a_simulator(tmp_path):
    path = write_simulator(tmp_path)
    assert registry.find(str(path)).title == "Lines"
    assert registry.find(f"{path}:SIMULATOR").name == "lines"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("WIRE = []", "WIRE = [", "was never closed"),
        ("WIRE = []", "raise ValueError('no wire')", "lines_sim.py:11: raised ValueError on import: no wire"),
        ("SIMULATOR = ", "MINE = ", None),
        ("SIMULATOR = Simulator(", "SIMULATOR = dict(", "no Simulator, expected SIMULATOR = Simulator(...), got dict"),
        ("SIMULATOR = Simulator(", "dict(", "holds no simulator"),
        ("    link=Link, host=Host,", "    link=Link,", "TypeError"),
        ("link=Link, ", "link=3, ", "SIMULATOR, link: cannot be called, got 3"),
        ('"x", "y"', '"x", "z_position"', "SIMULATOR, supplies: unknown field, got z_position"),
        ('frozenset({"time", ', "frozenset({", "SIMULATOR, supplies: every simulator supplies these, expected time"),
        ('frozenset({"steer"', 'set({"steer"', "SIMULATOR, accepts: no frozenset of field names, got set"),
        ("    rate: float = 50.0", "    rate: float", "serve_options: an option without a default, got rate"),
        ("live_options=Live", "live_options=None", "SIMULATOR, live_options: no dataclass, got None"),
        ('title="Lines"', 'title="Lines", world="moon"', "SIMULATOR, world: no kind of world"),
        ('name="lines"', 'name="my lines"', "SIMULATOR, name: no name, expected letters, digits and _"),
        ('name="lines"', 'name="assetto"', "name: another simulator has this name, got 'assetto'"),
    ],
)
def test_a_wrong_file_is_one_line_that_names_it_and_the_part(tmp_path, old, new, said):
    path = write_simulator(tmp_path, old, new)
    if said is None:
        assert registry.find(str(path)).name == "lines"
        return
    with pytest.raises(TrailbrakeError) as caught:
        registry.find(str(path))
    line = str(caught.value)
    assert said in line
    assert path.name in line
    assert "\n" not in line
    assert registry.find("trend").name == "trend"  # nothing else breaks


def test_several_in_a_file_are_told_apart(tmp_path):
    path = write_simulator(tmp_path, "SIMULATOR = ", "ONE = TWO = ")
    with pytest.raises(DataError, match=r"holds several simulators.*got ONE, TWO"):
        registry.find(str(path))
    assert registry.find(f"{path}:TWO").name == "lines"
    with pytest.raises(DataError, match="no such simulator in the file, got TOW; did you mean TWO"):
        registry.find(f"{path}:TOW")


def test_an_entry_point_is_a_simulator(tmp_path, plugins):
    lines = registry.find(str(write_simulator(tmp_path)))
    plugins(EntryPoint("lines", lambda: lines))
    assert registry.find("lines") is lines
    listing = registry.list_simulators()
    assert "lines" in [simulator.name for simulator in listing.simulators]
    assert listing.problems == []


def test_a_broken_entry_point_is_one_line_and_the_others_work(tmp_path, plugins):
    lines = registry.find(str(write_simulator(tmp_path)))

    def fail():
        raise ImportError("no module named rope")

    plugins(
        EntryPoint("broken", fail), EntryPoint("assetto", lambda: lines), EntryPoint("other", lambda: lines),
        EntryPoint("number", lambda: 3), EntryPoint("lines", lambda: lines),
    )  # fmt: skip
    listing = registry.list_simulators()
    assert [simulator.name for simulator in listing.simulators] == sorted([*registry.simulator_names(), "lines"])
    said = [str(problem) for problem in listing.problems]
    where = "package strange-sims, entry point"
    assert said == [
        f"{where} broken = package.module:SIMULATOR: raised ImportError on import: no module named rope",
        f"{where} assetto = package.module:SIMULATOR: another simulator has this name; the package must choose another",
        f"{where} other = package.module:SIMULATOR, name: the simulator's name is not the entry point's, "
        "expected 'other', got 'lines'",
        f"{where} number = package.module:SIMULATOR: no Simulator, expected SIMULATOR = Simulator(...), got int",
    ]
    assert registry.find("assetto").title.startswith("Assetto")


def test_a_built_in_name_reads_no_packages(monkeypatch):
    def fail(group):
        raise AssertionError

    monkeypatch.setattr(importlib.metadata, "entry_points", fail)
    assert registry.find("trend").name == "trend"


def test_two_entry_points_of_one_name(tmp_path, plugins):
    lines = registry.find(str(write_simulator(tmp_path)))
    plugins(EntryPoint("lines", lambda: lines), EntryPoint("lines", lambda: 3))
    assert registry.find("lines") is lines  # the first
