"""What a trial of a search for gains costs."""

import pytest

from trailbrake.run.gain_search import NEAR_EDGE_COST, TrialMonitor
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
