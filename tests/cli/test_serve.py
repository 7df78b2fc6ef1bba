"""The verb around a served world; the serving is tested in run/."""

import socket

import pytest

from trailbrake.run import serve as serving


@pytest.fixture
def asked(monkeypatch):
    seen = []
    monkeypatch.setattr(serving, "serve_world", lambda *given: seen.append(given) or {"sim": given[0].name, "late": 0})
    return seen


def test_flags_become_options(cli, asked):
    words = "--track kartwerk --car hatchback --seed 3 --seconds 4 --speed max --cars 2"
    said = cli("serve", "assetto", *words.split())
    assert (said.code, said.out, said.err) == (0, "", [])
    simulator, world, options = asked[0]
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


def test_a_race_that_nobody_drives_is_a_failure(cli, free_port):
    said = cli("serve", "trend", "--laps=2", "--seconds=0.1", f"--connect=127.0.0.1:{free_port}")
    assert said.code == 1
    assert said.err[-1] == "trailbrake: 0 of 2 laps driven in 0.1 s"


@pytest.fixture
def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
