"""The tree of files that a served world makes, read back by the readers of the real ones."""

import json

import numpy as np
import pytest
from PIL import Image

from trailbrake.cars.car_library import load_car
from trailbrake.errors import SimulatorError
from trailbrake.sims.assetto.install import lane_conversion
from trailbrake.sims.assetto.install.files import content, fast_lane, ini, map_ini, surfaces, ui_json
from trailbrake.tracks.track_library import load_track


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
    parameters = map_ini.MapParameters(**{key.lower(): float(value) for key, value in written.items()})
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
