import math
import re

import numpy as np
import pytest
from helpers.compared_drives import record_laps
from helpers.synthetic_drives import LENGTH

from trailbrake.analysis.comparison import DriveChoice, compare_drives
from trailbrake.errors import DataError, UsageError
from trailbrake.laps import LapRecord
from trailbrake.record import Recorder, Recording
from trailbrake.state import CarState, Controls


def compare(*paths, reference=0, laps=()):
    numbers = [*laps, *[0] * (len(paths) - len(laps))]
    choices = [DriveChoice(Recording.open(p), p.stem, n) for p, n in zip(paths, numbers, strict=True)]
    return compare_drives(choices, reference)


@pytest.fixture(scope="module")
def drives(tmp_path_factory):
    """A drive, and one that brakes 25 m earlier for the second bend alone."""
    folder = tmp_path_factory.mktemp("drives")
    fast, _ = record_laps(folder / "fast.mcap")
    slow, _ = record_laps(folder / "slow.mcap", early=(0.0, 25.0))
    return fast, slow


def test_the_delta_is_that_of_the_lap_clock_to_a_millisecond(drives):
    found = compare(*drives)
    best, slow = found.laps[found.reference], found.laps[1 - found.reference]
    assert found.reference == 0
    assert slow.time_s - best.time_s > 0.1
    assert found.compute_delta(1)[-1] == pytest.approx(slow.time_s - best.time_s, abs=1e-3)
    assert sum(loss.lost_s for loss in found.losses[1]) == pytest.approx(slow.time_s - best.time_s, abs=1e-3)
    # The passages are found without the clock: both agree.
    assert [abs(lap.clock_error_s) < 1e-3 for lap in found.laps] == [True, True]


def test_the_losses_of_a_lap_from_rest_add_up_too(drives):
    """Its time before the line counts for the stretch from the line."""
    choices = [DriveChoice(Recording.open(drives[0]), "flying"), DriveChoice(Recording.open(drives[1]), "rest", 1)]
    found = compare_drives(choices)
    best, rest = found.laps
    assert rest.from_rest
    assert rest.find_time(0.0) > 1.0
    assert sum(loss.lost_s for loss in found.losses[1]) == pytest.approx(rest.time_s - best.time_s, abs=2e-3)
    for loss in found.losses[1]:
        assert np.nansum(loss.phases) == pytest.approx(loss.lost_s, abs=1e-6)


def test_laps_without_a_road_close_without_a_bend_and_their_best_is_no_slower(tmp_path):
    """They begin at rest, 3 m beside where they end."""
    paths = [record_laps(tmp_path / f"{n}.mcap", 20.0, laps=1, with_map=False, start=-1.0, aside=3.0)[0] for n in "ab"]
    found = compare(*paths)
    assert [corner.name for corner in found.corners] == ["start", "T1", "T2"]
    assert found.theoretical_s == pytest.approx(found.laps[0].time_s, abs=1e-6)


def test_laps_counted_at_another_line_are_said(tmp_path):
    paths = [record_laps(tmp_path / f"{n}.mcap", laps=2, with_map=False, line=m)[0] for n, m in (("a", 0), ("b", 200))]
    found = compare(*paths)
    assert any("counted at another line" in note for note in found.notes)
    assert any(math.isnan(loss.lost_s) for loss in found.losses[1 - found.reference])


def test_a_lap_from_rest_is_not_told_to_brake_harder(tmp_path):
    """It arrives at the first bend slower, and brakes later and less for it."""
    path, _ = record_laps(tmp_path / "a.mcap", pull=2.5)
    found = compare(path)
    first = next(loss for loss in found.losses[0] if loss.corner.number == 1)
    assert first.lost_s > 0.02
    assert first.advice == "The lap began at rest, the reference at speed."


def test_the_corner_in_which_two_drives_differ_is_named_first(drives):
    found = compare(*drives)
    first, *others = found.losses[1]
    assert first.corner.name == "T2"
    assert first.lost_s > 0.1
    assert first.lost_s > 50.0 * max(abs(loss.lost_s) for loss in others)
    # The car that brakes earlier has not become as fast, so that its braking begins a little less than 25 m earlier.
    assert first.figures.brake_point == pytest.approx(first.reference.brake_point - 24.0, abs=1.0)
    assert re.match("Brake 2[345] m later", first.advice)
    assert "before the turn-in" in first.advice


def test_a_slow_bend_costs_on_the_straight_behind_it_and_counts_for_the_bend(tmp_path):
    fast, _ = record_laps(tmp_path / "fast.mcap")
    slow, _ = record_laps(tmp_path / "slow.mcap", slower=(3.0, 0.0))
    first = compare(fast, slow).losses[1][0]
    assert first.corner.name == "T1"
    assert "Carry 11 km/h more" in first.advice
    # The zone reaches to where both slow down for the next bend.
    assert first.corner.end > LENGTH / 2 + 300.0


def test_a_brake_point_moves_by_less_than_half_a_metre_at_another_rate(tmp_path):
    every = [record_laps(tmp_path / f"{rate}.mcap", rate=float(rate))[0] for rate in (333, 60)]
    found = compare(*every)
    for loss in found.losses[1 - found.reference]:
        if loss.corner.number:
            assert loss.figures.brake_point == pytest.approx(loss.reference.brake_point, abs=0.5)
            assert loss.figures.turn_in == pytest.approx(loss.reference.turn_in, abs=1.0)


def test_laps_of_one_recording_are_compared_with_its_best_one(drives):
    found = compare(drives[0])
    assert [lap.number for lap in found.laps] == [1, 2, 3]
    assert found.reference in (1, 2)
    assert found.losses[found.reference] == ()
    start = next(loss for loss in found.losses[0] if not loss.corner.number)
    assert start.advice == "The lap began at rest, the reference at speed."
    assert found.name_lap(1) == "lap 2"


def test_the_theoretical_best_is_no_slower_than_any_lap_and_even_laps_deviate_little(drives):
    found = compare(*drives)
    assert found.theoretical_s <= min(lap.time_s for lap in found.laps) + 1e-6
    for even in found.consistency:
        assert even.laps == 2, "the lap from rest does not count"
        assert even.deviation_s < 0.02
        assert even.theoretical_s <= even.best_s + 1e-6
        assert len(even.corner_deviations_s) == len(found.corners)


def test_a_lap_and_a_reference_can_be_chosen(drives):
    found = compare(*drives, reference=2, laps=(2, 3))
    assert [lap.number for lap in found.laps] == [2, 3]
    assert found.reference == 1
    assert sum(loss.lost_s for loss in found.losses[0]) < -0.1
    assert any(loss.advice.startswith("Keep it") for loss in found.losses[0])
    with pytest.raises(UsageError, match="no such lap"):
        compare(*drives, laps=(9,))
    with pytest.raises(UsageError, match="no such drive"):
        compare(*drives, reference=3)


@pytest.mark.parametrize(("kind", "basis"), [("map", "path of the best lap"), ("positions", "distance driven")])
def test_what_was_not_recorded_is_replaced_and_said(tmp_path, kind, basis):
    changes = {"with_map": False, "positions": kind != "positions"}
    fast, _ = record_laps(tmp_path / "fast.mcap", **changes)
    slow, laps = record_laps(tmp_path / "slow.mcap", early=(0.0, 25.0), **changes)
    found = compare(fast, slow)
    assert found.line.basis == basis
    assert any(basis in note for note in found.notes)
    assert found.losses[1][0].corner.name == "T2"
    assert np.nanmax(found.compute_delta(1)) == pytest.approx(laps[1].time_s - found.laps[0].time_s, abs=0.05)


def test_laps_of_other_roads_and_single_laps_are_refused(drives, tmp_path):
    recorder = Recorder(tmp_path / "elsewhere.mcap")
    for i in range(400):
        state = CarState(time=i * 0.1, x=3.0 * i, y=900.0, speed=30.0, sequence=i)
        recorder.tick(state, Controls())
    recorder.close()
    with pytest.raises(DataError, match="another road"):
        compare(drives[0], tmp_path / "elsewhere.mcap")
    one, _ = record_laps(tmp_path / "one.mcap", laps=1)
    with pytest.raises(DataError, match="one lap cannot be compared"):
        compare(one)


def test_without_positions_laps_of_roads_with_other_names_are_refused(drives, tmp_path):
    """No distance from the line can show it, as with miniature tracks."""
    oval, clover, renewed = (
        record_laps(tmp_path / f"{number}.mcap", positions=False, with_map=False, track=name)[0]
        for number, name in enumerate(("oval", "clover", "oval@1a2b"))
    )
    with pytest.raises(DataError, match=r"laps of another road.*clover.*oval"):
        compare(oval, clover)
    with pytest.raises(DataError, match="laps of another road"):
        compare(drives[0], clover)
    assert compare(oval, renewed).line.basis == "distance driven"


def test_a_lap_that_was_not_finished_is_compared_as_far_as_it_goes(drives, tmp_path):
    recording = Recording.open(drives[0])
    recorder = Recorder(tmp_path / "part.mcap")
    recorder.store_map(recording.road_map.centre, recording.road_map.left, recording.road_map.right, closed=True)
    from helpers.synthetic_drives import state_at

    s, time = -15.0, 0.0
    for i in range(1500):
        recorder.tick(state_at(time, s, 40.0, 0.0, time, i), Controls())
        s, time = s + 0.4, time + 0.01
    recorder.close()
    found = compare(drives[0], tmp_path / "part.mcap")
    losses = {loss.corner.name: loss for loss in found.losses[1]}
    assert math.isnan(losses["T2"].lost_s)
    assert losses["T2"].advice == "Not driven by both laps."
    assert math.isfinite(losses["start"].lost_s)


def test_a_road_without_bends_has_one_zone(tmp_path):
    drives = []
    for name, speed in (("a", 30.0), ("b", 25.0)):
        recorder = Recorder(tmp_path / f"{name}.mcap")
        recorder.start({})
        x = np.linspace(-10.0, 700.0, 72)
        recorder.store_map(*(np.column_stack([x, 0.0 * x + side]) for side in (0.0, 5.0, -5.0)), closed=False)
        for k in range(int(600.0 / speed * 60.0)):
            recorder.tick(CarState(time=k / 60, x=speed * k / 60, y=0.0, speed=speed), Controls())
        recorder.store_lap(LapRecord(1, 600.0 / speed, True, (), "", 0.0, 0))
        recorder.close()
        drives.append(DriveChoice(Recording.open(recorder.path), name))
    found = compare_drives(drives)
    assert [corner.number for corner in found.corners] == [0]
    assert found.laps[found.reference].time_s == 20.0
