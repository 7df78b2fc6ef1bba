"""Which simulators a command line needs: the one that it names, else all, and what is wrong with the others."""

from helpers.line_simulator import write_simulator

from trailbrake.cli.flag_names import choose_simulators, command_name
from trailbrake.errors import DataError
from trailbrake.sims import registry


def test_a_name_chooses_one_simulator_and_no_package_is_read(monkeypatch):
    monkeypatch.setattr(registry, "list_simulators", lambda: 1 / 0)
    assert [simulator.name for simulator in choose_simulators("trend")] == ["trend"]


def test_a_file_is_a_sub_command_under_its_own_path(tmp_path):
    path = str(write_simulator(tmp_path))
    (simulator,) = choose_simulators(path)
    assert (simulator.name, command_name(simulator, path)) == ("lines", path)
    assert command_name(simulator, "trend") == "lines"


def test_otherwise_all_and_a_line_for_each_broken_one(monkeypatch, capsys):
    found = registry.list_simulators().simulators
    listing = registry.Listing(found, [DataError("raised ImportError on import: no rope", where="package strange")])
    monkeypatch.setattr(registry, "list_simulators", lambda: listing)
    assert choose_simulators("--help") == found
    assert capsys.readouterr().err == "trailbrake: package strange: raised ImportError on import: no rope\n"
