"""The verb `learn`: what it says before a long drive. Learning itself is tested in learning/."""

import pytest

from trailbrake.errors import SimulatorError


@pytest.mark.parametrize(
    ("words", "what", "file"),
    [
        ((), "hatchback on serpent_pass", "serpent_pass_map.csv and the car's .toml"),
        (("track", "--track=kartwerk", "--car=gt3"), "gt3 on kartwerk", "kartwerk_map.csv"),
        (("--left-edge=l.mcap", "--right-edge=r.mcap", "--live"), "the car of the game", "l_map.csv and the car's"),
        (("car", "--live"), "the car of the game", "learned.toml and its .html"),
    ],
)
def test_what_is_driven_and_written_is_said_first(cli, monkeypatch, tmp_path, words, what, file):
    def stop(*args):
        raise SimulatorError("the end")

    monkeypatch.chdir(tmp_path)
    for name in ("road_mapping.map_road", "road_mapping.learn_road_and_car", "car_learning.learn_car_file"):
        monkeypatch.setattr(f"trailbrake.learning.{name}", stop)
    first, last = cli("learn", *words).err
    assert f"drives {what} through the wire of forza" in first
    assert f"{tmp_path}/{file}" in first
    assert last == "trailbrake: the end"


def test_what_is_read_from_files_is_not_announced(cli, tmp_path):
    assert cli("learn", "track", "--source", tmp_path / "nothing.gpx").error


def test_a_wire_that_does_not_tell_where_the_road_is_says_so_at_once(cli):
    said = cli("learn", "--sim", "assetto", "--track", "kartwerk").err
    assert len(said) == 1
    assert "--left-edge FILE" in said[0]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--out=.",), "--out: no file for the result, expected NAME.csv"),
        (("--out=mine.toml",), "--out: no file for the result, expected NAME.csv"),  # the car's file would be the map's
        (("track", "--metres=-1"), "--metres: no length of a drive"),
        (("car", "--out=mine"), "--out: no file for the result, expected NAME.toml"),
        (("car", "--seconds=0"), "--seconds: no number of seconds"),
    ],
)
def test_what_cannot_be_learned_is_refused_before_a_drive_is_announced(cli, words, said):
    lines = cli("learn", *words).err
    assert len(lines) == 1
    assert said in lines[0]
