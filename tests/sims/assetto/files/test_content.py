"""The tree of files that a served world makes, read back by the readers of the real ones."""

import numpy as np
import pytest

from trailbrake.cars.load import load as load_car
from trailbrake.errors import SimulatorError
from trailbrake.sims.assetto import road
from trailbrake.sims.assetto.files import content, fast_lane, ini, map_ini, surfaces, ui
from trailbrake.tracks.load import load as load_track


def test_a_tree_for_a_track_and_a_car(tmp_path):
    track, car = load_track("hartmoor"), load_car("gt3")
    lane = road.lane_from_line(track)
    files = content.write(tmp_path, track, car, lane)
    assert [f.relative_to(tmp_path).as_posix() for f in files] == [
        "content/cars/gt3/ui/ui_car.json",
        "content/tracks/hartmoor/ai/fast_lane.ai",
        "content/tracks/hartmoor/data/map.ini",
        "content/tracks/hartmoor/data/surfaces.ini",
        "content/tracks/hartmoor/ui/ui_track.json",
        "extension/config/new_behaviour.ini",
    ]
    found = fast_lane.read(content.lane_path(tmp_path, "hartmoor"))
    assert (found.points == lane.points).all()
    ground = surfaces.decode(content.surfaces_path(tmp_path, "hartmoor").read_bytes())
    assert ground.allows_custom_ai
    assert [s.valid for s in ground.surfaces] == [True, True, False, True]
    assert ini.parse((tmp_path / content.CONFIG).read_bytes())["CUSTOM_AI"]["ENABLED"] == "1"
    shown = ui.decode_car(content.car_ui_path(tmp_path, "gt3").read_bytes())
    assert (shown.mass, shown.torque) == (1345.0, 552.0)
    assert shown.torque_curve == tuple(zip(car.engine.rpm, car.engine.torque, strict=True))
    told = ui.decode_track(content.track_ui_path(tmp_path, "hartmoor").read_bytes())
    assert told.length == pytest.approx(track.road.length, abs=1.0)
    parameters = map_ini.decode((content.track_folder(tmp_path, "hartmoor") / "data" / "map.ini").read_bytes())
    pixels = np.array([parameters.pixel(x, z) for x, _, z in lane.points["place"].tolist()])
    assert pixels.min() == pytest.approx(parameters.margin, abs=0.1)
    assert pixels[:, 0].max() == pytest.approx(parameters.width - parameters.margin, abs=0.1)
    assert pixels[:, 1].max() == pytest.approx(parameters.height - parameters.margin, abs=0.1)
    assert pixels.max() <= 1020.1


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
        content.write(tmp_path, track, load_car("kart"), road.lane_from_line(track))
