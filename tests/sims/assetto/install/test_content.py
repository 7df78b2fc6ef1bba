"""The tree of files that a served world makes, read back by the readers of the real ones."""

import io
import json

import numpy as np
import pytest
from PIL import Image

from trailbrake.cars.car_library import load_car
from trailbrake.errors import SimulatorError
from trailbrake.sims.assetto.install import content, fast_lane, ini, lane_conversion, surfaces, ui_json
from trailbrake.tracks.track_library import load_track

PARAMETERS = content.MapParameters(1000.0, 800.5, 250.0, -100.0, 20.0, 2.0, 10.0)


def test_a_tree_for_a_track_and_a_car(tmp_path):
    track, car = load_track("hartmoor"), load_car("gt3")
    lane = lane_conversion.lane_from_line(track)
    files = content.write_content(tmp_path, track, car, lane)
    assert [f.relative_to(tmp_path).as_posix() for f in files] == [
        "content/cars/gt3/ui/ui_car.json",
        "content/tracks/hartmoor/ai/fast_lane.ai",
        "content/tracks/hartmoor/data/map.ini",
        "content/tracks/hartmoor/data/surfaces.ini",
        "content/tracks/hartmoor/map.png",
        "content/tracks/hartmoor/ui/ui_track.json",
        "extension/config/new_behaviour.ini",
    ]
    found = fast_lane.read_fast_lane(content.lane_path(tmp_path, "hartmoor"))
    assert (found.points == lane.points).all()
    ground = surfaces.decode_surfaces(content.surfaces_path(tmp_path, "hartmoor").read_bytes())
    assert ground.allows_custom_ai
    assert [s.valid for s in ground.surfaces] == [True, True, False, True]
    assert ini.parse_ini((tmp_path / content.CONFIG).read_bytes())["CUSTOM_AI"]["ENABLED"] == "1"
    shown = ui_json.decode_car_ui(content.car_ui_path(tmp_path, "gt3").read_bytes())
    assert (shown.mass, shown.torque) == (1345.0, 552.0)
    assert shown.torque_curve == tuple(zip(car.engine.rpm, car.engine.torque, strict=True))
    description = json.loads(content.track_ui_path(tmp_path, "hartmoor").read_bytes())
    assert float(description["length"].removesuffix("m")) == pytest.approx(track.road.length, abs=1.0)


@pytest.mark.parametrize("name", ["hartmoor", "serpent_pass", "kartwerk"])
def test_the_picture_shows_the_road_where_the_map_says(tmp_path, name):
    """As an app does it: the place of a car, by map.ini, is a pixel of map.png."""
    track = load_track(name)
    content.write_content(tmp_path, track, load_car("kart"), lane_conversion.lane_from_line(track))
    folder = content.track_folder(tmp_path, name)
    written = ini.parse_ini((folder / "data" / "map.ini").read_bytes())["PARAMETERS"]
    parameters = content.MapParameters(**{key.lower(): float(value) for key, value in written.items()})
    with Image.open(folder / "map.png") as picture:
        pixels = np.asarray(picture)
    height, width, channels = pixels.shape
    assert channels == 4
    assert width == parameters.width + 2.0 * parameters.margin
    assert height == parameters.height + 2.0 * parameters.margin
    assert max(width, height) == 1040

    def seen(offset):
        """Opacity where the places beside the centreline are; and which of them are beside the road in the world."""
        places = track.road.points(track.road.stations(), offset)
        found = track.road.locate_many(places[:, :2])
        column, row = parameters.to_pixel(places[:, 1], places[:, 0])  # the game's x is our y, its z our x
        inside = (column >= 0.0) & (column < width) & (row >= 0.0) & (row < height)
        free = inside & (np.abs(found[:, 1]) > abs(offset) - 1.0)
        opacity = pixels[row[inside].astype(int), column[inside].astype(int), 3]
        return opacity, free[inside]

    assert seen(0.0)[0].min() > 200  # the last place of an open road is in a pixel at its rounded end
    for offset in (50.0, -50.0):
        opacity, free = seen(offset)
        assert free.sum() > 100
        assert np.all(opacity[free] == 0)
    assert np.all(pixels[:, :, :3] == 255)


def test_names_fit_the_game(tmp_path):
    assert content.folder_name("gen:5") == "gen_5"
    assert content.folder_name("hartmoor@wet=0.5") == "hartmoor_wet_0_5"
    assert content.folder_name("Москва") == "unnamed"
    assert len(content.folder_name("x" * 99)) == 32
    assert content.lane_path(tmp_path, "nur", "gp") == tmp_path / "content/tracks/nur/gp/ai/fast_lane.ai"
    assert content.track_ui_path(tmp_path, "nur", "gp") == tmp_path / "content/tracks/nur/ui/gp/ui_track.json"


def test_what_cannot_be_written(tmp_path):
    (tmp_path / "content").write_bytes(b"a file")
    track = load_track("hartmoor")
    with pytest.raises(SimulatorError, match=r"cannot write the game's files: .*; choose another --ac-root"):
        content.write_content(tmp_path, track, load_car("kart"), lane_conversion.lane_from_line(track))


def strip(x0, x1, z0, z1):
    """A straight road along z: its edges at x0 and x1."""
    z = np.linspace(z0, z1, 11)
    return np.column_stack([np.full(11, x0), z]), np.column_stack([np.full(11, x1), z])


def opacity(strips):
    parameters = content.fit_map(strips)
    with Image.open(io.BytesIO(content.encode_map_png(parameters, strips))) as picture:
        assert picture.mode == "RGBA"
        return parameters, np.asarray(picture)[:, :, 3]


def test_a_road_fills_its_pixels_within_the_margins():
    parameters, alpha = opacity([strip(-50.0, -40.0, 1000.0, 3000.0)])
    assert parameters.scale_factor == 2.0
    assert (parameters.width, parameters.height) == (5.0, 1000.0)
    assert parameters.to_pixel(-50.0, 1000.0) == (20.0, 20.0)
    assert alpha.shape == (1040, 45)
    assert np.all(alpha[20:1020, 20:25] == 255)
    outside = np.ones_like(alpha, bool)
    outside[18:1022, 19:26] = False  # a soft edge, and a round end, may reach a little further
    assert np.all(alpha[outside] == 0)


def test_a_narrow_road_is_seen():
    _, alpha = opacity([strip(0.0, 4.0, 0.0, 20000.0)])  # a fifth of a pixel
    assert 2 <= (alpha[500] > 0).sum() <= 4
    assert alpha[500].max() == 255


def test_all_roads_are_on_it():
    parameters, alpha = opacity([strip(0.0, 10.0, 0.0, 500.0), strip(490.0, 500.0, 0.0, 500.0)])
    for x, drawn in ((5.0, True), (250.0, False), (495.0, True)):
        column, row = parameters.to_pixel(x, 250.0)
        assert (alpha[int(row), int(column)] == 255) == drawn


def test_a_place_without_extent_is_a_picture_still():
    parameters, alpha = opacity([strip(3.0, 3.0, 7.0, 7.0)])
    assert alpha.shape == (40, 40)
    assert parameters.to_pixel(3.0, 7.0) == pytest.approx((20.0, 20.0))
    assert alpha[20, 20] > 0


def test_the_text_is_that_of_a_stock_file():
    assert content.encode_map_ini(PARAMETERS) == (
        b"[PARAMETERS]\r\nWIDTH=1000\r\nHEIGHT=800.5\r\nX_OFFSET=250\r\nZ_OFFSET=-100\r\nMARGIN=20\r\n"
        b"SCALE_FACTOR=2\r\nDRAWING_SIZE=10\r\n"
    )


def test_pixels_of_points():
    assert PARAMETERS.to_pixel(-250.0, 300.0) == (0.0, 100.0)
    columns, rows = PARAMETERS.to_pixel(np.array([-250.0, 0.0]), np.array([300.0, 100.0]))
    assert (columns.tolist(), rows.tolist()) == ([0.0, 125.0], [100.0, 0.0])
