import math

import numpy as np
import pytest

from trailbrake.observe.features import Feature
from trailbrake.observe.road_preview import EdgesPreview, write_edges
from trailbrake.tracks.road import Road, RoadColumn
from trailbrake.tracks.track_library import load_track

AHEAD = np.array([-15.0, 0.0, 10.0, 40.0, 90.0])


def seen(road, s, offset, heading):
    """Rows of left x, left y, right x, right y for each car: (n, 4, m)."""
    features = np.full((Feature.COUNT, len(s)), np.nan)
    features[Feature.S], features[Feature.OFFSET], features[Feature.HEADING] = s, offset, heading
    out = np.full((len(s), 4 * len(AHEAD)), np.nan)
    write_edges(features, EdgesPreview(road.kernel_table, AHEAD, 1.0, 0, math.inf), out, 0, len(s))
    return out.reshape(len(s), 4, len(AHEAD))


def test_on_a_circle_it_is_geometry():
    # Radius 50 to the left about the origin, 5 m to the left edge and 7 to the right.
    n = 400
    angle = np.arange(n) * 2.0 * np.pi / n
    road = Road.from_columns(
        100.0 * np.pi / n, True, 50.0 * np.cos(angle), 50.0 * np.sin(angle), angle + 0.5 * np.pi, np.full(n, 0.02),
        width_left=5.0, width_right=7.0,
    )  # fmt: skip
    offset, heading = 2.0, 0.3
    left_x, left_y, right_x, right_y = seen(road, [30.0], [offset], [heading])[0]
    turned = AHEAD / 50.0
    for x, y, radius in ((left_x, left_y, 45.0), (right_x, right_y, 57.0)):
        # In the road's axes at the car, whose centre of the circle lies 48 m to the left.
        along, across = radius * np.sin(turned), 48.0 - radius * np.cos(turned)
        assert x == pytest.approx(math.cos(heading) * along + math.sin(heading) * across, abs=2e-3)
        assert y == pytest.approx(math.cos(heading) * across - math.sin(heading) * along, abs=2e-3)


@pytest.mark.parametrize("name", ["hartmoor", "kartwerk", "serpent_pass"])
def test_it_is_what_the_road_says(name):
    road = load_track(name).road
    rng = np.random.default_rng(1)
    s = rng.uniform(0.0, road.length, 30)
    s[:2] = 1.0, road.length - 1.0  # over the line, or past the ends
    offset, heading = rng.uniform(-6.0, 6.0, 30), rng.uniform(-3.0, 3.0, 30)
    rows = seen(road, s, offset, heading)
    for k in range(30):
        x, y, _, yaw = road.points([s[k]], [offset[k]])[0]
        direction = np.exp(-1j * (yaw + heading[k]))
        for i, far in enumerate(s[k] + AHEAD):
            left, right = (float(road.column_at(far, c)) for c in (RoadColumn.WIDTH_LEFT, RoadColumn.WIDTH_RIGHT))
            for column, side in ((0, left), (2, -right)):
                px, py, _ = road.point(far, side)
                place = (complex(px, py) - complex(x, y)) * direction
                assert rows[k, column : column + 2, i] == pytest.approx([place.real, place.imag], abs=1e-9)
