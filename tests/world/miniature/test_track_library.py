import numpy as np
import pytest

from trailbrake.errors import DataError, UsageError
from trailbrake.world.miniature.track_library import (
    LENGTH_RANGE,
    generate_miniature_track,
    load_miniature_track,
    miniature_track_names,
)

GOOD = "start = 4.0\ncorners = [[0, 0, 1.5], [12, 0, 1.5], [12, 6, 1.5], [0, 6, 1.5]]\n"
SEEDS = range(8)


@pytest.mark.parametrize("name", miniature_track_names())
def test_every_track_of_the_library_loads_with_a_title(name):
    track = load_miniature_track(name)
    assert track.name == name
    assert track.title != name
    assert "library" in track.source


def test_a_file_of_one_s_own_loads(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text("\ufeff" + GOOD, "utf-8")
    track = load_miniature_track(path)
    assert (track.name, track.forks) == ("mine", ())


def test_a_seed_loads():
    assert load_miniature_track("gen:2").name == "gen:2"


@pytest.mark.parametrize(
    "asked", ["clovr", "hartmoor", "no/such.toml", "x\0.toml", "gen:", "gen:-1", "gen:x", "gen:1e3"]
)
def test_an_unknown_name_is_one_line(asked):
    with pytest.raises(UsageError, match="no such") as error:
        load_miniature_track(asked)
    assert "\n" not in str(error.value)


def test_a_misspelled_name_is_guessed():
    with pytest.raises(UsageError, match="did you mean clover"):
        load_miniature_track("clovr")


@pytest.mark.parametrize(
    ("data", "words"), [(b"\xff\xfe", "UTF-8"), (b"# " + b"x" * 200_000, "too large"), (b"corners = 3", "miniature")]
)
def test_a_file_that_is_no_track_is_one_line(tmp_path, data, words):
    path = tmp_path / "bad.toml"
    path.write_bytes(data)
    with pytest.raises(DataError, match=words):
        load_miniature_track(path)


@pytest.fixture(scope="module")
def tracks():
    return [generate_miniature_track(seed) for seed in SEEDS]


def test_a_seed_is_always_the_same_track(tracks):
    first, again = tracks[5], generate_miniature_track(5)
    assert np.array_equal(first.halves[0], again.halves[0])
    assert np.array_equal(first.walls, again.walls)
    assert first.signs == again.signs


def test_seeds_differ(tracks):
    assert len({round(track.length, 6) for track in tracks}) == len(tracks)


def test_every_track_is_as_long_as_the_real_ones_and_forks(tracks):
    for track in tracks:
        assert LENGTH_RANGE[0] <= track.length <= LENGTH_RANGE[1]
        assert len(track.forks) >= 2


def test_both_ways_are_the_shorter_one_about_equally_often(tracks):
    left = [fork.left_length < fork.right_length for track in tracks for fork in track.forks]
    assert 0.2 < np.mean(left) < 0.8


def test_a_negative_seed_is_refused():
    with pytest.raises(UsageError, match="no such seed"):
        generate_miniature_track(-1)
