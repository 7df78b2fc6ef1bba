import math
import re

import pytest

from trailbrake.cars import car_library as cars
from trailbrake.errors import DataError, UsageError

WORDS = ("name", "title", "source", "kind", "layout", "abs", "tc", "blip", "abs_slip", "tc_slip")  # not measured
GT3 = (cars.LIBRARY / "gt3.toml").read_text()


def test_the_library_holds_what_its_names_say():
    assert {"f1", "gt3", "hatchback", "kart", "sports_awd"} <= set(cars.car_names())
    for name in cars.car_names():
        car = cars.load_car(name)
        assert car.name == name
        sections = [
            getattr(car, field) for field in car.__struct_fields__ if field not in ("name", "title", "actuation")
        ]
        drive = (car.drive.centre, car.drive.differential_front, car.drive.differential_rear)
        heat = (car.tyre_front.thermal, car.tyre_rear.thermal)
        assert all(section.source for section in (*sections, *drive, *heat) if section is not None)


@pytest.mark.parametrize("name", cars.car_names())
def test_every_number_has_its_unit_source_or_estimate_on_its_line(name):
    """The first of the tyres says it; the other may say "as in front" in its source."""
    section, lines = "", (cars.LIBRARY / f"{name}.toml").read_text().splitlines()
    as_in_front = re.search(r'\[tyre_rear\]\nsource = "[^"]*(as|same)', "\n".join(lines))
    listed = 0
    for line in lines:
        section = line.strip("[]") if line.startswith("[") else section
        key, equals, value = line.partition(" = ")
        if line.startswith("#") or not equals or key in WORDS:
            continue
        listed += 1
        if section == "tyre_rear" and as_in_front:
            continue
        if section in ("gearbox", "drive.differential_rear", "steering", "fuel", "engine"):
            continue  # their source speaks for all of them
        assert "#" in value, f"[{section}] {line}"
    assert listed > 100


def test_a_file_loads_by_its_path(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(GT3)
    assert cars.load_car(path) == cars.load_car(str(path)) == cars.load_car("gt3")


def test_an_unknown_name_gets_a_hint():
    with pytest.raises(UsageError, match="gt3"):
        cars.load_car("gt33")


def test_a_missing_file_is_one_line(tmp_path):
    with pytest.raises(UsageError, match=r"nowhere\.toml"):
        cars.load_car(tmp_path / "nowhere.toml")


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ("mass = 1345.0", "mass = -5.0", ["body.mass", "> 0.0", "-5.0"]),
        ("mass = 1345.0", 'mass = "heavy"', ["body.mass", "float", "str"]),
        ("mass = 1345.0", "mas = 1345.0", ["body.mas", "unknown", "did you mean mass?"]),
        ("mass = 1345.0", "", ["body.mass", "missing", "kg, with driver"]),
        ("[aero]", "[areo]", ["areo", "unknown", "did you mean aero"]),
        ("[tyre_front.thermal]", "[tyre_front.termal]", ["tyre_front.termal", "did you mean thermal?"]),
        ("wear_loss = 0.06", "wearloss = 0.06", ["tyre_front.thermal.wearloss", "did you mean wear_loss"]),
        ("mu_y = 1.64", "mu_y = 0.0", ["tyre_front.mu_y", "> 0.0", "peak lateral friction"]),
        ("mu_y = 1.64", "", ["tyre_front.mu_y", "missing", "peak lateral friction"]),
        ("peak_slip_angle = 0.115", "peak_slip_angle = 0", ["tyre_front.peak_slip_angle", "> 0.0", "of peak force"]),
        ("bump_travel = 0.045", "bump_travel = 45", ["suspension_front.bump_travel", "<= 1.0", "m, from static"]),
        ("width = ", "width = 1997.0  # was ", ["body.width", "<= 10.0", "m, of the box"]),
        ("toe = -0.0017", "toe = -0.17", ["suspension_front.toe", ">= -0.05", "toe-in"]),
        ('layout = "rwd"', 'layout = "4wd"', ["drive.layout", "one of", "rwd", "4wd"]),
        ("torque_front = 10400.0", "torque_front = -1.0", ["brakes.torque_front", ">= 0.0"]),
        ("ratios = [3.12, 2.34, 1.86, 1.54, 1.30, 1.115]", "ratios = []", ["gearbox.ratios", "length >= 1", "[]"]),
        ("torque = [200, 330", 'torque = ["much", 330', ["engine.torque", "float", "str", "full throttle"]),
        ("blip = true", 'blip = "yes"', ["gearbox.blip", "bool", "str"]),
        ("shape = 1.45", "shape = 0.9", ["tyre_front.shape", "> 1.0", "0.9"]),
        ('kind = "lsd"', 'kind = "magic"', ["drive.differential_rear.kind", "one of", "spool", "magic"]),
        ("[body]", "[body", ["not TOML"]),
    ],
)
def test_a_bad_file_names_file_key_expected_and_got(tmp_path, old, new, parts):
    assert old in GT3
    path = tmp_path / "bad.toml"
    path.write_text(GT3.replace(old, new, 1))
    with pytest.raises(DataError) as caught:
        cars.load_car(path)
    message = str(caught.value)
    assert "\n" not in message
    assert "bad.toml" in message
    for part in parts:
        assert part in message


def test_not_even_text(tmp_path):
    path = tmp_path / "bad.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError):
        cars.load_car(path)


def test_derived_values():
    car = cars.load_car("gt3")
    assert car.body.cg_to_front + car.body.cg_to_rear == pytest.approx(car.body.wheelbase)
    assert car.gearbox.overall_ratio(0) == 0.0
    assert car.gearbox.overall_ratio(-1) < 0.0
    assert car.gearbox.top_gear == 6
    assert car.engine.peak_power == pytest.approx(395e3, rel=0.01)
    assert car.engine_speed(50.0, 4) == pytest.approx(50.0 / 0.346 * 1.54 * 3.4)
    limiter = car.engine.limiter_rpm * math.pi / 30.0
    top = limiter / car.gearbox.overall_ratio(1) * car.driven_radius
    assert car.drive_force(top + 0.1, 1) == 0.0
    assert car.drive_force(top - 0.1, 1) > 0.0


def test_a_file_with_the_scanner_of_older_versions_is_read():
    text = (cars.LIBRARY / "gt3.toml").read_text() + "\n[scanner]\nx = 1.2\n"
    assert cars.parse_car(text.encode(), where="old.toml") == cars.load_car("gt3")
