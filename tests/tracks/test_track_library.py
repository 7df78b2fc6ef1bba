import numpy as np
import pytest

from trailbrake.errors import DataError, UsageError
from trailbrake.tracks.road import RoadColumn
from trailbrake.tracks.track import SURFACES
from trailbrake.tracks.track_library import load_track, track_names

CIRCUITS = ("copperbowl", "hartmoor", "kartwerk", "lakeside", "pinegrove")
KNOWN = {
    "hartmoor": (4000.0, 5000.0, 20.0),
    "pinegrove": (1700.0, 2300.0, 20.0),
    "copperbowl": (1500.0, 1700.0, 100.0),
    "kartwerk": (950.0, 1150.0, 10.0),
    "serpent_pass": (9700.0, 10300.0, 29.0),
    "proving_ground": (1499.0, 1501.0, 1e6),
    "lakeside": (1300.0, 1400.0, 27.0),
    "plain": (3999.0, 4001.0, 1e6),
    "northway": (7500.0, 7600.0, 899.0),
}


def test_the_library_is_the_folder():
    assert set(track_names()) >= set(KNOWN)
    assert track_names() == sorted(track_names())


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_tracks_are_what_their_text_says(name):
    track = load_track(name)
    lo, hi, radius = KNOWN[name]
    assert lo < track.road.length < hi
    assert np.abs(track.road.column(RoadColumn.CURVATURE)).max() < 1.0 / radius
    assert len(track.title) > 3
    assert len(track.source) > 40
    assert track.name == name
    assert np.isfinite(track.road.table).all()
    assert 1.0 <= track.road.spacing / 1.0 <= 2.0 or name == "kartwerk"
    assert np.abs(track.road.column(RoadColumn.GRADE)).max() < 0.11


@pytest.mark.parametrize("name", CIRCUITS)
def test_circuits_keep_clear_of_themselves(name):
    # No wall may reach into another part's run-off: probe every wall point against the rest of the road.
    road = load_track(name).road
    assert road.closed
    for wall, side in zip(road.wall_lines(), (1.0, -1.0), strict=True):
        width, runoff = (
            (RoadColumn.WIDTH_LEFT, RoadColumn.RUNOFF_LEFT)
            if side > 0
            else (RoadColumn.WIDTH_RIGHT, RoadColumn.RUNOFF_RIGHT)
        )
        reach = road.column(width) + road.column(runoff)
        simple = reach * side * road.column(RoadColumn.CURVATURE) < 0.9  # not beyond the centre of its own bend
        stations = road.stations()
        centre = road.table[:, :2]
        for k in np.flatnonzero(simple)[::5]:
            apart = np.abs(np.mod(stations - stations[k] + 0.5 * road.length, road.length) - 0.5 * road.length)
            others = centre[apart > 4.0 * reach[k] + 40.0]
            assert np.hypot(*(others - wall[k, :2]).T).min() > reach.min()


@pytest.mark.parametrize("name", ["copperbowl", "hartmoor", "pinegrove"])
def test_circuits_have_run_off(name):
    road = load_track(name).road
    assert road.column(RoadColumn.RUNOFF_LEFT).min() >= 6.0
    assert road.column(RoadColumn.RUNOFF_RIGHT).min() >= 6.0
    assert load_track(name).off_road == SURFACES["grass"]


def test_kart_walls_stand_at_the_edge_and_its_width_is_a_kart_tracks():
    road = load_track("kartwerk").road
    assert np.all(road.column(RoadColumn.RUNOFF_LEFT) == 0.0)
    assert road.column(RoadColumn.WIDTH_LEFT) * 2.0 == pytest.approx(np.full(len(road.table), 8.6))


def test_the_oval_is_banked_into_its_left_turns():
    road = load_track("copperbowl").road
    turning = road.column(RoadColumn.CURVATURE) > 0.9 / 130.0
    assert np.all(np.degrees(road.column(RoadColumn.BANK)[turning]) < -9.0)
    left, right = road.edge_lines()
    assert np.all(right[turning, 2] > left[turning, 2] + 2.0)


def test_the_pass_climbs_and_the_pad_is_flat():
    z = load_track("serpent_pass").road.column(RoadColumn.Z)
    assert np.ptp(z) > 250.0
    pad = load_track("proving_ground").road
    assert np.ptp(pad.column(RoadColumn.Z)) == 0.0
    assert pad.column_at(700.0, RoadColumn.WIDTH_LEFT) == 100.0


def test_the_motorway_has_the_bends_and_grades_of_one():
    road = load_track("northway").road
    assert not road.closed
    assert np.abs(road.column(RoadColumn.GRADE)).max() < 0.04
    assert np.abs(np.degrees(road.column(RoadColumn.BANK))).max() < 2.5
    bends = np.abs(road.column(RoadColumn.CURVATURE)) > 1.0 / 2500.0
    leans = road.column(RoadColumn.BANK) * road.column(RoadColumn.CURVATURE) < 0.0
    assert np.mean(leans[bends]) > 0.5  # most bends lean inwards
    # at 75 mph no bend needs more than a fifth of the tyres' grip
    assert (75.0 * 0.44704) ** 2 * np.abs(road.column(RoadColumn.CURVATURE)).max() < 2.0


def test_missing_tracks_are_said_with_near_misses(tmp_path):
    with pytest.raises(UsageError, match="did you mean hartmoor"):
        load_track("hartmor")
    with pytest.raises(UsageError, match="no such track"):
        load_track(tmp_path / "none.csv")
    with pytest.raises(UsageError, match="no such track"):
        load_track("bad\0name")
    with pytest.raises(UsageError, match="no such track"):
        load_track("x" * 5000)
    with pytest.raises(UsageError, match="no such track"):
        load_track(tmp_path)


def test_files_are_loaded_by_their_suffix(tmp_path):
    angle = np.arange(60) * 2.0 * np.pi / 60
    rows = "\n".join(f"{100 * np.cos(a):.4f},{80 * np.sin(a):.4f},5,5" for a in angle)
    (tmp_path / "ring.CSV").write_text(rows)
    ring = load_track(tmp_path / "ring.CSV")
    assert (ring.name, ring.road.closed) == ("ring", True)
    assert ring.smoothing is not None
    assert "ring.CSV" in ring.source
    (tmp_path / "own.toml").write_bytes(
        b"\xef\xbb\xbftitle = 'Own'\r\nclosed = false\r\n[[segment]]\r\nstraight = 90\r\n"
    )
    own = load_track(str(tmp_path / "own.toml"))
    assert (own.title, own.road.length, own.smoothing) == ("Own", 90.0, None)
    (tmp_path / "own.shp").write_text("?")
    with pytest.raises(DataError, match=r"own\.shp: unknown kind of track file"):
        load_track(tmp_path / "own.shp")
    (tmp_path / "bad.toml").write_bytes(b"\xff")
    with pytest.raises(DataError, match="not UTF-8"):
        load_track(tmp_path / "bad.toml")


def test_a_file_s_zones_are_the_track_s_and_lie_on_its_road(tmp_path):
    path = tmp_path / "short.toml"
    text = "closed = false\n[[segment]]\nstraight = 500.0\n[[drs]]\ndetection = 10.0\nbegin = 40.0\nend = {}\n"
    path.write_text(text.format(400.0))
    assert load_track(path).drs_zones == ((10.0, 40.0, 400.0),)
    path.write_text(text.format(600.0))
    with pytest.raises(DataError, match=r"a DRS zone is beyond the road, expected m, less than 500\.0, got 600"):
        load_track(path)


def test_how_wet_may_be_said_of_any_track(tmp_path):
    assert load_track("gen:2@wet=0.5").name == "gen:2@wet=0.5"
    assert load_track("gen:2@wet=0.5").road.column(RoadColumn.GRIP).max() == 0.5
    (tmp_path / "own.toml").write_text("closed = false\n[[segment]]\nstraight = 90\n")
    assert load_track(f"{tmp_path / 'own.toml'}@wet").road.column(RoadColumn.GRIP).max() == SURFACES["wet"].grip
    assert load_track("hartmoor").with_grip(0.4).name == "hartmoor@wet=0.4"
    for bad in ("hartmoor@wet=", "hartmoor@wet=much", "hartmoor@wet=0", "hartmoor@wet=nan", "hartmoor@wet=9"):
        with pytest.raises(UsageError, match="no grip of a road"):
            load_track(bad)
    with pytest.raises(UsageError, match="no such track"):
        load_track("hartmoor@rain")
    with pytest.raises(UsageError, match="no such track"):
        load_track("@wet")


def test_a_seed_is_a_track_name():
    track = load_track("gen:7")
    assert (track.name, track.title) == ("gen:7", "Circuit 7")
    assert "seed 7" in track.source
    assert np.array_equal(load_track("gen:007").road.table, track.road.table)
    for bad in ("gen:", "gen:x", "gen:-1", "gen:1.5", "gen: 1", "gen:" + "9" * 30):
        with pytest.raises(UsageError, match=r"no such seed, expected gen:SEED"):
            load_track(bad)
