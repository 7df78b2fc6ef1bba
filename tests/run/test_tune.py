"""The search for gains: what a trial costs, and that the search finds what it can."""

import signal

import pytest

from trailbrake.drivers import gains
from trailbrake.drivers.driver_registry import load_driver
from trailbrake.errors import UsageError
from trailbrake.run.options import TuneOptions
from trailbrake.run.tune import NEAR_EDGE_COST, TrialMonitor, tune_gains
from trailbrake.sims.registry import find
from trailbrake.state import CarState, Controls
from trailbrake.tracks.road import Road


def straight(length=200.0, closed=False):
    n = int(length) + 1
    return Road.from_columns(1.0, closed, [float(k) for k in range(n)], [0.0] * n, [0.0] * n, [0.0] * n,
                             width_left=4.0, width_right=4.0)  # fmt: skip


def watched(places, dt=0.1, **options):
    watch = TrialMonitor(straight(), **options)
    for k, (x, y) in enumerate(places):
        if watch.ended:
            break
        watch.tick(CarState(time=5.0 + k * dt, x=x, y=y), Controls())
    return watch


def test_a_drive_to_the_end_costs_its_time():
    watch = watched([(float(x), 0.0) for x in range(200)])
    assert watch.ended
    outcome = watch.build_outcome()
    assert outcome.driven == 1.0
    assert outcome.cost == outcome.time == pytest.approx(18.5)  # 185 m of 200: the end is left out


def test_coming_near_the_edge_costs():
    outcome = watched([(float(x), 3.0 if x == 50 else 0.0) for x in range(200)]).build_outcome()
    assert outcome.edge == 0.75
    assert outcome.cost == pytest.approx(outcome.time + 0.1 * NEAR_EDGE_COST)


def test_a_car_that_may_use_all_the_road_pays_from_its_side_on_the_edge_on():
    near = [(float(x), 3.0 if x == 50 else 0.0) for x in range(200)]
    free = watched(near, half_width=1.0).build_outcome()
    assert free.cost == free.time
    outcome = watched([(x, y + 0.5) for x, y in near], half_width=1.0).build_outcome()  # two wheels off
    assert outcome.cost == pytest.approx(outcome.time + 0.125 * NEAR_EDGE_COST)


def test_leaving_the_road_or_standing_ends_it_and_costs_what_is_left():
    watch = watched([(float(x), 4.1 if x >= 100 else 0.0) for x in range(200)])
    assert watch.ended
    outcome = watch.build_outcome()
    assert outcome.time == pytest.approx(10.0)
    assert outcome.cost > 10.0 + 85.0 / 3.0
    stuck = watched([(min(float(x), 20.0), 0.0) for x in range(400)])
    assert stuck.ended
    assert stuck.build_outcome().driven < 0.2


@pytest.mark.slow
def test_tuning_finds_better_gains_and_writes_them(tmp_path):
    # Better to a drive's time is a higher speed, which is the only gain that is searched here.
    out = tmp_path / "found.toml"
    track = tmp_path / "short.toml"
    track.write_text("closed = false\n[[segment]]\nstraight = 150.0\n", "utf-8")
    options = TuneOptions(driver="cruise", track=str(track), trials=4, only="speed", out=out, seed=3)
    said = []
    result = tune_gains(find(options.sim), options, said.append)
    assert result["trials"] == len(said) == 4
    assert result["best_cost_s"] < result["first_cost_s"]
    assert result["gains"]["speed"] > 20.0
    assert gains.read_gains(out)["cruise"]["speed"] == pytest.approx(result["gains"]["speed"], rel=1e-5)
    assert load_driver("cruise", out).gains.speed == pytest.approx(result["gains"]["speed"], rel=1e-5)
    again = tune_gains(
        find("forza"), TuneOptions(driver="cruise", track=str(track), trials=4, only="speed", out=out, seed=3)
    )
    assert again["gains"] == result["gains"]


def _interrupt_after(trials):
    said = []

    def say(line):
        said.append(line)
        if len(said) == trials:
            signal.raise_signal(signal.SIGINT)

    return say


@pytest.mark.slow
def test_an_interrupted_search_writes_what_it_has_found(tmp_path):
    track, out = tmp_path / "short.toml", tmp_path / "found.toml"
    track.write_text("closed = false\n[[segment]]\nstraight = 60.0\n", "utf-8")
    options = TuneOptions(driver="cruise", track=str(track), trials=40, only="speed", out=out)
    result = tune_gains(find(options.sim), options, _interrupt_after(2))
    assert (result["trials"], result["ended"]) == (2, "interrupted")
    assert gains.read_gains(out)["cruise"]["speed"] == pytest.approx(result["gains"]["speed"], rel=1e-5)


def test_what_cannot_be_tuned_is_said():
    with pytest.raises(UsageError, match="no gains to tune"):
        tune_gains(find("forza"), TuneOptions(driver="line_follow"))
    with pytest.raises(UsageError, match=r"no such gain, expected .*steer_p.*, got steer_q"):
        tune_gains(find("forza"), TuneOptions(only="steer_q"))
    with pytest.raises(UsageError, match="driver lane_keep needs what assetto does not supply: driving_line"):
        tune_gains(find("assetto"), TuneOptions(sim="assetto"))
