"""The report of a learned car as a page."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.known_drives import make_table
from msgspec.structs import replace

from trailbrake.cars.car_library import load_car
from trailbrake.cars.learned import Uncertainty
from trailbrake.errors import UsageError
from trailbrake.learning.car_report import describe_car, find_unit, write_car_report
from trailbrake.learning.identification.learned_value import identified, prior

CAR = load_car("gt3")


def learned(**found):
    """Return a learned car with a few numbers, and nothing that could be plotted but its limits."""
    values = {"body.mass": identified(1234.4, 10.0, "wheel <loads>"), "tyre_front.mu_y": prior(1.5, 0.1)}
    empty = SimpleNamespace(
        car=CAR, powertrain=None, tyres=None, braking=None, gearing=None, values=values,
        missing=("brakes: hardly braked",), seconds=270.0, kind=SimpleNamespace(name="touring"),
    )  # fmt: skip
    return SimpleNamespace(**{**vars(empty), **found})


def test_numbers_stand_with_interval_unit_and_source(tmp_path):
    path = write_car_report(tmp_path / "car.html", make_table(50), learned(), CAR, ["one.mcap"])
    text = path.read_text("utf-8")
    row = re.search(r"<tr><td[^>]*>body\.mass.*?</tr>", text).group()
    cells = re.findall(r"<td[^>]*>(.*?)</td>", row)
    assert cells == ["body.mass", "1234", "1215 to 1254", "kg", "identified", "wheel &lt;loads&gt;"]
    assert "brakes: hardly braked" in text
    assert text.count("<figure>") == 1


def test_points_far_from_all_others_do_not_shrink_a_chart(tmp_path):
    rows = np.zeros((400, 6))
    rows[:, 2], rows[:, 5] = np.linspace(-1.0, 1.0, 400), np.linspace(-1.0, 1.0, 400)
    rows[7, 5] = 1e4
    tyres = SimpleNamespace(rows=rows, signal="steer")
    text = write_car_report(tmp_path / "car.html", make_table(50), learned(tyres=tyres), CAR, []).read_text("utf-8")
    chart = next(figure for figure in text.split("<figure>") if "along, by across" in figure)
    assert "1000" not in chart
    assert chart.count("<circle") == 399


def test_data_that_are_missing_leave_a_chart_empty(tmp_path):
    rows = np.zeros((40, 6))
    rows[:, 0], rows[:, 5] = np.linspace(-0.1, 0.1, 40), np.nan
    tyres = SimpleNamespace(rows=rows, signal="steer")
    text = write_car_report(tmp_path / "car.html", make_table(50), learned(tyres=tyres), CAR, []).read_text("utf-8")
    chart = next(figure for figure in text.split("<figure>") if "along, by across" in figure)
    assert "<circle" not in chart


def test_a_report_that_cannot_be_written_is_one_line(tmp_path):
    with pytest.raises(UsageError):
        write_car_report(tmp_path, make_table(50), learned(), CAR, [])


@pytest.mark.parametrize(
    ("key", "unit"),
    [
        ("body.mass", "kg"), ("engine.torque.4785", "N m"), ("aero.drag_area", "m^2"), ("actuation.delay", "s"),
        ("tyre_front.peak_slip_angle", "rad"), ("brakes.force_over_mass", "m/s^2"),
        ("tyre_front.mu_y", ""), ("gearbox.overall_ratio.2", ""), ("brakes.front_share", ""),
        ("no.such", ""), ("name", ""), ("", ""),
    ],
)  # fmt: skip
def test_a_number_has_the_unit_of_its_declaration(key, unit):
    assert find_unit(key) == unit


@pytest.mark.parametrize(
    ("laps", "said"),
    [(0, "no laps have been driven with it yet"), (3, "good to drive at 98 % of the grip that was found: 3 laps")],
)
def test_the_headline_says_what_the_car_is_and_how_far_to_trust_it(tmp_path, laps, said):
    doubt = Uncertainty(lateral_grip=0.02, braking=0.02, drive_force=0.01, downforce=0.05, steer_angle=0.01, delay=0.0,
                        planned_share=0.98, verified_laps=laps)  # fmt: skip
    line = describe_car(replace(CAR, uncertainty=doubt))
    power = max(n * np.pi / 30.0 * t for n, t in zip(CAR.engine.rpm, CAR.engine.torque, strict=True)) / 1e3
    assert line.startswith(f"{CAR.body.mass:.0f} kg, {power:.0f} kW, ")
    assert 1.3 < float(line.split(", ")[2].split(" g")[0]) < 2.5  # a GT3's slicks at 72 km/h
    assert said in line
    text = write_car_report(tmp_path / "a.html", make_table(50), learned(), replace(CAR, uncertainty=doubt), [])
    page = text.read_text("utf-8")
    assert page.index(line.replace("'", "&#x27;")) < page.index("<table>")
