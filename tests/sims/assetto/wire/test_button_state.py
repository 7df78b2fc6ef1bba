"""Buttons: one step per rising edge, whatever a client does to them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailbrake.cars.car_library import load_car
from trailbrake.sims.assetto.codec import CarControls
from trailbrake.sims.assetto.wire.button_state import GearSelector, SettingCounters, unsupported_requests
from trailbrake.state.controls import SETTINGS

PAIRS = {
    "brake_bias": ("brake_balance_up", "brake_balance_dn"),
    "abs_level": ("abs_up", "abs_dn"),
    "tc_level": ("tc_up", "tc_dn"),
    "turbo_level": ("turbo_up", "turbo_dn"),
    "engine_brake_level": ("engine_brake_up", "engine_brake_dn"),
    "delivery_level": ("mguk_delivery_up", "mguk_delivery_dn"),
    "recovery_level": ("mguk_recovery_up", "mguk_recovery_dn"),
}


def dials_after(*pressed, car="gt3"):
    dials = SettingCounters(load_car(car))
    for buttons in pressed:
        dials.count_presses(CarControls(**dict.fromkeys(buttons, 1)))
    return dict(zip(SETTINGS, dials.values, strict=True))


def test_every_setting_has_its_pair_of_buttons():
    assert set(PAIRS) == set(SETTINGS)


def test_untouched_is_the_car_s_own():
    assert all(math.isnan(value) for value in dials_after((), ("gear_up",), ()).values())


@pytest.mark.parametrize("name", [name for name in PAIRS if name != "brake_bias"])
def test_a_level_goes_down_by_tenths_and_back_up_to_the_car_s_own(name):
    up, down = PAIRS[name]
    values = dials_after((down,), (), (down,))
    assert values.pop(name) == 0.8
    assert all(math.isnan(value) for value in values.values())
    assert dials_after((down,), (), (up,), (), (up,))[name] == 1.0
    assert dials_after(*[(down,), ()] * 15)[name] == 0.0
    assert dials_after(*[(down,)] * 15)[name] == 0.9  # held: one edge
    assert math.isnan(dials_after((up, down))[name])  # both at once are nothing


def test_bias_goes_by_hundredths_from_the_car_s_own():
    own = load_car("gt3").brakes.front_share
    assert dials_after(("brake_balance_up",))["brake_bias"] == pytest.approx(own + 0.01, abs=1e-6)
    assert dials_after(("brake_balance_dn",), (), ("brake_balance_dn",))["brake_bias"] == pytest.approx(own - 0.02)


@given(st.lists(st.sets(st.sampled_from([b for pair in PAIRS.values() for b in pair])), max_size=30))
def test_settings_stay_in_range_whatever_is_pressed(presses):
    for value in dials_after(*presses).values():
        assert math.isnan(value) or 0.0 <= value <= 1.0


def test_a_value_that_is_not_one_is_pressed_too():
    dials = SettingCounters(load_car("gt3"))
    dials.count_presses(CarControls(abs_dn=255))
    dials.count_presses(CarControls(abs_dn=7))
    assert dials.values[SETTINGS.index("abs_level")] == 0.9


def test_gears_are_one_per_edge_and_none_while_a_shift_is_on():
    gears = GearSelector()
    assert gears.select_gear(CarControls(), 1, 6) == 1
    assert gears.select_gear(CarControls(gear_up=1), 1, 6) == 2
    assert gears.select_gear(CarControls(), 1, 6) == 2  # wanted until it has come
    assert gears.select_gear(CarControls(gear_up=1), 1, 6) == 2  # a second press in the meantime is lost
    assert gears.select_gear(CarControls(), 2, 6) == 2
    assert gears.select_gear(CarControls(gear_dn=1), 2, 6) == 1
    gears.cancel_shift()
    assert gears.select_gear(CarControls(gear_dn=1), 2, 6) == 2  # still held: no edge


def test_a_shift_that_does_not_come_is_forgotten():
    gears = GearSelector()
    gears.select_gear(CarControls(gear_up=1), 1, 6)
    wanted = [gears.select_gear(CarControls(), 1, 6) for _ in range(300)]
    assert wanted == [2] * 166 + [1] * 134  # 0.5 s


@pytest.mark.parametrize(
    ("gear", "paddles", "selected"),
    [
        (1, {"gear_up": 1}, 2),
        (1, {"gear_up": 255}, 2),
        (1, {"gear_dn": 1}, 0),
        (1, {"gear_up": 1, "gear_dn": 1}, 1),
        (0, {"gear_dn": 1}, -1),
        (-1, {"gear_dn": 1}, -1),
        (-1, {"gear_up": 1}, 0),
        (5, {"gear_up": 1}, 6),
        (6, {"gear_up": 1}, 6),
        (6, {"gear_dn": 1}, 5),
    ],
)
def test_a_press_selects_the_next_gear_of_the_box(gear, paddles, selected):
    assert GearSelector().select_gear(CarControls(**paddles), gear, 6) == selected


def test_a_gear_that_changes_by_itself_is_followed():
    gears = GearSelector()
    gears.select_gear(CarControls(), 3, 6)
    assert gears.select_gear(CarControls(), 3, 6) == 3
    gears.cancel_shift()
    assert gears.select_gear(CarControls(), 4, 6) == 4
    gears.select_gear(CarControls(gear_dn=1), 4, 6)
    gears.cancel_shift()
    assert gears.select_gear(CarControls(), 4, 6) == 4, "the shift is dropped"


@pytest.mark.parametrize(
    ("field", "name", "have_it"),
    [
        ("drs", "drs", {"f1"}),
        ("kers", "kers", {"f1"}),
        ("abs_up", "abs", {"gt3", "hatchback", "sports_awd"}),
        ("abs_dn", "abs", {"gt3", "hatchback", "sports_awd"}),
        ("tc_up", "tc", {"gt3", "hatchback", "sports_awd"}),
        ("tc_dn", "tc", {"gt3", "hatchback", "sports_awd"}),
        ("turbo_up", "turbo", {"hatchback", "sports_awd"}),
        ("turbo_dn", "turbo", {"hatchback", "sports_awd"}),
        ("mguk_delivery_up", "mguk_delivery", {"f1"}),
        ("mguk_delivery_dn", "mguk_delivery", {"f1"}),
        ("mguk_recovery_up", "mguk_recovery", {"f1"}),
        ("mguk_recovery_dn", "mguk_recovery", {"f1"}),
        ("mguh_mode", "mguh_mode", set()),
        ("headlights", "headlights", set()),
    ],
)
def test_each_function_is_named_where_a_car_lacks_it(field, name, have_it):
    for car in ("f1", "gt3", "hatchback", "kart", "sports_awd"):
        missing = unsupported_requests(CarControls(**{field: 1}), load_car(car))
        assert missing == ([] if car in have_it else [name]), car


def test_driving_needs_nothing_that_a_car_may_lack():
    assert unsupported_requests(CarControls(gas=1.0, gear_up=1, clutch=1.0, autoblip_active=1), load_car("kart")) == []
