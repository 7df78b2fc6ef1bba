"""Descriptions of cars and tracks, as careless as people write them."""

import json

import pytest

from trailbrake.errors import DataError
from trailbrake.sims.assetto.install import ui_json

CAR = """{
\t"name": "Audi R8 LMS 2016", "brand": "Audi", "class": "Race", "tags": ["#GT3", "rwd", "", 5],
\t"description": "First line
second line\t of a careless mod",
\t"specs": {"bhp": "585bhp", "torque": "560 Nm", "weight": "1245kg", "topspeed": "290km/h", "pwratio": "2.13kg/cv"},
\t"torqueCurve": [["0","0"],["1000","200"],["4000","480"],["4000","1"],["8500","434"], ["x","y"], 7],
\t"powerCurve": [["1000","28"],["8500","518"],],
}"""


def test_a_careless_car():
    car = ui_json.decode_car_ui(b"\xef\xbb\xbf" + CAR.encode())
    assert (car.name, car.brand, car.car_class, car.tags) == ("Audi R8 LMS 2016", "Audi", "race", ("#gt3", "rwd"))
    assert car.description == "First line second line of a careless mod"
    assert (car.power, car.torque, car.mass) == (pytest.approx(436234.5), 560.0, 1245.0)
    assert car.top_speed == pytest.approx(80.56, abs=0.01)
    assert car.torque_curve == ((0.0, 0.0), (1000.0, 200.0), (4000.0, 480.0), (8500.0, 434.0))
    assert car.power_curve[0] == (1000.0, pytest.approx(20879.6))


@pytest.mark.parametrize(
    ("said", "mass"),
    [
        ("1245kg", 1245.0), ("1,245 kg", 1245.0), ("1.245kg", 1245.0), ("1 245 kg", 1245.0), ("795.5 kg", 795.5),
        ("795,5kg", 795.5), ("2745 lbs", 1245.11), (1245, 1245.0), ("~1245*", 1245.0), ("", None), ("--", None),
        (None, None), ([], None), ("0kg", None), (True, None), ("9" * 400, None), (10**400, None), (-5, None),
    ],
)  # fmt: skip
def test_the_ways_to_write_a_mass(said, mass):
    found = ui_json.decode_car_ui(json.dumps({"specs": {"weight": said}}).encode()).mass
    assert found == (None if mass is None else pytest.approx(mass, abs=0.01))


def test_other_units():
    specs = {"bhp": "430 kW", "torque": "413 lb-ft", "topspeed": "180 mph"}
    car = ui_json.decode_car_ui(json.dumps({"specs": specs}).encode())
    assert car.power == 430_000.0
    assert car.torque == pytest.approx(559.95, abs=0.1)
    assert car.top_speed == pytest.approx(80.47, abs=0.01)


def test_old_encodings():
    assert ui_json.decode_car_ui('{"name": "Nürburgring"}'.encode("latin-1")).name == "Nürburgring"
    assert ui_json.decode_car_ui('{"name": "Nürburgring"}'.encode("utf-16")).name == "Nürburgring"


def test_what_is_written_is_read():
    car = ui_json.CarUi(
        "n", "b", "race", ("a",), "d", 400e3, 550.0, 1345.0, 80.0, ((1000.0, 74570.0),), ((1000.0, 200.0),)
    )
    found = ui_json.decode_car_ui(ui_json.encode_car_ui(car))
    assert (found.name, found.car_class, found.tags, found.torque_curve) == ("n", "race", ("a",), car.torque_curve)
    assert (found.power, found.torque, found.mass, found.top_speed) == pytest.approx((400e3, 550, 1345, 80), rel=2e-3)
    assert found.power_curve == ((1000.0, pytest.approx(74570.0)),)
    assert ui_json.decode_car_ui(ui_json.encode_car_ui(ui_json.CarUi())) == ui_json.CarUi()


def test_a_track_s_description():
    track = ui_json.TrackUi("n", "d", "c", "t", ("a",), 5137.0, 12.5, 10, "clockwise")
    assert json.loads(ui_json.encode_track_ui(track)) == {
        "name": "n", "description": "d", "country": "c", "city": "t", "tags": ["a"], "length": "5137m",
        "width": "12.5m", "pitboxes": "10", "run": "clockwise",
    }  # fmt: skip


@pytest.mark.parametrize("data", [b"", b"{", b"[1]", b"null", b"[" * 100_000, b"\xff\xfe\0"])
def test_what_is_no_description(data):
    with pytest.raises(DataError, match=r"u.json: not "):
        ui_json.decode_car_ui(data, "u.json")


def test_a_file_that_is_far_too_large(monkeypatch):
    monkeypatch.setattr(ui_json, "MAX_BYTES", 10)
    with pytest.raises(DataError, match="file too large"):
        ui_json.decode_car_ui(b"x" * 11)
