import numpy as np
import pytest
from helpers.camera_frames import STRAIGHT

from trailbrake.world.miniature.camera import track_look as looks
from trailbrake.world.miniature.camera.scene import GANTRY_SPAN, BoardColumn, build_scene
from trailbrake.world.miniature.parked_cars import CAR_LENGTH, CAR_WIDTH, place_parked_cars
from trailbrake.world.miniature.track_library import load_miniature_track


def test_a_gantry_stands_on_posts_across_the_road():
    quads = build_scene(STRAIGHT, looks.load_look("B")).boards.rows
    board = STRAIGHT.signs[0]
    here = quads[np.abs(quads[:, BoardColumn.X0] - 4.0 * 0 - board.s) < 1e-9]
    pipe = here[np.argmax(np.abs(here[:, BoardColumn.Y1] - here[:, BoardColumn.Y0]))]
    assert (pipe[BoardColumn.Y0], pipe[BoardColumn.Y1]) == (
        pytest.approx(GANTRY_SPAN / 2.0),
        pytest.approx(-GANTRY_SPAN / 2.0),
    )
    posts = here[here[:, BoardColumn.LOW] == 0.0]
    assert sorted(0.5 * (posts[:, BoardColumn.Y0] + posts[:, BoardColumn.Y1])) == pytest.approx(
        [-GANTRY_SPAN / 2.0, GANTRY_SPAN / 2.0]
    )
    assert (here[:, BoardColumn.HIGH] <= pipe[BoardColumn.HIGH] + 1e-12).all()


def test_the_looks_hang_two_signs_and_a_blank_or_three_signs():
    for look, signs, all_boxes in (("A", 2, 3), ("B", 3, 3)):
        quads = build_scene(STRAIGHT, looks.load_look(look)).boards.rows
        count = len(STRAIGHT.signs)
        assert (quads[:, BoardColumn.ART] >= 0).sum() == signs * count
        assert len(quads) == (3 + all_boxes) * count


def test_a_parked_car_has_four_sides_seen_from_outside_and_its_sign_hangs():
    track = load_miniature_track("oval")
    cars = [car for seed in range(5) for car in place_parked_cars(track, 2, seed) if car.sign][:1]
    bare, full = (
        build_scene(track, looks.load_look("B")).boards.rows,
        build_scene(track, looks.load_look("B"), cars).boards.rows,
    )
    assert len(full) - len(bare) == 4 + 6
    sides = full[-4:]
    lengths = np.hypot(
        sides[:, BoardColumn.X1] - sides[:, BoardColumn.X0], sides[:, BoardColumn.Y1] - sides[:, BoardColumn.Y0]
    )
    assert lengths == pytest.approx([CAR_LENGTH, CAR_WIDTH] * 2)
    # Left to right as seen from outside: the middle of the car lies to the left of the way from first to second.
    cross = (sides[:, BoardColumn.X1] - sides[:, BoardColumn.X0]) * (cars[0].y - sides[:, BoardColumn.Y0]) - (
        sides[:, BoardColumn.Y1] - sides[:, BoardColumn.Y0]
    ) * (cars[0].x - sides[:, BoardColumn.X0])
    assert (cross > 0.0).all()
    assert (sides[:, BoardColumn.BACK] == -1).all()


def test_chevrons_close_round_each_half():
    track = load_miniature_track("kite")
    scene = build_scene(track, looks.load_look("B"))
    for every, length in zip(scene.chevrons[:2], track.lengths, strict=True):
        assert length / every == pytest.approx(round(length / every))
        assert every == pytest.approx(1.5, rel=0.03)
    assert build_scene(track, looks.load_look("A")).chevrons.spacing_left == 0.0
