import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image, ImageDraw

from trailbrake.vision import signs
from trailbrake.vision.signs import BACK_COLOUR, find_sign_backs
from vision import draw

RED, BLACK = (166, 28, 35), (8, 4, 4)
# Drawn by hand from section 6, 308 x 154; left ones are mirrored.
ART = {
    "fork": [[(22, 4), (128, 4), (128, 150), (22, 150)], [(187, 12), (296, 12), (296, 120)],
             [(112, 122), (230, 50), (258, 80), (144, 160)]],
    "turn": [[(30, 60), (205, 60), (205, 20), (280, 77), (205, 134), (205, 94), (30, 94)]],
    "keep": [[(20, 30), (40, 14), (130, 124), (110, 140)], [(110, 14), (130, 30), (40, 140), (20, 124)],
             [(152, 60), (225, 60), (225, 22), (290, 77), (225, 132), (225, 94), (152, 94)]],
    "u_turn": [[(110, 144), (110, 50), (150, 14), (190, 14), (226, 50), (226, 96), (246, 96), (208, 142), (170, 96),
                (192, 96), (192, 58), (175, 44), (160, 44), (144, 58), (144, 144)]],
}  # fmt: skip
NAMES = [f"{kind}_{side}" for kind in ART for side in ("left", "right")]
# Protocol page formula-trend, section 5: 0.21 m above the camera; boards of 0.115 m, twice as wide as tall.
HEIGHT, WIDTH = 0.21, 0.115


def board(name):
    kind, _, side = name.rpartition("_")
    art = Image.new("RGB", (308, 154), BLACK)
    for shape in ART[kind]:
        ImageDraw.Draw(art).polygon(shape, fill=RED)
    return art.transpose(Image.Transpose.FLIP_LEFT_RIGHT) if side == "left" else art


def hung(name, distance, left=0.0, look="B", slant=0.0):
    """A frame with the sign's board hung `distance` m ahead, drawn over the sky."""
    picture = Image.fromarray(draw.frame(look=look))
    scale = draw.FOCAL / distance
    width, height = round(0.115 * scale), round(0.0575 * scale)
    art = board(name).resize((width, height), Image.Resampling.BOX)
    if slant:
        art = art.transform((width, height + round(abs(slant) * width)), Image.Transform.AFFINE,
                            (1, 0, 0, -slant, 1, min(slant, 0.0) * width), Image.Resampling.BILINEAR,
                            fillcolor=BLACK)  # fmt: skip
    picture.paste(art, (round(draw.COLUMN - left * scale - width / 2), round(draw.ROW - 0.21 * scale - height / 2)))
    return draw.through_jpeg(np.asarray(picture))


@pytest.mark.parametrize("look", "AB")
@pytest.mark.parametrize("name", NAMES)
def test_signs_are_read_and_their_distance_is_told(name, look):
    # Boards of forks have large shapes, thin crosses and tips are lost beyond a metre.
    for distance in (0.7, 1.1, 1.5) if name.startswith("fork") else (0.65, 0.75):
        (sign,) = signs.read_signs(hung(name, distance, 0.1, look))
        assert sign.name == name
        assert sign.distance == pytest.approx(distance, rel=0.12)
        assert sign.left == pytest.approx(0.1, abs=0.05)


@pytest.mark.parametrize("slant", [-0.35, 0.2, 0.4])
@pytest.mark.parametrize("name", ["fork_left", "fork_right"])
def test_a_gantry_seen_at_an_angle_is_read_too(name, slant):
    assert [sign.name for sign in signs.read_signs(hung(name, 0.9, 0.0, "B", slant))] == [name]


@pytest.mark.parametrize("name", NAMES)
def test_no_distance_makes_a_fork_s_sign_of_another_or_turns_it_round(name):
    seen = [sign.name for distance in np.arange(0.6, 5.0, 0.2) for sign in signs.read_signs(hung(name, distance))]
    if name.startswith("fork"):
        assert set(seen) == {name}
    else:
        assert not any(other.startswith("fork") for other in seen)


def test_three_boards_are_three_signs_and_half_a_board_is_none():
    picture = hung("fork_left", 1.2).copy()
    part = picture[:100, 120:200].copy()
    picture[:100, 10:90], picture[:100, 230:310] = part, part
    assert [sign.name for sign in signs.read_signs(picture)] == ["fork_left"] * 3
    picture[:100, :290] = picture[0, 0]
    assert [sign.name for sign in signs.read_signs(np.roll(picture, 52, axis=1))] == []


def test_an_empty_sky_a_red_one_and_noise_hold_no_signs():
    assert signs.read_signs(draw.frame(look="B")) == []
    assert signs.read_signs(np.full((240, 320, 3), (200, 20, 20), np.uint8)) == []
    noise = np.random.default_rng(5).integers(0, 256, (240, 320, 3), dtype=np.uint8)
    assert signs.read_signs(noise) == []


def with_board(distance, left=0.0, colour=BACK_COLOUR, height=HEIGHT, width=WIDTH):
    pixels = draw.frame(look="A")
    row, column = draw.ROW - draw.FOCAL * height / distance, draw.COLUMN - draw.FOCAL * left / distance
    w, h = 0.5 * draw.FOCAL * width / distance, 0.25 * draw.FOCAL * WIDTH / distance
    pixels[max(round(row - h), 0) : max(round(row + h), 0), max(round(column - w), 0) : round(column + w)] = colour
    return draw.through_jpeg(pixels)


@pytest.mark.parametrize("distance", [0.8, 1.5, 2.5])
def test_a_board_from_behind_tells_how_far_and_where(distance):
    (back,) = find_sign_backs(with_board(distance, left=0.1))
    assert back.distance == pytest.approx(distance, rel=0.1)
    assert back.column == pytest.approx(draw.COLUMN - draw.FOCAL * 0.1 / distance, abs=2.0)


@pytest.mark.parametrize(
    "other",
    [{"colour": (8, 4, 4)}, {"colour": (175, 25, 32)}, {"colour": (120, 110, 100)}, {"height": 0.05}, {"height": 0.5},
     {"width": 0.4}, {"width": 0.05}],
)  # fmt: skip
def test_fronts_cars_and_posts_are_no_backs(other):
    assert find_sign_backs(with_board(1.5, **other)) == []
    assert find_sign_backs(draw.through_jpeg(draw.frame(look="B"))) == []


@settings(max_examples=20)
@given(arrays(np.uint8, (240, 320, 3), elements=st.integers(40, 80), fill=st.sampled_from([48, 59, 63])))
def test_any_picture_has_an_answer(pixels):
    for back in find_sign_backs(pixels):
        assert 0.0 < back.distance < 120.0
        assert 0 <= back.column < 320
