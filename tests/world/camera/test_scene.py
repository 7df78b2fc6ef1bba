import numpy as np
import pytest
from frames import STRAIGHT

from trailbrake.tracks.miniature.load import load
from trailbrake.tracks.miniature.obstacles import CAR_LENGTH, CAR_WIDTH, park
from trailbrake.world.camera import look as looks
from trailbrake.world.camera.scene import SPAN, Quad, build


def test_a_gantry_stands_on_posts_across_the_road():
    quads = build(STRAIGHT, looks.load("B")).quads
    board = STRAIGHT.boards[0]
    here = quads[np.abs(quads[:, Quad.X0] - 4.0 * 0 - board.s) < 1e-9]
    pipe = here[np.argmax(np.abs(here[:, Quad.Y1] - here[:, Quad.Y0]))]
    assert (pipe[Quad.Y0], pipe[Quad.Y1]) == (pytest.approx(SPAN / 2.0), pytest.approx(-SPAN / 2.0))
    posts = here[here[:, Quad.LOW] == 0.0]
    assert sorted(0.5 * (posts[:, Quad.Y0] + posts[:, Quad.Y1])) == pytest.approx([-SPAN / 2.0, SPAN / 2.0])
    assert (here[:, Quad.HIGH] <= pipe[Quad.HIGH] + 1e-12).all()


def test_the_looks_hang_two_signs_and_a_blank_or_three_signs():
    for look, signs, all_boxes in (("A", 2, 3), ("B", 3, 3)):
        quads = build(STRAIGHT, looks.load(look)).quads
        count = len(STRAIGHT.boards)
        assert (quads[:, Quad.ART] >= 0).sum() == signs * count
        assert len(quads) == (3 + all_boxes) * count


def test_a_parked_car_has_four_sides_seen_from_outside_and_its_sign_hangs():
    track = load("oval")
    cars = [car for seed in range(5) for car in park(track, 2, seed) if car.sign][:1]
    bare, full = build(track, looks.load("B")).quads, build(track, looks.load("B"), cars).quads
    assert len(full) - len(bare) == 4 + 6
    sides = full[-4:]
    lengths = np.hypot(sides[:, Quad.X1] - sides[:, Quad.X0], sides[:, Quad.Y1] - sides[:, Quad.Y0])
    assert lengths == pytest.approx([CAR_LENGTH, CAR_WIDTH] * 2)
    # Left to right as seen from outside: the middle of the car lies to the left of the way from first to second.
    cross = (sides[:, Quad.X1] - sides[:, Quad.X0]) * (cars[0].y - sides[:, Quad.Y0]) - (
        sides[:, Quad.Y1] - sides[:, Quad.Y0]
    ) * (cars[0].x - sides[:, Quad.X0])
    assert (cross > 0.0).all()
    assert (sides[:, Quad.BACK] == -1).all()


def test_chevrons_close_round_each_half():
    track = load("kite")
    scene = build(track, looks.load("B"))
    for every, length in zip(scene.chevron[[0, 4]], track.lengths, strict=True):
        assert length / every == pytest.approx(round(length / every))
        assert every == pytest.approx(1.5, rel=0.03)
    assert build(track, looks.load("A")).chevron[0] == 0.0
