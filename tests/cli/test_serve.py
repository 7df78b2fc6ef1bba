"""The verb around a served world; the serving is tested in run/."""

import pytest
from helpers.ports import free_port

from trailbrake.driving import serve as serving


@pytest.fixture
def asked(monkeypatch):
    seen = []

    def serve_world(*given, page):
        seen.append((*given, page))
        return {"sim": given[0].name, "late": 0}

    monkeypatch.setattr(serving, "serve_world", serve_world)
    return seen


def test_flags_become_options(cli, asked):
    words = "--track kartwerk --car hatchback --seed 3 --seconds 4 --speed max --cars 2"
    said = cli("serve", "assetto", *words.split())
    assert (said.code, said.out, said.err) == (0, "", [])
    simulator, world, options, page = asked[0]
    assert page is None
    assert (simulator.name, world.track, world.car, world.seed) == ("assetto", "kartwerk", "hatchback", 3)
    assert (world.seconds, world.speed, options.cars) == (4.0, "max", 2)


def test_json_ends_with_one_object(cli, asked):
    assert cli("serve", "assetto", "--json").object == {"sim": "assetto", "late": 0}
    assert asked[0][1].speed is None  # the simulator's own


def test_a_real_one_for_a_moment(cli, tmp_path, monkeypatch):
    monkeypatch.setenv("TRAILBRAKE_SHM", str(tmp_path))
    said = cli("serve", "assetto", "--track=kartwerk", "--seconds=0.05", "--json")
    assert said.object["loop"]["ticks"] > 0
    assert said.err[-1].startswith("ready assetto ")
    assert not list(tmp_path.iterdir())


def test_a_race_that_nobody_drives_is_a_failure(cli):
    said = cli("serve", "trend", "--laps=2", "--seconds=0.1", f"--connect=127.0.0.1:{free_port()}")
    assert said.code == 1
    assert said.err[-1] == "trailbrake: 0 of 2 laps driven in 0.1 s"


def test_a_page_beside_the_host(cli, asked):
    said = cli("serve", "assetto", "--watch")
    assert said.code == 0
    assert said.err == [f"the page is at {asked[0][-1].url}"]


def test_flags_of_a_page_without_one_are_refused(cli, asked):
    said = cli("serve", "assetto", "--watch-port=8765")
    assert (said.code, asked) == (2, [])
    assert "add --watch, or leave them out" in said.err[0]
