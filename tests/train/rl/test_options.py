from dataclasses import replace

import pytest

from trailbrake.env.domain_randomisation import Vary
from trailbrake.errors import UsageError
from trailbrake.train.rl.options import RlOptions, check_options, race_options


def test_tracks_are_names_and_ranges_of_seeds():
    assert RlOptions(track="pinegrove, gen:3-5").tracks == ("pinegrove", "gen:3", "gen:4", "gen:5")
    with pytest.raises(UsageError, match="--track"):
        check_options(RlOptions(track="gen:5-3"))


def test_policies_are_judged_on_the_held_out_tracks_by_cars_as_they_are():
    options = RlOptions(track="pinegrove,gen:1-2", held_out="gen:7", noise=0.1, delay=1)
    learned, judged = race_options(options), race_options(options, evaluation=True)
    assert learned.track == ("pinegrove", "gen:1", "gen:2")
    assert judged.track == ("gen:7",)
    assert learned.vary.grip == options.grip
    assert learned.vary.noise == (0.0, 0.1)
    assert judged.vary == Vary()
    assert (learned.observe, learned.period, learned.ends) == (judged.observe, judged.period, judged.ends)
    assert RlOptions(track="pinegrove").judged_tracks == ("pinegrove",)
    assert learned.build_task().needs_plan


def test_several_cars_learn_and_the_judged_tracks_have_them_in_turn():
    options = RlOptions(track="pinegrove", held_out="gen:7-10", car="gt3,random:2-3", plan_car="kart",
                        stiffness=(0.8, 1.2))  # fmt: skip
    learned, judged = race_options(options), race_options(options, evaluation=True)
    assert learned.car == ("gt3", "random:2", "random:3")
    assert judged.car == ("gt3", "random:2", "random:3", "gt3")
    assert learned.plan_car == judged.plan_car == "kart"
    assert race_options(replace(options, held_out=""), evaluation=True).car == ("gt3",)
    assert learned.vary.stiffness == (0.8, 1.2)
    assert judged.vary.stiffness == (1.0, 1.0)
    with pytest.raises(UsageError, match="--cars"):
        check_options(replace(options, cars=2))


def test_the_plan_that_all_observe_is_that_of_a_car_of_the_library():
    check_options(RlOptions(plan_car="kart"))
    for wrong in ("kert", "mine.toml", "random:1"):
        with pytest.raises(UsageError, match="--plan-car"):
            check_options(RlOptions(plan_car=wrong))


def test_tracks_are_driven_in_groups_of_one_size():
    options = RlOptions(track="gen:1-5", car="gt3,kart", roads=2, cars=2)
    groups = options.road_groups
    assert groups == [
        (("gen:1", "gt3"), ("gen:2", "kart")),
        (("gen:3", "gt3"), ("gen:4", "kart")),
        (("gen:5", "gt3"), ("gen:1", "gt3")),
    ]
    check_options(options)
    assert race_options(options, 1).track == ("gen:3", "gen:4")
    assert race_options(options, 1).car == ("gt3", "kart")
    assert len(RlOptions(track="gen:1-5", roads=0).road_groups) == 1
    assert len(RlOptions(track="gen:1-5", roads=9).road_groups[0]) == 5
    with pytest.raises(UsageError, match="--roads"):
        check_options(replace(options, roads=-1))


def test_a_crash_costs_what_the_options_say():
    careful = race_options(RlOptions(crash_penalty=8.0))
    assert {end.reward for end in careful.ends} == {-8.0}
    for wrong in (-1.0, float("nan")):
        with pytest.raises(UsageError, match="--crash-penalty"):
            check_options(RlOptions(crash_penalty=wrong))


def test_rates_of_commands_are_those_of_the_policy():
    limits = RlOptions(steer_rate=1.5, pedal_rate=4.0, period=0.03).command_limits
    assert (limits.steer_rate, limits.pedal_rate, limits.period) == (1.5, 4.0, 0.03)
    with pytest.raises(UsageError, match="steer rate"):
        check_options(RlOptions(steer_rate=0.0))


def test_a_horizon_is_so_many_steps():
    assert RlOptions(horizon=6.0, period=0.048).steps == 125


@pytest.mark.parametrize(
    "wrong",
    [{"minutes": 0.0}, {"minutes": float("nan")}, {"iterations": -1}, {"cars": 1, "track": "gen:1-2"},
     {"horizon": 0.01}, {"divergence": 0.0}, {"hidden": 0}, {"evaluate_every": 0}, {"laps": 1}, {"seed": -1},
     {"threads": 0}],
)  # fmt: skip
def test_options_out_of_range_are_named(wrong):
    name = next(iter(wrong)).replace("_", "-")
    with pytest.raises(UsageError, match=f"--{name}"):
        check_options(replace(RlOptions(), **wrong))
    check_options(RlOptions())


def test_what_a_card_cannot_do_is_refused():
    for wrong in ({"device": "gpu"}, {"device": "cuda", "workers": 2, "on": "ray"}):
        with pytest.raises(UsageError, match="--device"):
            check_options(replace(RlOptions(), **wrong))
    check_options(RlOptions(device="cuda"))
    check_options(RlOptions(device="cuda", workers=2))
    check_options(RlOptions(device="auto", workers=2))
