import numpy as np
import pytest

from trailbrake.world.miniature.camera.sign_art import SIZES, SYMBOLS, sign_coverage


def full(sign):
    return sign_coverage(sign)[0].astype(np.float64) / 255.0


@pytest.mark.parametrize("name", ["fork", "turn", "u_turn", "keep"])
def test_a_sign_to_the_left_is_the_mirror_image_of_that_to_the_right(name):
    assert np.array_equal(full(f"{name}_left"), full(f"{name}_right")[:, ::-1])


def test_the_fork_sign_has_its_bar_and_head_where_they_were_measured():
    art = full("fork_right")
    height, width = art.shape
    at = lambda x, y: art[int(y * height / 154), int(x * width / 308)]  # noqa: E731
    assert at(75, 20) == at(75, 130) == 1.0  # the bar, x 22 .. 128, full height
    assert at(8, 77) == 0.0
    assert at(285, 30) == 1.0  # the head: (187, 12), (296, 12), (296, 120)
    assert at(250, 130) == 0.0
    assert at(205, 80) == 1.0  # the shaft between them
    assert at(150, 20) == 0.0


def test_an_arrow_is_heavier_at_its_head():
    art = full("turn_right")
    columns = art.sum(axis=0)
    assert columns[: len(columns) // 2].max() < columns[len(columns) // 2 :].max()
    assert np.allclose(art, art[::-1], atol=0.3)


def test_signs_differ_from_each_other_and_are_red_in_good_part():
    arts = {name: full(name) for name in SYMBOLS if name != "blank"}
    for name, art in arts.items():
        assert 0.15 < art.mean() < 0.6, name
        assert all(np.abs(art - other).mean() > 0.05 for n, other in arts.items() if n != name)


@pytest.mark.parametrize("name", list(SYMBOLS))
def test_smaller_levels_hold_as_much_red(name):
    levels = sign_coverage(name)
    assert [level.shape[::-1] for level in levels] == list(SIZES)
    for level in levels[1:]:
        assert level.mean() == pytest.approx(levels[0].mean(), abs=1.0)
