import numpy as np
import pytest

from trailbrake.errors import DataError
from trailbrake.tracks.centreline_smoothing import MAX_BIAS, MeasuredLine, smooth_circuit, smooth_open_road
from trailbrake.tracks.geometry import menger_curvature
from trailbrake.tracks.road import RoadColumn
from trailbrake.tracks.track_library import load_track

CIRCUITS = ("Berlin2018", "Monza", "Nuerburgring", "Shanghai", "Silverstone", "Spa")


@pytest.fixture(params=CIRCUITS)
def circuit(request, shared):
    path = shared / "data" / "tracks" / f"{request.param}.csv"
    return load_track(path), np.loadtxt(path, delimiter=",", comments="#")


def test_real_circuits_stay_where_they_are(circuit):
    track, data = circuit
    road, report = track.road, track.smoothing
    assert report.max_shift < 0.4
    assert report.rms_shift < 0.05
    assert road.length == pytest.approx(np.hypot(*(np.roll(data[:, :2], -1, 0) - data[:, :2]).T).sum(), rel=1e-3)
    found = road.locate_many(data[:, :2])
    assert np.abs(found[:, 1]).max() == pytest.approx(report.max_shift, abs=0.05)
    assert min(found[0, 0], road.length - found[0, 0]) < 0.6  # s = 0 beside the file's first point
    assert np.all(road.column(RoadColumn.RUNOFF_LEFT) >= 6.0)
    assert np.all(road.column(RoadColumn.RUNOFF_RIGHT) >= 6.0)


def test_real_circuits_have_usable_curvature(circuit):
    track, data = circuit
    curvature = track.road.column(RoadColumn.CURVATURE)
    before = menger_curvature(data[:, 0] + 1j * data[:, 1])
    assert np.abs(np.diff(curvature)).max() / track.road.spacing < 0.02  # 1/m^2
    assert track.smoothing.roughness_after < 1.05 * track.smoothing.roughness_before
    assert track.smoothing.min_radius > 6.0
    # apexes are kept: over any 12 m, too long for noise, the road turns as the file does
    s = track.road.locate_many(data[:, :2])[:, 0]
    gap = np.diff(np.append(s, track.road.length + s[0]))
    turned = np.concatenate([[0.0], np.cumsum(before * gap)])
    window = 12.0
    probe = np.arange(20.0, track.road.length - 20.0, 3.0)
    inner = np.concatenate([s, [track.road.length + s[0]]])
    mean_before = (np.interp(probe + window, inner, turned) - np.interp(probe, inner, turned)) / window
    yaw = track.road.column_at(probe + window, RoadColumn.YAW) - track.road.column_at(probe, RoadColumn.YAW)
    k = np.abs(mean_before).argmax()
    assert np.abs(yaw / window).max() > 0.9 * np.abs(mean_before[k])


def test_yaw_curvature_and_points_belong_together(circuit):
    road = circuit[0].road
    yaw, curvature = road.column(RoadColumn.YAW), road.column(RoadColumn.CURVATURE)
    step = 0.5 * (curvature[1:] + curvature[:-1]) * road.spacing
    assert np.abs(np.diff(yaw) - step).max() < 3e-3
    x, y = road.column(RoadColumn.X), road.column(RoadColumn.Y)
    gap = np.hypot(np.diff(x), np.diff(y))
    assert np.abs(gap / road.spacing - 1.0).max() < 5e-3
    chord = np.unwrap(np.arctan2(np.diff(y), np.diff(x)))
    middle = 0.5 * (yaw[1:] + yaw[:-1])
    assert np.abs(np.exp(1j * chord) - np.exp(1j * middle)).max() < 5e-3


def test_edges_stay_where_the_file_has_them(circuit):
    track, data = circuit
    x, y, right, left = data.T
    heading = np.unwrap(np.arctan2(np.roll(y, -1) - np.roll(y, 1), np.roll(x, -1) - np.roll(x, 1)))
    for side, width, column in ((1.0, left, RoadColumn.WIDTH_LEFT), (-1.0, right, RoadColumn.WIDTH_RIGHT)):
        edge = np.column_stack([x - side * width * np.sin(heading), y + side * width * np.cos(heading)])
        found = track.road.locate_many(edge)
        error = np.abs(side * found[:, 1] - track.road.column_at(found[:, 0], column))
        assert np.quantile(error, 0.99) < 0.25
        assert np.median(error) < 0.01


def ellipse(points=300, noise=0.0, seed=1):
    angle = np.arange(points) * 2.0 * np.pi / points
    rng = np.random.default_rng(seed)
    x, y = (scale * wave(angle) + rng.normal(0.0, noise, points) for scale, wave in ((240.0, np.cos), (90.0, np.sin)))
    exact = 240.0 * 90.0 / ((240.0 * np.sin(angle)) ** 2 + (90.0 * np.cos(angle)) ** 2) ** 1.5
    return x, y, np.full(points, 5.0), np.full(points, 6.0), exact


def test_clean_points_are_hardly_moved_and_curvature_is_exact():
    x, y, right, left, exact = ellipse()
    road, report = smooth_circuit(MeasuredLine(x, y, right, left), 8.0)
    assert report.max_shift < MAX_BIAS
    s = road.locate_many(np.column_stack([x, y]))[:, 0]
    assert road.column_at(s, RoadColumn.CURVATURE) == pytest.approx(exact, rel=0.05, abs=1e-4)
    assert road.column_at(s, RoadColumn.WIDTH_LEFT) == pytest.approx(left, abs=MAX_BIAS)
    assert report.folded == 0


def test_noise_is_taken_out():
    x, y, right, left, exact = ellipse(noise=0.05)
    road, report = smooth_circuit(MeasuredLine(x, y, right, left), 8.0)
    s = road.locate_many(np.column_stack([x, y]))[:, 0]
    raw = menger_curvature(x + 1j * y)
    smoothed = road.column_at(s, RoadColumn.CURVATURE)
    assert np.std(smoothed - exact) < 0.2 * np.std(raw - exact)
    assert report.roughness_after < 0.1 * report.roughness_before
    assert report.max_shift < 0.3


def test_folded_edges_are_cut_and_said():
    x, y, right, _, _ = ellipse()
    road, report = smooth_circuit(MeasuredLine(x, y, right, np.full(len(x), 60.0)), 8.0)
    assert report.folded > 0
    assert np.all(road.column(RoadColumn.WIDTH_LEFT) * road.column(RoadColumn.CURVATURE) <= 0.9 + 1e-9)
    assert "folded" in str(report)
    assert "\n" not in str(report)


def test_a_line_that_folds_back_is_refused():
    x, y, right, left, _ = ellipse()
    with pytest.raises(DataError, match="folds back"):
        smooth_circuit(MeasuredLine(*(np.tile(column, 2) for column in (x, y, right, left))), 8.0)


def wave(points=600, noise=0.0, seed=1):
    """A sine over 900 m, one and a half times round: an open road that begins and ends without curvature."""
    x = np.linspace(0.0, 900.0, points)
    rng = np.random.default_rng(seed)
    k = 3.0 * np.pi / 900.0
    y, slope, bend = 40.0 * np.sin(k * x), 40.0 * k * np.cos(k * x), -40.0 * k**2 * np.sin(k * x)
    moved = rng.normal(0.0, noise, (2, points))
    return x + moved[0], y + moved[1], np.full(points, 5.0), np.full(points, 6.0), bend / (1.0 + slope**2) ** 1.5


def test_an_open_road_runs_from_the_first_point_to_the_last():
    x, y, right, left, exact = wave()
    road, report = smooth_open_road(MeasuredLine(x, y, right, left), 8.0)
    assert not road.closed
    assert road.point(0.0)[:2] == pytest.approx((x[0], y[0]), abs=1e-6)
    assert road.point(road.length)[:2] == pytest.approx((x[-1], y[-1]), abs=1e-6)
    assert road.length == pytest.approx(np.hypot(np.diff(x), np.diff(y)).sum(), rel=1e-4)
    assert report.max_shift < MAX_BIAS
    s = road.locate_many(np.column_stack([x, y]))[:, 0]
    assert road.column_at(s, RoadColumn.CURVATURE) == pytest.approx(exact, abs=0.03 * np.abs(exact).max())
    assert road.column_at(s, RoadColumn.WIDTH_LEFT) == pytest.approx(left, abs=MAX_BIAS)
    assert np.all(road.column(RoadColumn.RUNOFF_RIGHT) == 8.0)
    assert np.all(road.column(RoadColumn.KERB_LEFT) == 0.0)
    yaw, step = road.column(RoadColumn.YAW), road.spacing
    assert np.diff(yaw) == pytest.approx(road.column(RoadColumn.CURVATURE)[:-1] * step, abs=3e-4)


def test_noise_is_taken_out_of_an_open_road_up_to_its_ends():
    x, y, right, left, exact = wave(noise=0.05)
    road, report = smooth_open_road(MeasuredLine(x, y, right, left), 8.0)
    s = road.locate_many(np.column_stack([x, y]))[:, 0]
    raw = menger_curvature(x + 1j * y)
    error = road.column_at(s, RoadColumn.CURVATURE) - exact
    assert np.std(error) < 0.1 * np.std(raw - exact)
    assert np.abs(error[[*range(10), *range(-10, 0)]]).max() < 0.005
    assert report.roughness_after < 0.1 * report.roughness_before
    assert report.max_shift < 0.4


def test_an_open_road_that_begins_in_a_bend_is_left_where_it_is():
    angle = np.linspace(0.0, 2.0, 120)
    road, report = smooth_open_road(
        MeasuredLine(60.0 * np.cos(angle), 60.0 * np.sin(angle), np.full(120, 4.0), np.full(120, 4.0)), 3.0
    )
    assert report.max_shift < 2.0 * MAX_BIAS  # its ends are straight
    assert road.column_at([60.0], RoadColumn.CURVATURE)[0] == pytest.approx(1.0 / 60.0, rel=0.02)
    left, right = road.edge_lines()
    assert np.hypot(*left[:, :2].T) == pytest.approx(56.0, abs=0.1)
    assert np.hypot(*right[:, :2].T) == pytest.approx(64.0, abs=0.1)


def test_open_roads_that_are_none_are_refused():
    x, y, right, left, _ = wave()
    there_and_back = np.r_[x, x[-2::-1]], np.r_[y, y[-2::-1]], np.r_[right, right[1:]], np.r_[left, left[1:]]
    with pytest.raises(DataError, match=r"w.csv: the centreline folds back on itself, expected a road that leads on"):
        smooth_open_road(MeasuredLine(*there_and_back), 8.0, "w.csv")
    angle = np.linspace(-0.5, 4.0, 300)
    bridge = 150.0 * np.sin(angle), 60.0 * np.sin(2.0 * angle)  # most of an eight
    with pytest.raises(DataError, match=r"b.csv: the road crosses itself, expected a road without bridges, got s = "):
        smooth_open_road(MeasuredLine(*bridge, np.full(300, 3.0), np.full(300, 3.0)), 8.0, "b.csv")
