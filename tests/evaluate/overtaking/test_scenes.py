"""The scenes of a suite: the same whenever they are drawn, and as the file says."""

import pytest

from trailbrake.errors import DataError
from trailbrake.evaluate.overtaking.scenes import (
    draw_scenes,
    list_overtaking_suites,
    load_overtaking_suite,
    parse_overtaking_suite,
)


@pytest.fixture
def suite():
    return load_overtaking_suite("suite/overtake-v1")


def test_the_suite_is_listed_and_loads(suite):
    assert list_overtaking_suites() == ["suite/overtake-v1"]
    assert suite.name == "overtake-v1"
    assert {kind.name: kind.scenes for kind in suite.classes}["own_line"] == 300


def test_a_scene_does_not_depend_on_how_many_are_drawn(suite):
    kind = suite.classes[0]
    assert draw_scenes(suite, kind, 0, 5) == draw_scenes(suite, kind, 0)[:5]
    assert draw_scenes(suite, kind, 0, 5) != draw_scenes(suite, kind, 1, 5)


def test_half_of_each_class_is_slower_by_grip_and_all_venues_and_ratios_take_turns(suite):
    for kind in suite.classes:
        scenes = draw_scenes(suite, kind, 0)
        assert len(scenes) == kind.scenes
        assert abs(sum(scene.means == "grip" for scene in scenes) - 0.5 * len(scenes)) <= len(suite.venues)
        assert {scene.venue for scene in scenes} == set(suite.venues)
        assert {scene.ratio for scene in scenes} == set(kind.ratios)
        assert all(kind.gap_m[0] <= scene.gaps_m[0] <= kind.gap_m[1] for scene in scenes)
        assert all(len(scene.gaps_m) == kind.rivals for scene in scenes)


@pytest.mark.parametrize("text", ["", "name = 3", "name = "])
def test_what_is_no_suite_is_one_line(text):
    with pytest.raises(DataError) as caught:
        parse_overtaking_suite(text, "mine.toml")
    assert "mine.toml" in str(caught.value)
    assert "\n" not in str(caught.value)
