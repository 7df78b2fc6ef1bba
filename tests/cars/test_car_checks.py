import pytest

from trailbrake.cars.car_library import LIBRARY, parse_car
from trailbrake.errors import DataError

GT3 = (LIBRARY / "gt3.toml").read_text()


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ("unsprung_mass = 45.0", "unsprung_mass = 1.0", ["suspension_front.unsprung_mass", "700 rad/s", "1 kg"]),
        ("rebound_damping = 8500.0", "rebound_damping = 90000.0", ["suspension_front.unsprung_mass", "1200", "2011"]),
        ("unsprung_mass = 45.0", "unsprung_mass = 300.0", ["suspension_front.unsprung_mass", "half of body.mass"]),
        ("roll_inertia = 560.0", "roll_inertia = 100.0", ["body.roll_inertia", "100"]),
        ("roll_inertia = 560.0", "roll_inertia = 150.0", ["body.yaw_inertia", "1900", "1950"]),
        ("pitch_inertia = 1750.0", "pitch_inertia = 2600.0", ["body.pitch_inertia", "2510", "2600"]),
        ("roll_centre = 0.03", "roll_centre = 0.5", ["suspension_front.roll_centre", "cg_height 0.46", "0.5"]),
        ("[drive.differential_rear]", "[drive.differential_front]", ["drive.differential_front", "rwd", "none"]),
        ('layout = "rwd"', 'layout = "awd"', ["drive.differential_front", "one with layout awd"]),
        ("torque_front = 10400.0", "torque_front = 100.0", ["suspension_front.anti_dive", "at most 0.19", "0.25"]),
        ("mass = 1345.0", "mass = 1345000.0", ["body.mass", "at most 0.0996 m", "standing front tyre", "9.77 m"]),
        ("mass = 1345.0", "mass = inf", ["body.mass", "finite"]),
        ("wheelbase = 2.70 ", "wheelbase = 2700.0 ", ["body.length", "more than the wheelbase 2700.0"]),
        ("cg_to_front = 1.50", "cg_to_front = 3.0", ["body.cg_to_front", "2.7", "3.0"]),
        (
            "cg_to_front = 1.50",
            "cg_to_front = 0.44",
            ["body.cg_to_front", "0.675 .. 2.03 m", "25% to 75%", "m, 84%"],
        ),
        ("cg_to_front = 1.50", "cg_to_front = 2.10", ["body.cg_to_front", "0.675 .. 2.03 m", "2.1 m, 22%"]),
        (
            "spring_rate = 130000.0",
            "spring_rate = 130",
            ["suspension_front.spring_rate", "at least 2506 N/m under 254 kg", "130 N/m"],
        ),
        ("bump_damping = 5500.0", "bump_damping = 5.5", ["suspension_front.bump_damping", "at least 230 N s/m", "5.5"]),
        (
            "rebound_damping = 8500.0",
            "rebound_damping = 8.5",
            ["suspension_front.rebound_damping", "least 230"],
        ),
        ("rpm = [1000, 2000,", "rpm = [2000, 1000,", ["engine.rpm", "rising"]),
        ("torque = [200, ", "torque = [", ["engine.torque", "13 values", "12"]),
        ("ratios = [3.12, 2.34,", "ratios = [2.34, 3.12,", ["gearbox.ratios", "falling"]),
        ("upshift_rpm = 8300.0", "upshift_rpm = 9300.0", ["gearbox.upshift_rpm", "8700"]),
        ("clutch_torque = 1100.0", "clutch_torque = 100.0", ["gearbox.clutch_torque", "552"]),
    ],
)
def test_values_that_do_not_fit_together_name_key_expected_and_got(old, new, parts):
    assert old in GT3
    with pytest.raises(DataError) as caught:
        parse_car(GT3.replace(old, new, 1).encode(), where="bad.toml")
    message = str(caught.value)
    assert "\n" not in message
    for part in ["bad.toml", *parts]:
        assert part in message


def test_a_wheel_that_weighs_more_than_it_carries_is_refused():
    text = GT3.replace("cg_to_front = 1.50", "cg_to_front = 2.0").replace(
        "unsprung_mass = 45.0", "unsprung_mass = 180.0"
    )
    with pytest.raises(DataError, match=r"suspension_front.unsprung_mass: .*less than the corner's 174.4 kg, got 180"):
        parse_car(text.encode(), where="bad.toml")
